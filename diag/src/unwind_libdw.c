/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_libdw.c - unwinds and names frames by libdw. */
#include "unwind.h"

#include "base/masked_thread.h"
#include "callers.h"
#include "last_words.h"
#include "sennit/stacks.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHY       256
#define NO_MEMORY "there is no memory to read them"

/* Bytes of stack for the table of lines. The number is a guess; a thread has
 * eight times as much by default. */
#define LINE_STACK ((size_t)1 << 20)

/* The numbers of objects that the dynamic loader has loaded and unloaded. */
struct loads {
	unsigned long long added, removed;
};

/* The current walk; there is only one at a time. */
struct image_walk {
	const struct call_frame        *frame;
	const struct call_frame_memory *memory;
	const void                    **frames;
	uint32_t                        count, room;
};

static pthread_mutex_t   image_lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl             *image;    /* under the lock */
static struct loads      seen;     /* likewise: when the image was made */
static bool              tried;    /* likewise: whether one was made */
static char              why[WHY]; /* likewise: why it lacks files; "": it does
				  * not */
static struct image_walk current_walk; /* ... */
static struct callers    callers;      /* likewise: of the loaded files */

/* --- what libdw needs --------------------------------------------------- */

/* If an allocation fails in the middle of a call, libdw 0.188 crashes, or one
 * of its assertions ends the program. So libdw is called only while this much
 * memory is available. The number is a guess: a larger program may need more,
 * and another thread may use the memory meanwhile. */
#define NEEDED ((size_t)16 << 20)

static bool has_memory(void)
{
	void *there = mmap(NULL, NEEDED, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return there != MAP_FAILED && !munmap(there, NEEDED);
}

/* --- callbacks of libdw ------------------------------------------------- */

/* libdw sees one thread, which is the one that is walked. */
static pid_t next_thread(Dwfl *d, void *context, void **thread)
{
	if (*thread)
		return 0;
	*thread = context;
	return dwfl_pid(d);
}

static bool read_memory(Dwfl *d, Dwarf_Addr address, Dwarf_Word *value,
			void *context)
{
	uintptr_t word;

	(void)d;
	(void)context;
	if (!sn_call_frame_load(current_walk.memory, (uintptr_t)address, &word))
		return false;
	*value = word;
	return true;
}

static bool set_registers(Dwfl_Thread *t, void *thread)
{
	const struct call_frame *f = current_walk.frame;

	(void)thread;
	for (unsigned n = 0; n < CALL_FRAME_REGISTERS; n++) {
		const Dwarf_Word word = f->registers[n];

		if (f->known >> n & 1 &&
		    !dwfl_thread_state_registers(t, (int)n, 1, &word))
			return false;
	}
	dwfl_thread_state_register_pc(t, f->pc);
	return true;
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Use only the mapped files. Do not search for others, which would depend on
 * environment variables and servers. */
static int find_no_debuginfo(Dwfl_Module *m, void **data, const char *name,
			     Dwarf_Addr base, const char *file,
			     const char *link, GElf_Word crc, char **found)
{
	(void)m;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

/* Return where the mark begins that Linux appends to the name of a mapped file
 * that was deleted, or NULL. */
static const char *deleted_mark(const char *name)
{
	const char *end = strstr(name, " (deleted)");

	return end && !end[10] ? end : NULL;
}

/* Report whether it is the program, which can be opened even if its file was
 * deleted. */
static bool is_program(const char *name)
{
	char    program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		return false;
	program[n] = '\0';
	return !strcmp(program, name);
}

static int open_program(char **found)
{
	*found = strdup("/proc/self/exe");
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* Open the file read-only. By default libdw maps files privately and writable.
 * A tracer increments the semaphore of a probe in the writable mapping of the
 * file with the lowest address, which could be libdw's. */
static int open_file(Dwfl_Module *m, void **data, const char *name,
		     Dwarf_Addr base, char **found, Elf **elf)
{
	int fd;

	if (deleted_mark(name) && is_program(name))
		fd = open_program(found);
	else
		fd = dwfl_linux_proc_find_elf(m, data, name, base, found, elf);
	if (fd < 0 || *elf)
		return fd;
	*elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	return fd;
}

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = open_file,
	.find_debuginfo = find_no_debuginfo,
};

/* --- the image ---------------------------------------------------------- */

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	struct loads *l = loads;

	(void)size;
	l->added = info->dlpi_adds;
	l->removed = info->dlpi_subs;
	return 1; /* all entries have the same numbers */
}

/* Open the file now; libdw would open it when it is first used. For a library
 * whose file was deleted, libdw only finds a part in memory, without most
 * names. */
static int open_elf(Dwfl_Module *m, void **data, const char *name,
		    Dwarf_Addr base, void *text)
{
	GElf_Addr   bias;
	const char *file = strrchr(name, '/');
	const char *end = deleted_mark(name);
	const bool  found = dwfl_module_getelf(m, &bias);

	(void)data;
	(void)base;
	if (!file || *(char *)text)
		return DWARF_CB_OK;
	if (end && !is_program(name))
		snprintf(text, WHY,
			 "%.*s: its file was removed or replaced, perhaps by "
			 "another build",
			 (int)(end - file - 1), file + 1);
	else if (!found)
		snprintf(text, WHY, "%s: %s", file + 1, dwfl_errmsg(-1));
	return DWARF_CB_OK;
}

static Dwfl *open_image(char text[WHY])
{
	Dwfl *d = dwfl_begin(&file_callbacks);

	text[0] = '\0';
	if (d && !dwfl_linux_proc_report(d, getpid()) &&
	    !dwfl_report_end(d, NULL, NULL) &&
	    dwfl_attach_state(d, NULL, getpid(), &threads, &current_walk)) {
		dwfl_getmodules(d, open_elf, text, 0);
		return d;
	}
	snprintf(text, WHY, "/proc/self: %s", strerror(errno));
	dwfl_end(d);
	return NULL;
}

/* Update the image. Keep an older complete image rather than a new one that
 * lacks files. Lock held. */
static void update(bool again)
{
	struct loads now = { 0, 0 };
	char         text[WHY];
	Dwfl        *d;

	dl_iterate_phdr(count_loads, &now);
	if (tried && now.added == seen.added && now.removed == seen.removed &&
	    !(again && why[0]))
		return;
	memset(&callers, 0, sizeof(callers));
	if (!has_memory()) {
		strcpy(why, NO_MEMORY);
		return;
	}
	d = open_image(text);
	if (d && (!image || why[0] || !text[0])) {
		dwfl_end(image);
		image = d;
	} else {
		dwfl_end(d);
	}
	strcpy(why, text);
	seen = now;
	tried = true;
}

/* Take the lock and update the image. */
static void lock_image(void)
{
	pthread_mutex_lock(&image_lock);
	update(false);
}

/* Return the image, or NULL if libdw cannot be called. Lock held. */
static Dwfl *usable(void)
{
	return image && has_memory() ? image : NULL;
}

/* Return the module that contains the address. */
static Dwfl_Module *module_of(uintptr_t address)
{
	Dwfl *d = usable();

	return d ? dwfl_addrmodule(d, address) : NULL;
}

static void unlock_image(void)
{
	pthread_mutex_unlock(&image_lock);
}

/* --- frames ------------------------------------------------------------- */

static int add_image_frame(Dwfl_Frame *frame, void *unused)
{
	Dwarf_Addr pc;

	(void)unused;
	if (!dwfl_frame_pc(frame, &pc, NULL) || !pc)
		return DWARF_CB_ABORT;
	if (current_walk.count == current_walk.room)
		return DWARF_CB_ABORT;
	current_walk.frames[current_walk.count++] = (const void *)(uintptr_t)pc;
	return DWARF_CB_OK;
}

/* Walk with libdw, which allocates, and knows all registers of all frames. */
static bool walk_by_all_registers(void)
{
	Dwfl *d = usable();

	return d &&
	       !dwfl_getthread_frames(d, dwfl_pid(d), add_image_frame, NULL);
}

/* Try callers.h first: it reaches the outermost frame of nearly all stacks,
 * faster and without memory. A walk that ends with an error has still found
 * frames, so if both fail, use the longer one. */
uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole)
{
	const void       *others[SENNIT_STACK_FRAMES];
	struct call_frame at = *f;
	uint32_t          count;

	if (sn_last_words_are_spoken())
		return sn_last_words_walk(f, m, frames, room, whole);
	lock_image();
	count = sn_callers_walk(&callers, &at, m, (uintptr_t *)(void *)frames,
				room, whole);
	current_walk = (struct image_walk){
		.frame = f,
		.memory = m,
		.frames = others,
		.room = room < SENNIT_STACK_FRAMES ? room : SENNIT_STACK_FRAMES,
	};
	if (!*whole) {
		*whole = walk_by_all_registers();
		if (*whole || current_walk.count > count) {
			count = current_walk.count;
			memcpy(frames, others, count * sizeof(*frames));
		}
	}
	unlock_image();
	if (!count) {
		*whole = false;
		frames[count++] = (const void *)f->pc;
	}
	return count;
}

/* --- names -------------------------------------------------------------- */

bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset)
{
	Dwfl_Module *m;
	GElf_Off     at;
	GElf_Sym     symbol;
	const char  *found = NULL;

	lock_image();
	m = module_of(address);
	if (m)
		found = dwfl_module_addrinfo(m, address, &at, &symbol, NULL,
					     NULL, NULL);
	if (found) {
		snprintf(name, size, "%s", found);
		*offset = (uintptr_t)at;
	}
	unlock_image();
	return found;
}

/* Search the units one after the other. clang writes no table of addresses
 * (.debug_aranges), without which libdw does not find the unit. */
static const char *line_in_units(Dwfl_Module *m, Dwarf_Addr address, int *line)
{
	Dwarf_Addr  bias = 0;
	Dwarf_Die  *unit = NULL;
	Dwarf_Line *at;

	while ((unit = dwfl_module_nextcu(m, unit, &bias)))
		if (dwarf_haspc(unit, address - bias) == 1)
			break;
	at = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	if (!at || dwarf_lineno(at, line))
		return NULL;
	return dwarf_linesrc(at, NULL, NULL);
}

static const char *line_of(Dwfl_Module *m, Dwarf_Addr address, int *line)
{
	Dwfl_Line *at = dwfl_module_getsrc(m, address);

	return at ? dwfl_lineinfo(at, NULL, line, NULL, NULL, NULL)
		  : line_in_units(m, address, line);
}

/* A line to find. The image lock is held, and the module has been found. */
struct line_search {
	Dwfl_Module *module;
	uintptr_t    address;
	const char  *name; /* out: of the file; NULL: not found */
	int          line; /* out */
};

static void *search_line(void *search)
{
	struct line_search *s = search;

	s->name = line_of(s->module, s->address, &s->line);
	return NULL;
}

/* libdw decodes a table of lines with more than 64 KiB of stack, the default
 * size of a fiber's. So a thread does it; a line is not known if none can be
 * started. Handlers of signals do not run there. */
static void search_line_on_thread(struct line_search *s)
{
	pthread_attr_t attr;
	pthread_t      thread;
	int            err;

	if (pthread_attr_init(&attr))
		return;
	(void)pthread_attr_setstacksize(&attr, LINE_STACK);
	err = sn_masked_thread_start(&thread, &attr, search_line, s);
	pthread_attr_destroy(&attr);
	if (!err)
		pthread_join(thread, NULL);
}

uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size)
{
	struct line_search s = { .address = address };

	if (sn_last_words_are_spoken())
		return 0;
	lock_image();
	s.module = module_of(address);
	if (s.module)
		search_line_on_thread(&s);
	if (s.name)
		snprintf(file, size, "%s", s.name);
	unlock_image();
	return s.name && s.line > 0 ? (uint32_t)s.line : 0;
}

void sn_program_image_open(char *text, size_t size)
{
	if (sn_last_words_are_spoken()) {
		if (text)
			text[0] = '\0';
		return;
	}
	pthread_mutex_lock(&image_lock);
	update(true);
	if (text)
		snprintf(text, size, "%s", has_memory() ? why : NO_MEMORY);
	pthread_mutex_unlock(&image_lock);
}
