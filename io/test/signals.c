/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - fibers and threads wait for signals of the process. */
#include "operations.h"

#include "sennit/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

static sigset_t signals_of(int one, int other)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, one);
	sigaddset(&set, other);
	return set;
}

static void open_signals(sennit_signals **s)
{
	const sigset_t set = signals_of(SIGUSR1, SIGRTMIN);

	EXPECT(sennit_signals_open(s, &set) == 0);
}

struct listener {
	sennit_signals *s;
	int             got;
	atomic_bool     over;
};

static void await_signal(void *argument)
{
	struct listener        *l = argument;
	struct signalfd_siginfo info;

	l->got = sennit_signals_wait(l->s, &info, SENNIT_NEVER);
	EXPECT(info.ssi_pid == (uint32_t)getpid());
	EXPECT((int)info.ssi_signo == l->got);
	atomic_store(&l->over, true);
}

TEST_WITH_WORKERS(a_fiber_waits_for_a_signal)
{
	struct listener l = { .over = false };

	open_signals(&l.s);
	must_schedule(await_signal, &l);
	assert_soon(io_waits(w->s) == 1);
	kill(getpid(), SIGUSR1);
	assert_soon(atomic_load(&l.over));
	assert_int_equal(l.got, SIGUSR1);
	sennit_signals_close(l.s);
}

static void wait_in_vain(void *unused)
{
	sennit_signals *s;

	(void)unused;
	open_signals(&s);
	EXPECT(sennit_signals_wait(s, NULL, 0) == -ETIMEDOUT);
	EXPECT(sennit_signals_wait(s, NULL, in_ms(1)) == -ETIMEDOUT);
	kill(getpid(), SIGUSR1);
	EXPECT(sennit_signals_wait(s, NULL, in_ms(100000)) == SIGUSR1);
	EXPECT(sennit_signals_wait(s, NULL, 0) == -ETIMEDOUT);
	sennit_signals_close(s);
}

TEST_WITH_WORKERS(a_deadline_ends_the_wait_and_loses_no_signal)
{
	in_each_place(wait_in_vain, NULL);
}

static void queue_signals(void *unused)
{
	struct signalfd_siginfo info;
	sennit_signals         *s;

	(void)unused;
	open_signals(&s);
	for (int i = 0; i < 3; i++) {
		union sigval value = { .sival_int = 100 + i };

		kill(getpid(), SIGUSR1);
		sigqueue(getpid(), SIGRTMIN, value);
	}
	EXPECT(sennit_signals_wait(s, &info, 0) == SIGUSR1);
	for (int i = 0; i < 3; i++) {
		EXPECT(sennit_signals_wait(s, &info, 0) == SIGRTMIN);
		EXPECT(info.ssi_int == 100 + i);
	}
	EXPECT(sennit_signals_wait(s, &info, 0) == -ETIMEDOUT);
	sennit_signals_close(s);
}

TEST_WITH_WORKERS(signals_coalesce_but_real_time_ones)
{
	in_each_place(queue_signals, NULL);
}

static int wait_as_member(void *argument)
{
	struct listener *l = argument;

	l->got = sennit_signals_wait(l->s, NULL, SENNIT_NEVER);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_wait)
{
	struct listener l = { .over = false };
	sennit_group    g;

	open_signals(&l.s);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_as_member, &l), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(l.got, -ECANCELED);
	kill(getpid(), SIGUSR1);
	assert_int_equal(sennit_signals_wait(l.s, NULL, SENNIT_NEVER), SIGUSR1);
	sennit_signals_close(l.s);
}

static void wait_and_end(void *argument)
{
	struct listener *x = argument;

	(void)wait_as_member(x);
	atomic_store(&x->over, true);
}

/* The two fibers are on one worker. */
static void close_meanwhile(void *scheduler)
{
	struct listener l = { .over = false };

	open_signals(&l.s);
	must_schedule_here(wait_and_end, &l);
	while (!io_waits(scheduler))
		sennit_yield();
	sennit_signals_close(l.s);
	while (!atomic_load(&l.over))
		sennit_yield();
	EXPECT(l.got == -ECANCELED);
}

TEST_WITH_WORKERS(a_close_ends_the_wait)
{
	in_a_task(close_meanwhile, w->s);
}

static void open_wrongly(void *unused)
{
	const sigset_t  open_one = signals_of(SIGUSR1, SIGUSR2);
	const sigset_t  killed = signals_of(SIGUSR1, SIGKILL);
	sennit_signals *s = NULL;

	(void)unused;
	EXPECT(sennit_signals_open(&s, &open_one) == -EINVAL);
	EXPECT(sennit_signals_open(&s, &killed) == -EINVAL);
	EXPECT(!s);
}

TEST_WITH_WORKERS(a_signal_that_is_not_blocked_is_refused)
{
	in_each_place(open_wrongly, NULL);
}

static int begin_all(void)
{
	const sigset_t set = signals_of(SIGUSR1, SIGRTMIN);

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;
