/* SPDX-License-Identifier: Apache-2.0 */
#include "last_words.h"

#include "base/atomic.h"
#include "base/masked_thread.h"
#include "base/own_file.h"
#include "callers.h"
#include "fibers.h"
#include "loaded_files.h"
#include "stacks.h"
#include "sennit/dump.h"
#include "sennit/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The size of the address range. Pages that are not touched cost nothing. */
#define MEMORY ((size_t)64 << 20)

/* The state of the first thread that crashes. */
static struct {
	a_u32           thread;  /* any: its TID; 0: none has crashed */
	a_u32           written; /* any: 1: the dump is written, as far as
				 * possible */
	a_u64           last;    /* any: when the limit ends, in milliseconds;
				  * 0: not yet known */
	int             signal;
	uint32_t        limit; /* milliseconds */
	int             fd;
	pid_t           process;
	sem_t           wake;
	struct own_file own; /* fd, if this library has opened it */
} crash;

/* The thread that writes the dump. */
static struct {
	a_u32       thread; /* its TID; 0: there is none */
	sigjmp_buf *back;   /* where a fault of this thread jumps to */
	char       *memory;
	size_t      used;
} dumper;

/* Held by callers that start a dump. */
static pthread_mutex_t last_words_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t thread_here(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

bool sn_last_words_are_spoken(void)
{
	/* relaxed: a thread sees its own number */
	return a_load_rlx(&crash.thread) &&
	       a_load_rlx(&dumper.thread) == thread_here();
}

/* --- faults ------------------------------------------------------------- */

/* A fault of the dump thread itself aborts the step in which it happens. */
static void handle_fault(void)
{
	if (sn_last_words_are_spoken() && dumper.back)
		siglongjmp(*dumper.back, 1);
}

/* Call run(context). Returns false if that faults, because memory is damaged or
 * a mapped file has been truncated. */
static bool run_or_fault(void (*run)(void *context), void *context)
{
	sigjmp_buf *const before = dumper.back;
	sigjmp_buf        here;
	volatile bool     done = false;

	dumper.back = &here;
	if (!sigsetjmp(here, 1)) {
		run(context);
		done = true;
	}
	dumper.back = before;
	return done;
}

/* --- memory ------------------------------------------------------------- */

/* Each block is preceded by its size. */
#define HEAD 16u

static void *take_dump_memory(size_t size)
{
	const size_t whole = HEAD + ((size + HEAD - 1) & ~(size_t)(HEAD - 1));
	char        *at = dumper.memory + dumper.used;

	if (size > MEMORY || whole > MEMORY - dumper.used)
		return NULL;
	dumper.used += whole;
	memcpy(at, &size, sizeof(size));
	return at + HEAD;
}

static void *map_dump_memory(size_t size)
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
	void        *more = sn_last_words_are_spoken() ? take_dump_memory(size)
						       : map_dump_memory(size);

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

struct dump_walk {
	const struct call_frame        *from;
	const struct call_frame_memory *memory;
	const void                    **frames;
	uint32_t                        room, count;
	bool                           *whole;
};

static void walk_callers(void *context)
{
	static struct callers callers; /* there is one dump thread */
	struct dump_walk     *w = context;
	struct call_frame     at = *w->from;

	w->count = sn_callers_walk(&callers, &at, w->memory,
				   (uintptr_t *)(void *)w->frames, w->room,
				   w->whole);
}

uint32_t sn_last_words_walk(const struct call_frame        *f,
			    const struct call_frame_memory *m,
			    const void **frames, uint32_t room, bool *whole)
{
	struct dump_walk w = { f, m, frames, room, 0, whole };

	if (run_or_fault(walk_callers, &w))
		return w.count;
	*whole = false;
	frames[0] = (const void *)f->pc;
	return 1;
}

/* --- names -------------------------------------------------------------- */

#define NAMED 512u

/* A cache of names. */
static struct named {
	uintptr_t   address;
	const char *name;
	uintptr_t   offset;
} named[NAMED];

static void look_up_name(void *context)
{
	struct named *n = context;

	n->name = sn_loaded_files_function(n->address, &n->offset);
	if (n->name) /* faults if the file was truncated */
		(void)*(const volatile char *)n->name;
}

const char *sn_last_words_name(uintptr_t address, uintptr_t *offset)
{
	struct named *n = &named[address % NAMED];

	if (n->address != address) {
		*n = (struct named){ .address = address };
		if (!run_or_fault(look_up_name, n))
			n->name = NULL;
	}
	*offset = n->offset;
	return n->name;
}

/* --- output ------------------------------------------------------------- */

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

/* Print the stack of the thread that crashes. It may be bound to no
 * scheduler. */
static void print_crash_stack(struct stacks_page *p)
{
	const uint32_t       thread = a_load_rlx(&crash.thread);
	struct thread_sample s;
	const void          *frames[SENNIT_STACK_FRAMES];
	uint32_t             count = 0;
	char                 symbol[256];
	bool                 whole;

	sn_stacks_page_add(p, "sennit: %s ends the process, in thread %u:\n",
			   name_of(crash.signal), thread);
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

static void print_crash(void *unused)
{
	struct stacks_page p = { .fd = crash.fd };

	(void)unused;
	print_crash_stack(&p);
	(void)sennit_stacks_print(NULL, crash.fd, SENNIT_STACKS_TEXT);
}

static void write_crash_dump(void)
{
	static const char no_more[] = "sennit: no more stacks: the rest is "
				      "damaged\n";
	static const char closed[] = "sennit: no stacks: the program has "
				     "closed the file\n";

	if (crash.own.fd >= 0 && !sn_own_file_is_there(&crash.own))
		(void)!write(STDERR_FILENO, closed, sizeof(closed) - 1);
	else if (!run_or_fault(print_crash, NULL))
		(void)!write(crash.fd, no_more, sizeof(no_more) - 1);
}

static void *run_crash_thread(void *unused)
{
	sigset_t faults;

	(void)unused;
	pthread_setname_np(pthread_self(), "sn-dump/fatal");
	a_store_rlx(&dumper.thread, thread_here());
	while (sem_wait(&crash.wake))
		; /* EINTR */
	/* Not before: this thread would get what is sent to a process whose
	 * threads block it. */
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
	write_crash_dump();
	a_store_rel(&crash.written, 1); /* -> last_words.written: the dump */
	for (;;)
		pause();
	return NULL;
}

/* --- the thread that crashes -------------------------------------------- */

static void pause_dump(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void await_crash_dump(uint64_t last)
{
	while (!a_load_acq(&crash.written) && /* <- last_words.written */
	       sn_clock_ms() < last)
		pause_dump();
}

/* The thread that the dump names ends the process. If it does not, as when the
 * program's handler has returned, this thread goes on at the limit. */
static void await_end(uint64_t last)
{
	const uint64_t first = a_load_rlx(&crash.last); /* relaxed: no data */

	last = first ? first : last;
	while (sn_clock_ms() < last)
		pause_dump();
}

/* The first thread that crashes wakes the dump thread. Others that crash
 * meanwhile leave the end to it, so that the process ends by the signal that
 * the dump names. Async-signal-safe. */
static void handle_crash(int number, const void *context)
{
	const uint64_t last = sn_clock_ms() + crash.limit;
	const uint32_t here = thread_here();
	const int      error = errno;
	uint32_t       none = 0;

	if (crash.process !=
	    getpid()) /* a child of fork() has no dump thread */
		return;
	if (a_cas_rlx(&crash.thread, &none, here)) {
		a_store_rlx(&crash.last, last); /* relaxed: no data */
		crash.signal = number;
		sn_thread_sample_keep(here, context);
		sem_post(&crash.wake);
	}
	if (a_load_rlx(&crash.thread) == here) /* relaxed: its own number */
		await_crash_dump(last);
	else
		await_end(last);
	errno = error;
}

static const struct sennit_debug_death crash_calls = {
	.fault = handle_fault,
	.last_words = handle_crash,
};

/* --- starting ----------------------------------------------------------- */

static char *map_memory(void)
{
	void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Lock held. */
static int start_crash_thread(void)
{
	pthread_t thread;
	int       err;

	if (!dumper.memory)
		dumper.memory = map_memory();
	if (!dumper.memory)
		return -ENOMEM;
	a_store_rlx(&dumper.thread, 0); /* in a child it is the parent's */
	sem_init(&crash.wake, 0, 0);
	err = sn_masked_thread_start(&thread, NULL, run_crash_thread, NULL);
	if (err)
		return err;
	pthread_detach(thread);
	while (!a_load_rlx(&dumper.thread))
		pause_dump();
	crash.process = getpid();
	return 0;
}

/* Lock held. */
static int start_last_words(int fd, uint32_t limit, int own)
{
	int err = 0;

	if (!sn_own_memory_is_readable())
		return -EPERM;
	if (crash.process != getpid())
		err = start_crash_thread();
	if (err)
		return err;
	(void)sn_thread_sample_is_possible(); /* installs the signal handler */
	(void)sn_loaded_files_update();
	crash.fd = fd;
	crash.own = sn_own_file(own);
	crash.limit = limit;
	return sennit_debug_calls.at_death(&crash_calls);
}

static int start_last_words_locked(int fd, uint32_t limit_ms, int own)
{
	int err;

	pthread_mutex_lock(&last_words_lock);
	err = start_last_words(fd, limit_ms, own);
	pthread_mutex_unlock(&last_words_lock);
	return err;
}

int sennit_dump_fatal(int fd, uint32_t limit_ms)
{
	return start_last_words_locked(fd, limit_ms, -1);
}

int sn_last_words_into(int fd, uint32_t limit_ms)
{
	return start_last_words_locked(fd, limit_ms, fd);
}
