/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/unwind.h"

#include "diag/callers.h"
#include "diag/last_words.h"
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

/* What the dynamic loader has loaded and unloaded so far. */
struct loads {
	unsigned long long added, removed;
};

/* One walk at a time. */
struct walk {
	const struct call_frame        *frame;
	const struct call_frame_memory *memory;
	const void                    **frames;
	uint32_t                        count, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl           *image;    /* under the lock */
static struct loads    seen;     /* ...: when the image was made */
static bool            tried;    /* ...: whether it was */
static char            why[WHY]; /* ...: it lacks files; "": it does not */
static struct walk     walk;     /* ... */
static struct callers  callers;  /* ...: of the files that are loaded */

/* --- what libdw needs --------------------------------------------------- */

/* Where libdw 0.188 gets no memory in the middle of a call, it crashes, or an
 * assertion of its own ends the program. So it is asked only while there is as
 * much as this, which is a guess: a larger program may need more, and another
 * thread may take it meanwhile. */
#define NEEDED ((size_t)16 << 20)

static bool has_memory(void)
{
	void *there = mmap(NULL, NEEDED, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return there != MAP_FAILED && !munmap(there, NEEDED);
}

/* --- what libdw asks ---------------------------------------------------- */

/* There is one thread: what is walked. */
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
	(void)d;
	(void)context;
	return sn_call_frame_load(walk.memory, address, value);
}

static bool set_registers(Dwfl_Thread *t, void *thread)
{
	const struct call_frame *f = walk.frame;

	(void)thread;
	for (unsigned n = 0; n < CALL_FRAME_REGISTERS; n++)
		if (f->known >> n & 1 &&
		    !dwfl_thread_state_registers(t, (int)n, 1,
						 &f->registers[n]))
			return false;
	dwfl_thread_state_register_pc(t, f->pc);
	return true;
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Only the files that are mapped: no search for others, in which environment
 * variables and servers would take part. */
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

/* What Linux writes behind the name of a mapped file that has none any more. */
static const char *gone(const char *name)
{
	const char *end = strstr(name, " (deleted)");

	return end && !end[10] ? end : NULL;
}

/* The program itself can still be opened then. */
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

/* Left alone, libdw maps files privately and writable. A tracer adds to the
 * semaphore of a probe in whichever such mapping of its file has the lowest
 * address, which would be that one. So files are mapped to be read only. */
static int open_file(Dwfl_Module *m, void **data, const char *name,
		     Dwarf_Addr base, char **found, Elf **elf)
{
	int fd;

	if (gone(name) && is_program(name))
		fd = open_program(found);
	else
		fd = dwfl_linux_proc_find_elf(m, data, name, base, found, elf);
	if (fd < 0 || *elf)
		return fd;
	*elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	return fd;
}

static const Dwfl_Callbacks files = {
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
	return 1; /* all entries say the same */
}

/* Libdw opens a file when it is first asked for something in it. Of a library
 * that has lost its file it finds a part in memory, without most names. */
static int open_elf(Dwfl_Module *m, void **data, const char *name,
		    Dwarf_Addr base, void *text)
{
	GElf_Addr   bias;
	const char *file = strrchr(name, '/');
	const char *end = gone(name);
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
	Dwfl *d = dwfl_begin(&files);

	text[0] = '\0';
	if (d && !dwfl_linux_proc_report(d, getpid()) &&
	    !dwfl_report_end(d, NULL, NULL) &&
	    dwfl_attach_state(d, NULL, getpid(), &threads, &walk)) {
		dwfl_getmodules(d, open_elf, text, 0);
		return d;
	}
	snprintf(text, WHY, "/proc/self: %s", strerror(errno));
	dwfl_end(d);
	return NULL;
}

/* Bring the image up to date. An older one of which nothing is missing is
 * better than a new one that lacks files. Lock held. */
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

/* Take the lock, and bring the image up to date. */
static void begin(void)
{
	pthread_mutex_lock(&lock);
	update(false);
}

/* The image, if libdw can be asked. Lock held. */
static Dwfl *usable(void)
{
	return image && has_memory() ? image : NULL;
}

/* Its part around the address. */
static Dwfl_Module *module_of(uintptr_t address)
{
	Dwfl *d = usable();

	return d ? dwfl_addrmodule(d, address) : NULL;
}

static void end(void)
{
	pthread_mutex_unlock(&lock);
}

/* --- frames ------------------------------------------------------------- */

static int add_frame(Dwfl_Frame *frame, void *unused)
{
	Dwarf_Addr pc;

	(void)unused;
	if (!dwfl_frame_pc(frame, &pc, NULL) || !pc)
		return DWARF_CB_ABORT;
	if (walk.count == walk.room)
		return DWARF_CB_ABORT;
	walk.frames[walk.count++] = (const void *)(uintptr_t)pc;
	return DWARF_CB_OK;
}

/* By libdw, which allocates, and knows all registers of all frames. */
static bool walk_by_all_registers(void)
{
	Dwfl *d = usable();

	return d && !dwfl_getthread_frames(d, dwfl_pid(d), add_frame, NULL);
}

/* Callers.h finds the outermost frame of nearly all stacks, sooner and without
 * memory. A walk that ends with an error has found the frames before it; of two
 * such the longer one is taken. */
uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole)
{
	const void       *others[SENNIT_STACK_FRAMES];
	struct call_frame at = *f;
	uint32_t          count;

	if (sn_last_words_are_spoken())
		return sn_last_words_walk(f, m, frames, room, whole);
	begin();
	count = sn_callers_walk(&callers, &at, m, (uintptr_t *)(void *)frames,
				room, whole);
	walk = (struct walk){
		.frame = f,
		.memory = m,
		.frames = others,
		.room = room < SENNIT_STACK_FRAMES ? room : SENNIT_STACK_FRAMES,
	};
	if (!*whole) {
		*whole = walk_by_all_registers();
		if (*whole || walk.count > count) {
			count = walk.count;
			memcpy(frames, others, count * sizeof(*frames));
		}
	}
	end();
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

	begin();
	m = module_of(address);
	if (m)
		found = dwfl_module_addrinfo(m, address, &at, &symbol, NULL,
					     NULL, NULL);
	if (found) {
		snprintf(name, size, "%s", found);
		*offset = at;
	}
	end();
	return found;
}

/* In the units one after the other: clang writes no table of addresses
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

uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size)
{
	Dwfl_Module *m;
	const char  *name = NULL;
	int          line = 0;

	if (sn_last_words_are_spoken())
		return 0;
	begin();
	m = module_of(address);
	if (m)
		name = line_of(m, address, &line);
	if (name)
		snprintf(file, size, "%s", name);
	end();
	return name && line > 0 ? (uint32_t)line : 0;
}

void sn_program_image_open(char *text, size_t size)
{
	if (sn_last_words_are_spoken()) {
		if (text)
			text[0] = '\0';
		return;
	}
	pthread_mutex_lock(&lock);
	update(true);
	if (text)
		snprintf(text, size, "%s", has_memory() ? why : NO_MEMORY);
	pthread_mutex_unlock(&lock);
}
