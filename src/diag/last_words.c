/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/last_words.h"

#include "base/atomic.h"
#include "diag/callers.h"
#include "diag/fibers.h"
#include "diag/stacks.h"
#include "sennit/dump.h"
#include "sennit/symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of addresses. Pages that are never touched cost nothing. */
#define MEMORY ((size_t)64 << 20)

/* What the first thread that dies has left behind. */
static struct {
	a_u32    thread; /* any: the one that dies; 0: none */
	a_u32    told;   /* any: 1: all is said, or as much as can be */
	int      signal;
	uint32_t limit; /* milliseconds */
	int      fd;
	pid_t    process;
	sem_t    wake;
} end;

/* The thread that speaks. */
static struct {
	a_u32       thread; /* its number; 0: there is none */
	sigjmp_buf *back;   /* where a fault of its own leads */
	char       *memory;
	size_t      used;
} speaker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who ask */

static uint32_t thread_here(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

bool sn_last_words_are_spoken(void)
{
	/* relaxed: a thread sees its own number */
	return a_load_rlx(&end.thread) &&
	       a_load_rlx(&speaker.thread) == thread_here();
}

/* --- faults ------------------------------------------------------------- */

/* A fault of the speaker's own ends what it does. */
static void fault(void)
{
	if (sn_last_words_are_spoken() && speaker.back)
		siglongjmp(*speaker.back, 1);
}

/* Call run(context). Returns false if that faults: memory is damaged, or a file
 * that is mapped has become shorter. */
static bool try(void (*run)(void *context), void *context)
{
	sigjmp_buf *const before = speaker.back;
	sigjmp_buf        here;
	volatile bool     done = false;

	speaker.back = &here;
	if (!sigsetjmp(here, 1)) {
		run(context);
		done = true;
	}
	speaker.back = before;
	return done;
}

/* --- memory ------------------------------------------------------------- */

/* Each piece has its size before it. */
#define HEAD 16u

static void *take(size_t size)
{
	const size_t whole = HEAD + ((size + HEAD - 1) & ~(size_t)(HEAD - 1));
	char        *at = speaker.memory + speaker.used;

	if (size > MEMORY || whole > MEMORY - speaker.used)
		return NULL;
	speaker.used += whole;
	memcpy(at, &size, sizeof(size));
	return at + HEAD;
}

static void *map(size_t size)
{
	char *p = mmap(NULL, HEAD + size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, &size, sizeof(size));
	return p + HEAD;
}

static size_t size_of(const void *memory)
{
	size_t size = 0;

	if (memory)
		memcpy(&size, (const char *)memory - HEAD, sizeof(size));
	return size;
}

void *sn_last_words_resize(void *memory, size_t size)
{
	const size_t before = size_of(memory);
	void        *more = sn_last_words_are_spoken() ? take(size) : map(size);

	if (more && memory) {
		memcpy(more, memory, before < size ? before : size);
		sn_last_words_free(memory);
	}
	return more;
}

void sn_last_words_free(void *memory)
{
	if (memory && !sn_last_words_are_spoken())
		munmap((char *)memory - HEAD, HEAD + size_of(memory));
}

/* --- frames ------------------------------------------------------------- */

struct walk {
	const struct call_frame        *from;
	const struct call_frame_memory *memory;
	const void                    **frames;
	uint32_t                        room, count;
	bool                           *whole;
};

static void walk(void *context)
{
	static struct callers callers; /* there is one speaker */
	struct walk          *w = context;
	struct call_frame     at = *w->from;

	w->count = sn_callers_walk(&callers, &at, w->memory,
				   (uintptr_t *)(void *)w->frames, w->room,
				   w->whole);
}

uint32_t sn_last_words_walk(const struct call_frame        *f,
			    const struct call_frame_memory *m,
			    const void **frames, uint32_t room, bool *whole)
{
	struct walk w = { f, m, frames, room, 0, whole };

	if (try(walk, &w))
		return w.count;
	*whole = false;
	frames[0] = (const void *)f->pc;
	return 1;
}

/* --- names -------------------------------------------------------------- */

#define FILES 256u
#define NAMED 512u

/* A file of the program, where it is loaded, and its symbols. */
struct file {
	uintptr_t bias, low, high;
	char      path[256];
	const ElfW(Sym) * symbols; /* in the mapped file */
	size_t      count;
	const char *strings;
	size_t      strings_size;
};

static struct file files[FILES];
static size_t      files_count;

/* Names that were found. */
static struct named {
	uintptr_t   address;
	const char *name;
	uintptr_t   offset;
} named[NAMED];

static bool lies_in(size_t offset, size_t size, size_t whole)
{
	return offset <= whole && size <= whole - offset;
}

/* Use the symbols of that section, unless the file is not whole. */
static void use_symbols(struct file *f, const char *bytes, size_t size,
			const ElfW(Shdr) * sections, size_t i, size_t count)
{
	const ElfW(Shdr) *s = &sections[i];
	const ElfW(Shdr) * strings;

	if (s->sh_link >= count)
		return;
	strings = &sections[s->sh_link];
	if (!lies_in(s->sh_offset, s->sh_size, size) || !strings->sh_size ||
	    s->sh_offset % _Alignof(ElfW(Sym)) ||
	    !lies_in(strings->sh_offset, strings->sh_size, size) ||
	    bytes[strings->sh_offset + strings->sh_size - 1])
		return;
	f->symbols = (const void *)(bytes + s->sh_offset);
	f->count = s->sh_size / sizeof(ElfW(Sym));
	f->strings = bytes + strings->sh_offset;
	f->strings_size = strings->sh_size;
}

/* The table of all symbols, or else of those that the loader uses. */
static void read_symbols(struct file *f, const char *bytes, size_t size)
{
	const ElfW(Ehdr) *e = (const void *)bytes;
	const ElfW(Shdr) * sections;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_shentsize != sizeof(*sections) ||
	    e->e_shoff % _Alignof(ElfW(Shdr)) ||
	    !lies_in(e->e_shoff, e->e_shnum * sizeof(*sections), size))
		return;
	sections = (const void *)(bytes + e->e_shoff);
	for (size_t i = 0; i < e->e_shnum && !f->symbols; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			use_symbols(f, bytes, size, sections, i, e->e_shnum);
	for (size_t i = 0; i < e->e_shnum && !f->symbols; i++)
		if (sections[i].sh_type == SHT_DYNSYM)
			use_symbols(f, bytes, size, sections, i, e->e_shnum);
}

/* The mapping stays. It is not writable: see unwind_libdw.c. */
static void map_file(struct file *f, const char *path)
{
	struct stat s;
	const char *bytes = MAP_FAILED;
	const int   fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, &s) && s.st_size > 0)
		bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes != MAP_FAILED)
		read_symbols(f, bytes, (size_t)s.st_size);
}

static bool is_known(uintptr_t bias)
{
	for (size_t i = 0; i < files_count; i++)
		if (files[i].bias == bias)
			return true;
	return false;
}

static int add_file(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct file *f = &files[files_count];
	uintptr_t    end_at;

	(void)size;
	(void)unused;
	if (files_count == FILES || is_known(info->dlpi_addr))
		return 0;
	*f = (struct file){ .bias = info->dlpi_addr, .low = UINTPTR_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		end_at = f->bias + p->p_vaddr + p->p_memsz;
		if (f->bias + p->p_vaddr < f->low)
			f->low = f->bias + p->p_vaddr;
		if (end_at > f->high)
			f->high = end_at;
	}
	if (info->dlpi_name[0])
		snprintf(f->path, sizeof(f->path), "%s", info->dlpi_name);
	else if (readlink("/proc/self/exe", f->path, sizeof(f->path) - 1) < 0)
		strcpy(f->path, "program");
	map_file(f, info->dlpi_name[0] ? f->path : "/proc/self/exe");
	files_count++;
	return 0;
}

static const struct file *file_of(uintptr_t address)
{
	for (size_t i = 0; i < files_count; i++)
		if (address - files[i].low < files[i].high - files[i].low)
			return &files[i];
	return NULL;
}

static bool covers(const ElfW(Sym) * s, uintptr_t at)
{
	return (s->st_info & 15) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
	       at - s->st_value < (s->st_size ? s->st_size : 1);
}

static void look_up(void *context)
{
	struct named      *n = context;
	const struct file *f = file_of(n->address);
	const uintptr_t    at = f ? n->address - f->bias : 0;

	for (size_t i = 0; f && i < f->count; i++) {
		const ElfW(Sym) *s = &f->symbols[i];

		if (!covers(s, at) || s->st_name >= f->strings_size)
			continue;
		n->offset = at - s->st_value;
		n->name = f->strings + s->st_name;
		(void)*(const volatile char *)n->name; /* or a fault */
		return;
	}
}

const char *sn_last_words_name(uintptr_t address, uintptr_t *offset)
{
	struct named *n = &named[address % NAMED];

	if (n->address != address) {
		*n = (struct named){ .address = address };
		if (!try(look_up, n))
			n->name = NULL;
	}
	*offset = n->offset;
	return n->name;
}

const char *sn_last_words_file(uintptr_t address, uintptr_t *offset)
{
	const struct file *f = file_of(address);
	const char        *slash = f ? strrchr(f->path, '/') : NULL;

	if (!f)
		return NULL;
	*offset = address - f->bias;
	return slash ? slash + 1 : f->path;
}

/* --- what is said ------------------------------------------------------- */

static const struct {
	int         number;
	const char *name;
} signals[] = {
	{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGABRT, "SIGABRT" },
	{ SIGILL, "SIGILL" },   { SIGFPE, "SIGFPE" }, { SIGTRAP, "SIGTRAP" },
	{ SIGSYS, "SIGSYS" },
};

static const char *name_of(int number)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i].number == number)
			return signals[i].name;
	return "a signal";
}

/* The stack of the thread that dies: it may be bound to no scheduler. */
static void say_where(struct stacks_page *p)
{
	const uint32_t       thread = a_load_rlx(&end.thread);
	struct thread_sample s;
	const void          *frames[SENNIT_STACK_FRAMES];
	uint32_t             count = 0;
	char                 symbol[256];
	bool                 whole;

	sn_stacks_page_add(p, "sennit: %s ends the process, in thread %u:\n",
			   name_of(end.signal), thread);
	if (sn_thread_sample_take(&s, thread, false))
		count = sn_last_words_walk(&s.frame, &s.memory, frames,
					   SENNIT_STACK_FRAMES, &whole);
	for (uint32_t i = 0; i < count; i++) {
		sennit_symbol_print((const char *)frames[i] - (i > 0), symbol,
				    sizeof(symbol));
		sn_stacks_page_add(p, "  #%-2u %#018" PRIxPTR " %s\n", i,
				   (uintptr_t)frames[i], symbol);
	}
	sn_stacks_page_add(p, "all fibers:\n\n");
	sn_stacks_page_end(p);
}

static void say_all(void *unused)
{
	struct stacks_page p = { .fd = end.fd };

	(void)unused;
	say_where(&p);
	(void)sennit_stacks_print(NULL, end.fd, SENNIT_STACKS_TEXT);
}

static void speak(void)
{
	static const char no_more[] = "sennit: no more stacks: what would be "
				      "printed is damaged\n";

	if (!try(say_all, NULL))
		(void)!write(end.fd, no_more, sizeof(no_more) - 1);
}

static void *wait_for_the_end(void *unused)
{
	sigset_t faults;

	(void)unused;
	pthread_setname_np(pthread_self(), "sn-dump/fatal");
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
	a_store_rlx(&speaker.thread, thread_here());
	while (sem_wait(&end.wake))
		; /* EINTR */
	speak();
	a_store_rel(&end.told, 1); /* -> last_words.told: nothing more */
	for (;;)
		pause();
	return NULL;
}

/* --- the thread that dies ----------------------------------------------- */

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void await_end(void)
{
	const uint64_t last = sn_clock_ms() + end.limit;

	while (!a_load_acq(&end.told) && /* <- last_words.told */
	       sn_clock_ms() < last)
		pause_briefly();
}

/* The first thread that dies lets the speaker speak. Another one that dies
 * meanwhile waits for the same end. Async-signal-safe. */
static void last_words(int number, const void *context)
{
	const int error = errno;
	uint32_t  none = 0;

	if (end.process != getpid()) /* a child of a fork has no speaker */
		return;
	if (a_cas_rlx(&end.thread, &none, thread_here())) {
		end.signal = number;
		sn_thread_sample_keep(thread_here(), context);
		sem_post(&end.wake);
	}
	await_end();
	errno = error;
}

static const struct sennit_debug_death death = {
	.fault = fault,
	.last_words = last_words,
};

/* --- starting ----------------------------------------------------------- */

static char *map_memory(void)
{
	void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Lock held. */
static int start_speaker(void)
{
	pthread_t thread;
	sigset_t  all, before;
	int       err;

	if (!speaker.memory)
		speaker.memory = map_memory();
	if (!speaker.memory)
		return -ENOMEM;
	a_store_rlx(&speaker.thread, 0); /* in a child: the parent's */
	sem_init(&end.wake, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, wait_for_the_end, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_detach(thread);
	while (!a_load_rlx(&speaker.thread))
		pause_briefly();
	end.process = getpid();
	return 0;
}

/* Lock held. */
static int start(int fd, uint32_t limit)
{
	int err = 0;

	if (!sn_own_memory_is_readable())
		return -EPERM;
	if (end.process != getpid())
		err = start_speaker();
	if (err)
		return err;
	(void)sn_thread_sample_is_possible(); /* its handler is there */
	dl_iterate_phdr(add_file, NULL);
	end.fd = fd;
	end.limit = limit;
	return sennit_debug_calls.at_death(&death);
}

int sennit_dump_fatal(int fd, uint32_t limit_ms)
{
	int err;

	pthread_mutex_lock(&lock);
	err = start(fd, limit_ms);
	pthread_mutex_unlock(&lock);
	return err;
}
