/* SPDX-License-Identifier: Apache-2.0 */
/* fatal.c - a process that a signal ends writes all its stacks first, if it was
 * asked to, and then ends by that signal: whatever the cause, and whatever it
 * lacks. Each case is a child.
 */
#include "../api/with_workers.h"
#include "../child.h"
#include "../dig.h"
#include "marks.h"

#include "sennit/dump.h"
#include "sennit/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>

enum { HANG = 120, WAITERS = 5, LIMIT_MS = 60000, NO_WORLD = 20, ALIVE };

static sennit_event go;
static atomic_bool  spins;
static sennit_mutex free_mutex;

/* --- what ends the process ---------------------------------------------- */

static NO_SANITIZE void read_nowhere(void)
{
	volatile char *nowhere = mmap(NULL, 4096, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)nowhere[8];
	NOT_LAST();
}

static NO_SANITIZE void read_past_a_file(void)
{
	const int      file = memfd_create("short", MFD_CLOEXEC);
	volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);

	(void)page[8];
	NOT_LAST();
}

static void call_abort(void)
{
	abort();
}

static void send_abort(void)
{
	kill(getpid(), SIGABRT);
	for (;;)
		pause();
}

static void overflow(void)
{
	(void)!dig(1);
}

static void unlock_what_is_free(void)
{
	sennit_mutex_unlock(&free_mutex);
	NOT_LAST();
}

#if defined(__x86_64__)
static void trap(void)
{
	__builtin_trap();
}
#endif

/* The loader's lock is held. */
static int read_in_a_file(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	read_nowhere();
	return 0;
}

static void read_inside_the_loader(void)
{
	dl_iterate_phdr(read_in_a_file, NULL);
	NOT_LAST();
}

/* malloc() finds what is damaged and aborts, with its lock held. */
static NO_SANITIZE void damage_the_heap(void)
{
	/* volatile: the compiler is not to know how large it is */
	volatile size_t *volatile block = malloc(24);
	void *volatile more;

	for (int i = 3; i < 9; i++)
		block[i] = ~(size_t)7;
	for (size_t size = 24; size < 100000; size *= 2)
		more = malloc(size);
	(void)more;
	free((void *)block);
	abort();
}

static void *die_of_it(void *die)
{
	(*(void (**)(void))die)();
	_exit(ALIVE);
}

/* Two threads at once. */
static void twice(void)
{
	static void (*which)(void) = read_nowhere;
	pthread_t thread;

	if (pthread_create(&thread, NULL, die_of_it, &which))
		_exit(NO_WORLD);
	read_nowhere();
}

/* --- what it lacks ------------------------------------------------------ */

static void lack_descriptors(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_NOFILE, &none);
}

static void lack_memory(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_AS, &none);
}

static void *print_for_ever(void *nowhere)
{
	for (;;)
		(void)!sennit_stacks_print(NULL, *(int *)nowhere,
					   SENNIT_STACKS_TEXT);
	return NULL;
}

static void dump_meanwhile(void)
{
	static int nowhere;
	pthread_t  thread;

	nowhere = open("/dev/null", O_WRONLY);
	if (pthread_create(&thread, NULL, print_for_ever, &nowhere))
		_exit(NO_WORLD);
}

static void lack_nothing(void)
{
}

/* --- the program's handler ---------------------------------------------- */

static struct sigaction before;
static char            *mended; /* a page that the handler makes readable */

static void speak(const char *words)
{
	(void)!write(STDERR_FILENO, words, strlen(words));
}

static void uninstall(int number)
{
	speak("mine\n");
	signal(number, SIG_DFL);
	raise(number);
}

static void just_return(int number)
{
	(void)number;
	speak("mine\n");
}

static void leave(int number)
{
	(void)number;
	_exit(7);
}

static void mend(int number)
{
	(void)number;
	mprotect(mended, 4096, PROT_READ);
}

static void hand_on(int number, siginfo_t *info, void *context)
{
	speak("mine\n");
	before.sa_sigaction(number, info, context);
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &act, NULL);
}

static void install_later(int number)
{
	struct sigaction act = { .sa_sigaction = hand_on,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaction(number, &act, &before);
}

/* --- a process that dies ------------------------------------------------ */

struct death {
	void (*die)(void);
	int  signal;
	bool on_thread; /* that is not bound; else in a fiber */
	void (*lack)(void);
	void (*handler)(int); /* NULL: none */
	int  flags;           /* of it */
	bool later;           /* another handler is installed afterwards */
};

static void wait_for_ever(void *unused)
{
	(void)unused;
	EXPECT(!sennit_event_wait(&go));
	NOT_LAST();
}

static void spin_for_ever(void *unused)
{
	(void)unused;
	atomic_store(&spins, true);
	while (atomic_load(&spins))
		;
}

static void die_in_a_fiber(void *die)
{
	die_of_it(die);
}

static void schedule(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	if (enqueue(s, run, argument))
		_exit(NO_WORLD);
}

/* cmocka has handlers of its own. */
static void begin_alone(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL,
				      SIGFPE,  SIGSYS, SIGABRT };

	alarm(HANG);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
}

static sennit_scheduler *begin_world(void)
{
	sennit_scheduler *s = NULL;

	sennit_event_init(&go, SENNIT_EVENT_MANUAL, false);
	sennit_mutex_init(&free_mutex);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)))
		_exit(NO_WORLD);
	for (int i = 0; i < WAITERS; i++)
		schedule(s, wait_for_ever, NULL);
	while (fibers_of(s) < WAITERS)
		sched_yield();
	schedule(s, spin_for_ever, NULL);
	while (!atomic_load(&spins))
		sched_yield();
	return s;
}

_Noreturn static void live(const struct death *d)
{
	static void (*die)(void);
	sennit_scheduler *s;
	pthread_t         thread;

	begin_alone();
	if (d->handler)
		install(d->signal, d->handler, d->flags);
	s = begin_world();
	if (sennit_dump_fatal(STDERR_FILENO, LIMIT_MS))
		_exit(NO_WORLD);
	if (d->later)
		install_later(d->signal);
	die = d->die;
	if (!d->on_thread)
		schedule(s, die_in_a_fiber, &die);
	else if (pthread_create(&thread, NULL, die_of_it, &die))
		_exit(NO_WORLD);
	for (;;)
		pause();
}

/* Threads are there before the limits, so that only the dump lacks things. */
static void (*lacked)(void);
static void (*then)(void);

static void lack_then_die(void)
{
	lacked();
	then();
	NOT_LAST();
}

static char text[1 << 20];

static int end_of(const struct death *d)
{
	struct death of = *d;
	int          words;
	pid_t        child;

	lacked = d->lack ? d->lack : lack_nothing;
	then = d->die;
	of.die = lack_then_die;
	child = begin_heard_child(&words);
	if (!child)
		live(&of);
	return await_words(child, words, text, sizeof(text));
}

static unsigned count(const char *words)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void assert_dumped(const struct death *d, const char *function)
{
	const int status = end_of(d);

	if (!WIFSIGNALED(status) || WTERMSIG(status) != d->signal)
		fail_msg("ended with %#x: %s", (unsigned)status, text);
	if (count(" ends the process, in thread ") != 1 ||
	    count("wait_for_ever: waits for event") != WAITERS ||
	    (function && !strstr(text, function)) ||
	    !strstr(text, "spin_for_ever"))
		fail_msg("not whole: %s", text);
}

/* --- tests -------------------------------------------------------------- */

static const struct {
	void (*die)(void);
	int         signal;
	const char *function; /* its name is in the stack */
} causes[] = {
	{ read_nowhere, SIGSEGV, "read_nowhere" },
	{ read_past_a_file, SIGBUS, "read_past_a_file" },
	{ call_abort, SIGABRT, "call_abort" },
	{ send_abort, SIGABRT, NULL },
	{ unlock_what_is_free, SIGABRT, "unlock_what_is_free" },
	{ read_inside_the_loader, SIGSEGV, "read_inside_the_loader" },
	{ twice, SIGSEGV, NULL },
#if defined(__x86_64__)
	{ trap, SIGILL, "trap" },
#endif
};

#define CAUSES (sizeof(causes) / sizeof(causes[0]))

/* Sanitizers end the process themselves, and put signals off. */
static void skip_where_signals_are_not_the_kernels(void)
{
#if defined(SN_ASAN) || defined(SN_TSAN) || !defined(__GLIBC__)
	skip();
#endif
	if (under_valgrind())
		skip();
}

TEST_ALONE(every_cause_in_a_fiber_and_on_a_thread)
{
	skip_where_signals_are_not_the_kernels();
	for (size_t i = 0; i < 2 * CAUSES; i++)
		assert_dumped(&(struct death){ .die = causes[i / 2].die,
					       .signal = causes[i / 2].signal,
					       .on_thread = i % 2 },
			      causes[i / 2].function);
}

TEST_ALONE(an_overflow_in_a_fiber)
{
	skip_where_signals_are_not_the_kernels();
	assert_dumped(&(struct death){ .die = overflow, .signal = SIGSEGV },
		      " dig");
	assert_int_equal(count("sennit: stack overflow in task "), 1);
}

TEST_ALONE(misuse_is_named_first)
{
	skip_where_signals_are_not_the_kernels();
	assert_dumped(&(struct death){ .die = unlock_what_is_free,
				       .signal = SIGABRT },
		      "sennit_mutex_unlock");
	assert_true(strstr(text, "sennit: ") < strstr(text, " ends the"));
}

/* Whoever has crashed holds a lock of malloc(). */
TEST_ALONE(a_damaged_heap)
{
	skip_where_signals_are_not_the_kernels();
	assert_dumped(
		&(struct death){ .die = damage_the_heap, .signal = SIGABRT },
		"damage_the_heap");
}

TEST_ALONE(without_descriptors_or_memory_and_beside_another_dump)
{
	static void (*const lacks[])(void) = { lack_descriptors, lack_memory,
					       dump_meanwhile };

	skip_where_signals_are_not_the_kernels();
	for (size_t i = 0; i < 6; i++)
		assert_dumped(&(struct death){ .die = read_nowhere,
					       .signal = SIGSEGV,
					       .on_thread = i % 2,
					       .lack = lacks[i / 2] },
			      "read_nowhere");
}

TEST_ALONE(the_handler_of_the_program_runs_first)
{
	static const struct {
		void (*die)(void);
		int signal;
		void (*handler)(int);
		int  flags;
		bool later;
	} all[] = {
		{ read_nowhere, SIGSEGV, uninstall, 0, false },
		{ read_nowhere, SIGSEGV, uninstall, SA_ONSTACK, false },
		{ read_nowhere, SIGSEGV, just_return, (int)SA_RESETHAND,
		  false },
		{ call_abort, SIGABRT, uninstall, 0, false },
		{ call_abort, SIGABRT, just_return, 0, false },
		{ read_nowhere, SIGSEGV, NULL, 0, true },
		{ call_abort, SIGABRT, NULL, 0, true },
		{ overflow, SIGSEGV, NULL, 0, true },
	};

	skip_where_signals_are_not_the_kernels();
	for (size_t i = 0; i < 2 * sizeof(all) / sizeof(all[0]); i++) {
		if (i % 2 && all[i / 2].die == overflow)
			continue; /* that thread has no other stack */
		assert_dumped(&(struct death){ .die = all[i / 2].die,
					       .signal = all[i / 2].signal,
					       .on_thread = i % 2,
					       .handler = all[i / 2].handler,
					       .flags = all[i / 2].flags,
					       .later = all[i / 2].later },
			      NULL);
		assert_int_equal(count("mine\n"), 1);
		assert_true(strstr(text, "mine\n") <
			    strstr(text, " ends the process"));
	}
}

static void read_mended(void)
{
	mended = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	(void)*(volatile char *)mended;
	_exit(8);
}

TEST_ALONE(nothing_is_written_if_the_handler_mends_or_leaves)
{
	int status;

	skip_where_signals_are_not_the_kernels();
	for (int i = 0; i < 4; i++) {
		status = end_of(&(struct death){
			.die = i / 2 ? read_nowhere : read_mended,
			.signal = SIGSEGV,
			.on_thread = i % 2,
			.handler = i / 2 ? leave : mend });
		assert_int_equal(status, (i / 2 ? 7 : 8) << 8);
		assert_int_equal(count(" ends the process"), 0);
	}
}

/* --- a library whose file is overwritten -------------------------------- */

#if defined(SENNIT_HAVE_LIBDW)
static void copy_file(const char *from, int to)
{
	char    bytes[4096];
	int     file = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while ((n = read(file, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			_exit(NO_WORLD);
	close(file);
}

/* Call a function whose code is gone, and with it what names and unwinds it: so
 * the thread that writes the stacks faults, too. */
static void call_what_is_gone(void)
{
	char  path[] = "/tmp/sennit-fatal-XXXXXX";
	int   file = mkstemp(path);
	void *known = dlopen("libelf.so.1", RTLD_NOW);
	void *copy;
	unsigned (*gone)(unsigned);
	Dl_info at;

	if (file < 0 || !known || !dladdr(dlsym(known, "elf_version"), &at))
		_exit(NO_WORLD);
	copy_file(at.dli_fname, file);
	copy = dlopen(path, RTLD_NOW);
	unlink(path);
	if (!copy || sennit_dump_fatal(STDERR_FILENO, LIMIT_MS))
		_exit(NO_WORLD);
	gone = (unsigned (*)(unsigned))(uintptr_t)dlsym(copy, "elf_version");
	if (ftruncate(file, 0))
		_exit(NO_WORLD);
	gone(1);
}

TEST_ALONE(the_thread_that_writes_survives_faults_of_its_own)
{
	skip_where_signals_are_not_the_kernels();
	for (int i = 0; i < 2; i++) {
		assert_dumped(&(struct death){ .die = call_what_is_gone,
					       .signal = SIGBUS,
					       .on_thread = i },
			      "#0 ");
		assert_int_equal(count("no more stacks"), 0);
	}
}
#endif

/* --- what is bounded ---------------------------------------------------- */

_Noreturn static void die_unread(void)
{
	int  full[2];
	char bytes[4096] = { 0 };

	begin_alone();
	begin_world();
	if (pipe(full) || fcntl(full[1], F_SETFL, O_NONBLOCK))
		_exit(NO_WORLD);
	while (write(full[1], bytes, sizeof(bytes)) > 0)
		;
	if (fcntl(full[1], F_SETFL, 0) || sennit_dump_fatal(full[1], 100))
		_exit(NO_WORLD);
	read_nowhere();
	_exit(ALIVE);
}

TEST_ALONE(nobody_reads_what_is_written)
{
	pid_t child;

	skip_where_signals_are_not_the_kernels();
	child = begin_child();
	if (!child)
		die_unread();
	assert_int_equal(await_child(child) & 127, SIGSEGV);
}

/* The child of a fork has no thread that could write. */
_Noreturn static void fork_and_die(void)
{
	pid_t child;
	int   status;

	begin_alone();
	if (sennit_dump_fatal(STDERR_FILENO, LIMIT_MS))
		_exit(NO_WORLD);
	child = fork();
	if (!child) {
		read_nowhere();
		_exit(ALIVE);
	}
	status = await_child(child);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

TEST_ALONE(a_child_of_a_fork_only_dies)
{
	int   words;
	pid_t child;

	skip_where_signals_are_not_the_kernels();
	child = begin_heard_child(&words);
	if (!child)
		fork_and_die();
	assert_int_equal(await_words(child, words, text, sizeof(text)),
			 SIGSEGV << 8);
	assert_int_equal(count(" ends the process"), 0);
}
