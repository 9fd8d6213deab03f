/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - every operation, when it can complete at once, later or never, times
 * out, is cancelled, or its other end is closed; on blocking descriptors and on
 * those with O_NONBLOCK; in a task, on a bound thread's own stack and on an
 * unbound thread.
 */
#include "operations.h"

#include <signal.h>

/* Call test(a) for each operation, on blocking and non-blocking descriptors. */
static void for_each(const struct world *w, void (*test)(struct attempt *a))
{
	for (size_t i = 0; i < 2 * OPERATIONS; i++) {
		struct attempt a = { .of = &operations[i / 2],
				     .s = w->s,
				     .nonblock = i % 2 };

		begin(&a);
		test(&a);
		end_attempt(&a);
	}
}

/* The same in three places: see in_each_place. */
static void (*placed)(struct attempt *a);

static void run_placed(void *a)
{
	placed(a);
}

static void place_each(const struct world *w, void (*test)(struct attempt *a))
{
	void (*const places[])(sennit_task_fn *, void *) = { in_a_task,
							     in_a_thread };

	for_each(w, test);
	placed = test;
	for (size_t i = 0; i < 4 * OPERATIONS; i++) {
		struct attempt a = { .of = &operations[i / 4],
				     .s = w->s,
				     .nonblock = i % 2 };

		begin(&a);
		places[i / 2 % 2](run_placed, &a);
		end_attempt(&a);
	}
}

/* --- at once, and never ------------------------------------------------- */

static void try_ready(struct attempt *a)
{
	a->of->make_ready(a->fds);
	said(a, a->of->call(a->fds[0], SENNIT_NEVER), a->of->done, "ready");
}

TEST_WITH_WORKERS(what_is_ready_is_done_at_once)
{
	place_each(w, try_ready);
}

static void try_once(struct attempt *a)
{
	said(a, a->of->call(a->fds[0], 0), -ETIMEDOUT, "deadline 0");
	a->of->make_ready(a->fds);
	said(a, a->of->call(a->fds[0], 0), a->of->done, "deadline 0, ready");
}

TEST_WITH_WORKERS(a_deadline_of_zero_tries_once)
{
	place_each(w, try_once);
}

static void try_until(struct attempt *a)
{
	const sennit_time deadline = in_ms(1);

	said(a, a->of->call(a->fds[0], deadline), -ETIMEDOUT, "deadline");
	EXPECT(sennit_now() >= deadline);
	a->of->make_ready(a->fds);
	said(a, a->of->call(a->fds[0], in_ms(100000)), a->of->done,
	     "after a deadline");
}

TEST_WITH_WORKERS(a_deadline_ends_the_call_and_loses_nothing)
{
	place_each(w, try_until);
}

/* --- waiting ------------------------------------------------------------ */

TEST_WITH_WORKERS(a_thread_ends_the_wait)
{
	for_each(w, wait_in_task);
}

static void wait_for_task(struct attempt *a)
{
	must_schedule(call_to_wait, a);
	EXPECT_SOON(io_waits(a->s) == 1);
	in_a_task(make_ready, a);
	EXPECT_SOON(atomic_load(&a->over));
	said(a, a->result, a->of->done, "made ready by a task");
}

TEST_WITH_WORKERS(a_task_of_another_worker_ends_the_wait)
{
	for_each(w, wait_for_task);
}

static void *call_as_thread(void *a)
{
	call_to_wait(a);
	return NULL;
}

static void wait_as_thread(struct attempt *a)
{
	pthread_t t = must_start_thread(call_as_thread, a);

	in_a_task(make_ready, a);
	EXPECT_SOON(atomic_load(&a->over));
	pthread_join(t, NULL);
	said(a, a->result, a->of->done, "on an unbound thread");
}

TEST_WITH_WORKERS(an_unbound_thread_waits_as_well)
{
	for_each(w, wait_as_thread);
}

/* When a socket with unread data is closed, the system does two steps: it shuts
 * the other end down (EPIPE), then sets its error. */
static bool is_reset(const struct attempt *a)
{
	return a->result == -ECONNRESET && a->of->gone == -EPIPE;
}

static void lose_peer(struct attempt *a)
{
	if (a->of->done == a->of->gone && a->of->call == call_accept)
		return;
	must_schedule(call_to_wait, a);
	EXPECT_SOON(io_waits(a->s) == 1);
	close(a->fds[1]);
	a->fds[1] = -1;
	EXPECT_SOON(atomic_load(&a->over));
	if (!is_reset(a))
		said(a, a->result, a->of->gone, "the other end gone");
}

TEST_WITH_WORKERS(a_peer_that_closes_ends_the_wait)
{
	for_each(w, lose_peer);
}

/* --- cancelling --------------------------------------------------------- */

static int call_as_member(void *argument)
{
	call_to_wait(argument);
	return 0;
}

static void cancel_waiting(struct attempt *a)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, call_as_member, a));
	EXPECT_SOON(io_waits(a->s) == 1);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	said(a, a->result, -ECANCELED, "cancelled while it waits");
	a->of->make_ready(a->fds);
	said(a, a->of->call(a->fds[0], in_ms(100000)), a->of->done,
	     "after being cancelled");
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_wait)
{
	for_each(w, cancel_waiting);
}

struct late {
	struct attempt *a;
	sennit_group   *g;
	bool            ready;
};

static int call_when_cancelled(void *argument)
{
	struct late *l = argument;

	sennit_group_cancel(l->g);
	if (l->ready)
		l->a->of->make_ready(l->a->fds);
	l->a->result = l->a->of->call(l->a->fds[0], SENNIT_NEVER);
	return 0;
}

static ptrdiff_t begin_cancelled(struct attempt *a, bool ready)
{
	sennit_group g;
	struct late  l = { .a = a, .g = &g, .ready = ready };

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, call_when_cancelled, &l));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	return a->result;
}

static void cancel_before(struct attempt *a)
{
	said(a, begin_cancelled(a, false), -ECANCELED, "cancelled before");
}

TEST_WITH_WORKERS(a_call_in_a_cancelled_group_does_not_wait)
{
	for_each(w, cancel_before);
}

static void wait_in_deadline(struct attempt *a)
{
	sennit_group g;

	sennit_group_init(&g, in_ms(1), 0);
	EXPECT(!sennit_group_spawn(&g, call_as_member, a));
	sennit_group_wait(&g);
	said(a, a->result, -ETIMEDOUT, "the group's deadline");
}

TEST_WITH_WORKERS(a_groups_deadline_ends_the_wait)
{
	for_each(w, wait_in_deadline);
}

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;
