/* SPDX-License-Identifier: Apache-2.0 */
/* fault_handlers.c - fault handlers that the program installed before the first
 * scheduler are called as the kernel would call them. Each test runs in a
 * child.
 */
#include "testing/child.h"
#include "testing/dig.h"
#include "testing/with_workers.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { HANG = 60, VALUE = 4711 };

static struct {
	int  flags;
	bool returns;
	void (*task)(void *);
	char *page; /* unreadable until the handler makes it readable */
} plan;

static struct {
	volatile int       calls, value;
	volatile bool      masked;
	volatile uintptr_t stack;
} seen;

/* --- tasks -------------------------------------------------------------- */

static bool is_near(uintptr_t a, uintptr_t b)
{
	return a - b + 32 * 1024 < 64 * 1024;
}

static void read_once(void *unused)
{
	EXPECT(!*(volatile char *)plan.page);
}

/* Two faults from which the handler recovers. */
static void read_twice(void *unused)
{
	volatile char here;

	for (int i = 0; i < 2; i++) {
		mprotect(plan.page, 1, PROT_NONE);
		read_once(NULL);
		if (seen.calls != i + 1 ||
		    !is_near(seen.stack, (uintptr_t)&here))
			_exit(20);
	}
	_exit(0);
}

static void send_a_value(void *unused)
{
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SI_QUEUE };

	info.si_pid = getpid();
	info.si_value.sival_int = VALUE;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV,
		&info);
	while (!seen.calls) /* Valgrind may deliver it later */
		sched_yield();
	_exit(seen.calls == 1 && seen.value == VALUE ? 0 : 22);
}

static void overflow_after_a_fault(void *unused)
{
	read_once(unused);
	(void)!dig(1);
}

/* --- the program's handler ---------------------------------------------- */

static void handle(int number, siginfo_t *info, void *context)
{
	volatile char here;
	sigset_t      now;

	seen.calls++;
	seen.stack = (uintptr_t)&here;
	seen.value = info->si_value.sival_int;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	seen.masked = sigismember(&now, SIGUSR1) && sigismember(&now, SIGSEGV);
	if (!seen.masked)
		_exit(23);
	if (plan.returns)
		mprotect(plan.page, 1, PROT_READ);
	else if (seen.calls > 1)
		_exit(24);
}

_Noreturn static void live(uint32_t workers)
{
	struct sigaction  act = { .sa_sigaction = handle,
				  .sa_flags = SA_SIGINFO | plan.flags };
	sennit_scheduler *s = NULL;
	sigset_t          none;

	alarm(HANG);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &act, NULL);
	/* Readable at first: memcheck itself reports accesses to a page that
	 * was never readable. */
	plan.page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	mprotect(plan.page, 1, PROT_NONE);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ||
	    sennit_thread_bind(s) || sennit_schedule(plan.task, NULL))
		_exit(3);
	sennit_thread_unbind();
	_exit(sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 4 : 5);
}

static int fate(struct world *w, char *text, size_t size)
{
	int         words;
	const pid_t child = begin_heard_child(&words);

	if (!child)
		live(w->workers);
	return await_words(child, words, text, size);
}

/* --- tests -------------------------------------------------------------- */

static void assert_exits(struct world *w, int code)
{
	char      text[8192];
	const int status = fate(w, text, sizeof(text));

	if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
		fail_msg("ended with %#x: %s", (unsigned)status, text);
}

static void assert_killed(struct world *w, const char *words)
{
	char      text[8192];
	const int status = fate(w, text, sizeof(text));

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
		fail_msg("ended with %#x: %s", (unsigned)status, text);
	if (words && !strstr(text, words))
		fail_msg("\"%s\" not in: %s", words, text);
}

/* Symptom: it was called for ever, and the process did not end. */
TEST_WITH_COUNTS(a_handler_to_be_undone_is_called_once)
{
	for (int i = 0; i < 2; i++) {
		plan.flags = (int)SA_RESETHAND | (i ? SA_ONSTACK : 0);
		plan.returns = false;
		plan.task = read_once;
		assert_killed(w, NULL);
	}
}

/* Symptom: it ran on the library's small alternate stack. */
TEST_WITH_COUNTS(a_handler_runs_on_the_stack_that_faulted)
{
	plan.flags = 0;
	plan.returns = true;
	plan.task = read_twice;
	assert_exits(w, 0);
}

TEST_WITH_COUNTS(a_signal_that_was_sent_keeps_what_it_says)
{
	for (int i = 0; i < 2; i++) {
		plan.flags = i ? SA_ONSTACK : 0;
		plan.returns = true;
		plan.task = send_a_value;
		assert_exits(w, 0);
	}
}

TEST_WITH_COUNTS(an_overflow_after_other_faults_is_named)
{
	plan.flags = 0;
	plan.returns = true;
	plan.task = overflow_after_a_fault;
	assert_killed(w, "sennit: stack overflow in task ");
}
