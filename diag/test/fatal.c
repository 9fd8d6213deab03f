/* SPDX-License-Identifier: Apache-2.0 */
/* fatal.c - a process that a signal ends first writes all its stacks, if that
 * was requested, and then ends by that signal, whatever the cause and whatever
 * resources it lacks. Each case is a child.
 */
#include "testing/with_workers.h"
#include "testing/child.h"
#include "testing/dig.h"
#include "testing/proc_self.h"
#include "marks.h"

#include "sennit/dump.h"
#include "sennit/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

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

/* Symptom: the stack ended at "#0 0". */
static void call_nowhere(void)
{
	static void (*volatile nowhere)(void);

	nowhere();
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

/* Runs while the loader's lock is held. */
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

/* malloc() detects the damage and aborts while it holds its lock. */
static NO_SANITIZE void damage_the_heap(void)
{
	/* volatile: hide the size from the compiler */
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

/* Two threads crash at once. */
static void twice(void)
{
	static void (*which)(void) = read_nowhere;
	pthread_t thread;

	if (pthread_create(&thread, NULL, die_of_it, &which))
		_exit(NO_WORLD);
	read_nowhere();
}

/* Another thread aborts at once. */
static void twice_by_other_signals(void)
{
	static void (*which)(void) = call_abort;
	pthread_t thread;

	if (pthread_create(&thread, NULL, die_of_it, &which))
		_exit(NO_WORLD);
	read_nowhere();
}

/* --- missing resources -------------------------------------------------- */

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

/* --- a process that crashes --------------------------------------------- */

struct death {
	void (*die)(void);
	int  signal;
	bool on_thread; /* on a thread that is not bound; else in a fiber */
	void (*lack)(void);
	void (*handler)(int); /* NULL: none */
	int  flags;           /* flags of the handler */
	bool later;           /* another handler is installed afterwards */
	bool without_us;      /* no scheduler, no dump */
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

/* Remove cmocka's handlers. */
static void begin_alone(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				      SIGSYS,  SIGABRT, SIGTRAP };

	alarm(HANG);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
}

static sennit_scheduler *begin_world(void)
{
	sennit_scheduler *s = NULL;

	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
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
	die = d->die;
	if (d->without_us)
		die_of_it(&die);
	s = begin_world();
	if (sennit_dump_fatal(STDERR_FILENO, LIMIT_MS))
		_exit(NO_WORLD);
	if (d->later)
		install_later(d->signal);
	if (!d->on_thread)
		schedule(s, die_in_a_fiber, &die);
	else if (pthread_create(&thread, NULL, die_of_it, &die))
		_exit(NO_WORLD);
	for (;;)
		pause();
}

/* Start the threads before the limits are set, so that only the dump lacks
 * resources. */
static void (*lacked)(void);
static void (*then)(void);

static void lack_then_die(void)
{
	lacked();
	then();
	_exit(ALIVE);
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
	const char *function; /* a name that must be in the stack */
} causes[] = {
	{ read_nowhere, SIGSEGV, "read_nowhere" },
	{ read_past_a_file, SIGBUS, "read_past_a_file" },
	{ call_nowhere, SIGSEGV, "call_nowhere" },
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

/* Sanitizers end the process themselves, and delay signals. */
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
	/* Symptom: the frame in the guard alone, and of the fiber nothing. */
	assert_true(!HAS_FRAMES || count(" dig") > 20);
	assert_int_equal(count("did not answer"), 0);
}

TEST_ALONE(misuse_is_named_first)
{
	skip_where_signals_are_not_the_kernels();
	assert_dumped(&(struct death){ .die = unlock_what_is_free,
				       .signal = SIGABRT },
		      "sennit_mutex_unlock");
	assert_true(strstr(text, "sennit: ") < strstr(text, " ends the"));
}

TEST_ALONE(the_process_ends_by_the_signal_that_the_dump_names)
{
	skip_where_signals_are_not_the_kernels();
	for (int i = 0; i < 20; i++) {
		const int status =
			end_of(&(struct death){ .die = twice_by_other_signals,
						.signal = SIGSEGV,
						.on_thread = i % 2 });

		assert_true(WIFSIGNALED(status));
		assert_int_equal(count(WTERMSIG(status) == SIGABRT
					       ? "SIGABRT ends the process"
					       : "SIGSEGV ends the process"),
				 1);
	}
}

/* The thread that crashes holds a lock of malloc(). */
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
			continue; /* that thread has no alternate stack */
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

/* --- each signal and cause ------------------------------------------------ */

static void refuse_call(uint32_t number, uint32_t how)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, how),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(NO_WORLD);
}

static void refuse_getpgid(void)
{
	refuse_call(SYS_getpgid, SECCOMP_RET_TRAP);
	(void)syscall(SYS_getpgid, 0);
}

static int  sent;       /* the signal that these send */
static bool is_ignored; /* the program ignores the signal */

/* Any thread may receive it. If all ignore it, this thread continues. */
static void send_to_process(void)
{
	kill(getpid(), sent);
	while (!is_ignored)
		pause();
}

static void send_to_thread(void)
{
	raise(sent);
}

static void send_with_value(void)
{
	pthread_sigqueue(pthread_self(), sent,
			 (union sigval){ .sival_int = 1 });
}

#if defined(__x86_64__)
static void break_point(void)
{
	__asm__ volatile("int3");
}

static void overflow_trap(void)
{
	__asm__ volatile("int $4");
}

static void undefined(void)
{
	__asm__ volatile("ud2");
}

static void general_protection(void)
{
	__asm__ volatile("int $0x42");
}

static void divide(void)
{
	__asm__ volatile("xor %%eax, %%eax\n\tcltd\n\tidivl %%eax" ::
				 : "eax", "edx", "cc");
}
#endif

/* Return the status of a process that ends by the signal, or ALIVE if it
 * continues. */
static int status_of(void (*cause)(void), bool on_thread, bool dumps,
		     void (*handler)(int), int number)
{
	struct death d = { .die = cause,
			   .on_thread = on_thread,
			   .handler = handler,
			   .signal = number,
			   .without_us = !dumps };

	return end_of(&d);
}

static void assert_same(void (*cause)(void), int number, void (*handler)(int))
{
	const bool on_thread = number % 2; /* each way for some of the cases */
	int        usual, dumped;

	is_ignored = handler == SIG_IGN;
	usual = status_of(cause, on_thread, false, handler, number);
	dumped = status_of(cause, on_thread, true, handler, number);
	/* the behaviour of abort() after an ignored signal cannot be known
	 * before */
	if (usual != dumped ||
	    (!(number == SIGABRT && handler == SIG_IGN) &&
	     count(" ends the process, in thread ") != WIFSIGNALED(usual)))
		fail_msg("signal %d: %#x without us, %#x with a dump: %s",
			 number, (unsigned)usual, (unsigned)dumped, text);
}

/* qemu runs the instruction again and again if it causes an ignored SIGBUS. The
 * kernel ends the process. */
static bool never_ends(int number, void (*handler)(int))
{
	return number == SIGBUS && handler == SIG_IGN && under_emulator();
}

TEST_ALONE(a_process_ends_or_goes_on_as_it_does_without_the_library)
{
	static void (*const faults[])(void) = {
		read_nowhere,
		read_past_a_file,
		call_abort,
		refuse_getpgid,
#if defined(__x86_64__)
		break_point,
		overflow_trap,
		undefined,
		divide,
		general_protection,
#endif
	};
	static const int own[] = {
		SIGSEGV,
		SIGBUS,
		SIGABRT,
		SIGSYS,
#if defined(__x86_64__)
		SIGTRAP,
		SIGSEGV,
		SIGILL,
		SIGFPE,
		SIGSEGV,
#endif
	};
	static void (*const ways[])(void) = { send_to_process, send_to_thread,
					      send_with_value };
	static const int numbers[] = { SIGSEGV, SIGBUS,  SIGABRT, SIGILL,
				       SIGFPE,  SIGTRAP, SIGSYS };
	static void (*const handlers[])(int) = { NULL, SIG_IGN, uninstall };

	skip_where_signals_are_not_the_kernels();
	for (size_t h = 0; h < 3; h++) {
		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
			if (!never_ends(own[i], handlers[h]))
				assert_same(faults[i], own[i], handlers[h]);
		for (size_t i = 0; i < 3 * sizeof(numbers) / sizeof(int); i++) {
			sent = numbers[i / 3];
			assert_same(ways[i % 3], sent, handlers[h]);
		}
	}
}

/* --- blocked signals ------------------------------------------------------ */

/* All threads of the program block the signal. It stays pending. */
_Noreturn static void send_what_is_blocked(void)
{
	sigset_t one, pending;

	begin_alone();
	sigemptyset(&one);
	sigaddset(&one, sent);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	begin_world();
	if (sennit_dump_fatal(STDERR_FILENO, LIMIT_MS))
		_exit(NO_WORLD);
	kill(getpid(), sent);
	for (int i = 0; i < 100; i++) {
		if (sigpending(&pending) || !sigismember(&pending, sent))
			_exit(1);
		usleep(1000);
	}
	_exit(0);
}

TEST_ALONE(a_signal_that_all_threads_block_stays_pending)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT };
	int              words;
	pid_t            child;

	skip_where_signals_are_not_the_kernels();
	if (under_emulator()) /* qemu never blocks SIGSEGV and SIGBUS */
		skip();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sent = numbers[i];
		child = begin_heard_child(&words);
		if (!child)
			send_what_is_blocked();
		assert_int_equal(await_words(child, words, text, sizeof(text)),
				 0);
		assert_int_equal(count(" ends the process"), 0);
	}
}

/* --- signals that may not be queued --------------------------------------- */

static void refuse_queued_signals(void)
{
	refuse_call(SYS_rt_tgsigqueueinfo, SECCOMP_RET_ERRNO | EPERM);
}

static void lack_pending_signals(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_SIGPENDING, &none);
}

TEST_ALONE(a_process_that_may_not_queue_signals_ends_all_the_same)
{
	static const struct {
		void (*die)(void);
		int signal;
		void (*handler)(int);
	} all[] = {
		{ read_nowhere, SIGSEGV, NULL },
		{ send_to_thread, SIGSEGV, NULL },
		{ send_to_thread, SIGABRT, NULL },
		{ refuse_getpgid, SIGSYS, NULL },
#if defined(__x86_64__)
		{ break_point, SIGTRAP, NULL },
		{ break_point, SIGTRAP, uninstall },
#endif
	};

	skip_where_signals_are_not_the_kernels();
	if (under_emulator())
		skip(); /* qemu has no filters */
	for (size_t i = 0; i < 4 * sizeof(all) / sizeof(all[0]); i++) {
		sent = all[i / 4].signal;
		assert_dumped(
			&(struct death){ .die = all[i / 4].die,
					 .signal = sent,
					 .on_thread = i % 2,
					 .lack = i / 2 % 2
							 ? refuse_queued_signals
							 : lack_pending_signals,
					 .handler = all[i / 4].handler },
			NULL);
	}
}

/* --- faults that do not come again ---------------------------------------- */

/* Read what is dumped. After the first byte make the page readable: the rest
 * does not fit into the pipe, so the dump ends later. */
static void *mend_while_it_is_dumped(void *pipe)
{
	char    bytes[4096];
	ssize_t n = read(*(int *)pipe, bytes, 1);

	mprotect(mended, 4096, PROT_READ);
	while (n > 0)
		n = read(*(int *)pipe, bytes, sizeof(bytes));
	return NULL;
}

static void read_what_is_mended_meanwhile(void)
{
	static int dump[2];
	pthread_t  thread;

	mended = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (pipe(dump) || fcntl(dump[1], F_SETPIPE_SZ, 4096) < 0 ||
	    sennit_dump_fatal(dump[1], LIMIT_MS) ||
	    pthread_create(&thread, NULL, mend_while_it_is_dumped, dump))
		_exit(NO_WORLD);
	(void)*(volatile char *)mended;
}

TEST_ALONE(a_fault_that_is_mended_during_the_dump_ends_the_process)
{
	skip_where_signals_are_not_the_kernels();
	for (int i = 0; i < 2; i++) {
		const int status = end_of(
			&(struct death){ .die = read_what_is_mended_meanwhile,
					 .signal = SIGSEGV,
					 .on_thread = i });

		assert_int_equal(status, SIGSEGV);
	}
}

static int sent_code;

/* Another handler may pass a fault on like this, to another thread even. */
static void send_as_a_fault(void)
{
	siginfo_t info = { .si_signo = sent };

	info.si_code = sent_code;
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		      sent, &info);
}

TEST_ALONE(a_signal_that_was_sent_as_a_fault_ends_the_process)
{
	enum { LATE_TAG = 8 /* SEGV_MTEAERR: it does not come again */ };
	static const struct {
		int number, code;
		void (*handler)(int);
	} all[] = {
		{ SIGSEGV, SEGV_MAPERR, NULL },
		{ SIGBUS, BUS_ADRERR, NULL },
		{ SIGILL, ILL_ILLOPC, NULL },
		{ SIGFPE, FPE_INTDIV, NULL },
		{ SIGSEGV, LATE_TAG, NULL },
		{ SIGSEGV, LATE_TAG, uninstall },
	};

	skip_where_signals_are_not_the_kernels();
	if (under_emulator())
		skip(); /* qemu takes it for a fault of its own */
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sent = all[i].number;
		sent_code = all[i].code;
		assert_same(send_as_a_fault, sent, all[i].handler);
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

/* Call a function whose code is gone, together with its symbols and unwind
 * tables, so that the thread that writes the stacks also faults. */
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

/* --- limits ------------------------------------------------------------- */

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

/* What a debugger sees of the signals that a traced child gets, first and
 * last. Returns the child's status. */
static int trace_signals(pid_t child, siginfo_t *first, siginfo_t *last)
{
	int status;

	first->si_signo = 0;
	for (;;) {
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFSTOPPED(status))
			return status;
		if (WSTOPSIG(status) == SIGSEGV) {
			assert_false(ptrace(PTRACE_GETSIGINFO, child, 0, last));
			if (!first->si_signo)
				*first = *last;
		}
		ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status));
	}
}

TEST_ALONE(a_debugger_sees_the_code_and_address_of_the_fault)
{
	siginfo_t first, last;
	pid_t     child;
	int       status;

	skip_where_signals_are_not_the_kernels();
	if (under_emulator())
		skip();
	child = fork();
	if (!child) {
		begin_alone();
		if (sennit_dump_fatal(open("/dev/null", O_WRONLY), LIMIT_MS) ||
		    ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(NO_WORLD);
		read_nowhere();
		_exit(ALIVE);
	}
	status = trace_signals(child, &first, &last);
	assert_int_equal(status & ~0x80, SIGSEGV);
	assert_int_equal(first.si_code, SEGV_ACCERR);
	assert_int_equal(last.si_code, SEGV_ACCERR);
	assert_ptr_equal(last.si_addr, first.si_addr);
}
