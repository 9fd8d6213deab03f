/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - signals that arrive while fibers run, switch and sleep: handlers
 * get a valid stack, alternate stacks are used, and nothing is lost. */
#include "testing/with_workers.h"
#include "testing/child.h"

#include <errno.h>
#include <signal.h>

enum { TASKS = LOAD(2000), SIGNALS = LOAD(2000), STOPS = 10 };

static struct {
	sennit_wait_group done;
	sennit_mutex      lock;
	unsigned          sum; /* under lock */
	atomic_uint       handled, elsewhere;
	atomic_bool       over;
	pthread_t         threads[16];
	atomic_uint       known;
} storm;

/* Uses some stack, as real handlers do. */
static void handle(int number)
{
	volatile char frame[1024];
	const int     saved = errno;

	for (unsigned i = 0; i < sizeof(frame); i++)
		frame[i] = (char)number;
	errno = EILSEQ;
	atomic_fetch_add(&storm.handled, 1);
	errno = saved;
}

#if !defined(SN_TSAN)
static void handle_elsewhere(int number)
{
	stack_t stack;
	char    here;

	handle(number);
	if (sigaltstack(NULL, &stack) || stack.ss_flags & SS_DISABLE)
		return; /* this thread has no alternate stack */
	EXPECT(&here >= (char *)stack.ss_sp &&
	       &here < (char *)stack.ss_sp + stack.ss_size);
	atomic_fetch_add(&storm.elsewhere, 1);
}
#endif

static void set_handler(void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&act.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
}

static void work(void *unused)
{
	const int mine =
		1 + (int)(sennit_fiber_number(sennit_fiber_current()) % 100);

	errno = mine;
	sennit_mutex_lock(&storm.lock);
	storm.sum++;
	sennit_mutex_unlock(&storm.lock);
	sennit_yield();
	sennit_sleep_until(sennit_after(1000));
	EXPECT(errno == mine);
	sennit_wait_group_done(&storm.done);
}

static void tell_thread(void *context, uint32_t index)
{
	storm.threads[index] = pthread_self();
	atomic_fetch_add(&storm.known, 1);
}

static void *send(void *unused)
{
	while (!atomic_load(&storm.over)) {
		const unsigned known = atomic_load(&storm.known);

		for (unsigned i = 0; i < known; i++)
			pthread_kill(storm.threads[i], SIGUSR1);
		sched_yield();
	}
	return NULL;
}

/* The bound thread gets signals, too: it is the last of the known threads.
 */
static void weather(const struct world *w, void (*handler)(int), int flags)
{
	sennit_scheduler *s;
	pthread_t         sender;

	memset(&storm, 0, sizeof(storm));
	set_handler(handler, flags);
	s = start_with(SENNIT_CONFIG(.workers = w->workers,
				     .thread_init = tell_thread));
	while (atomic_load(&storm.known) < w->threads)
		sched_yield();
	tell_thread(NULL, w->threads);
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&storm.done, TASKS);
	assert_int_equal(pthread_create(&sender, NULL, send, NULL), 0);
	for (unsigned i = 0; i < TASKS; i++)
		must_schedule(work, NULL);
	sennit_wait_group_wait(&storm.done);
	EXPECT_SOON(atomic_load(&storm.handled) >= SIGNALS);
	atomic_store(&storm.over, true);
	pthread_join(sender, NULL);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(storm.sum, TASKS);
	signal(SIGUSR1, SIG_DFL);
}

TEST_WITH_COUNTS(handlers_run_on_fibers)
{
	weather(w, handle, SA_RESTART);
}

TEST_WITH_COUNTS(waits_go_on_when_signals_break_off_system_calls)
{
	weather(w, handle, 0);
}

#if !defined(SN_TSAN)
TEST_WITH_COUNTS(handlers_find_their_alternate_stack)
{
	weather(w, handle_elsewhere, SA_ONSTACK | SA_RESTART);
	assert_true(atomic_load(&storm.elsewhere) > 0);
}
#endif

/* --- stopped and continued ------------------------------------------------ */

static int labour(uint32_t workers)
{
	sennit_scheduler *s;

	memset(&storm, 0, sizeof(storm));
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ||
	    sennit_thread_bind(s))
		return 1;
	for (unsigned round = 0; round < 40; round++) {
		sennit_wait_group_init(&storm.done, 100);
		for (unsigned i = 0; i < 100; i++)
			if (sennit_schedule(work, NULL))
				return 2;
		sennit_sleep(SENNIT_MILLISECOND);
		sennit_wait_group_wait(&storm.done);
	}
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 3;
	return storm.sum == 4000 && !atomic_load(&broken_claims) ? 0 : 4;
}

TEST_WITH_COUNTS(a_stopped_process_goes_on)
{
	const pid_t child = begin_child();

	if (!child)
		_exit(labour(w->workers));
	for (unsigned i = 0; i < STOPS; i++) {
		usleep(2000);
		kill(child, SIGSTOP);
		usleep(5000);
		kill(child, SIGCONT);
	}
	assert_int_equal(await_child(child), 0);
}
