/* SPDX-License-Identifier: Apache-2.0 */
/* time.c - the clock, extreme deadlines, sleep and yield. */
#include "testing/with_workers.h"

#include <errno.h>
#include <time.h>

static sennit_time system_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

TEST_ALONE(now_is_the_monotonic_clock)
{
	for (unsigned i = 0; i < 1000; i++) {
		const sennit_time before = system_time();
		const sennit_time now = sennit_now();

		assert_true(before <= now && now <= system_time());
	}
}

TEST_ALONE(after_saturates)
{
	const sennit_time now = sennit_now();

	assert_true(sennit_after(0) >= now);
	assert_true(sennit_after(SENNIT_SECOND) >= now + SENNIT_SECOND);
	assert_true(sennit_after(UINT64_MAX) == SENNIT_NEVER);
	assert_true(sennit_after(UINT64_MAX - 1) == SENNIT_NEVER);
}

/* --- extreme deadlines -------------------------------------------------- */

struct edge {
	sennit_event      event;
	sennit_wait_group ended;
	sennit_time       deadline;
	atomic_int        result;
};

static void wait_at_edge(void *argument)
{
	struct edge *e = argument;

	atomic_store(&e->result,
		     sennit_event_wait_until(&e->event, e->deadline));
	sennit_wait_group_done(&e->ended);
}

/* Symptom: a distant deadline overflowed and ended the wait at once. */
static void wait_far_ahead(sennit_scheduler *s, sennit_time deadline)
{
	struct edge e = { .deadline = deadline };

	sennit_wait_group_init(&e.ended, 1);
	atomic_store(&e.result, 1);
	must_schedule(wait_at_edge, &e);
	assert_soon(fibers_of(s) == 1);
	sennit_sleep(2 * SENNIT_MILLISECOND);
	assert_int_equal(atomic_load(&e.result), 1);
	sennit_event_set(&e.event);
	sennit_wait_group_wait(&e.ended);
	assert_int_equal(atomic_load(&e.result), 0);
}

TEST_WITH_WORKERS(a_far_deadline_does_not_wrap_round)
{
	wait_far_ahead(w->s, SENNIT_NEVER);
	wait_far_ahead(w->s, SENNIT_NEVER - 1);
	wait_far_ahead(w->s, UINT64_MAX / 2);
	wait_far_ahead(w->s, (uint64_t)INT64_MAX + 1);
	wait_far_ahead(w->s, sennit_after(3600 * SENNIT_SECOND));
}

TEST_IN_EACH_PLACE(a_past_deadline_times_out)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_until(&e, 1) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_until(&e, sennit_now() - 1) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_until(&e, sennit_now()) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_until(&e, sennit_now() + 1) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_until(&e, sennit_now() + 1000) == -ETIMEDOUT);
}

/* --- sleep -------------------------------------------------------------- */

TEST_IN_EACH_PLACE(a_sleep_ends_never_early)
{
	const sennit_time wake = sennit_after(SENNIT_MILLISECOND);
	const sennit_time before = sennit_now();

	sennit_sleep_until(wake);
	EXPECT(sennit_now() >= wake);
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(sennit_now() >= before + 2 * SENNIT_MILLISECOND);
	sennit_sleep_until(wake);
	sennit_sleep_until(0);
	sennit_sleep_until(1);
	sennit_sleep(0);
	sennit_sleep(1);
}

struct dormitory {
	sennit_wait_group awake;
	atomic_uint       early;
	atomic_uint       next;
};

static void sleep_somewhat(void *argument)
{
	struct dormitory *d = argument;
	const unsigned    i = atomic_fetch_add(&d->next, 1);
	const sennit_time wake = sennit_after(i * 7919 % 5000 * 1000);

	sennit_sleep_until(wake);
	if (sennit_now() < wake)
		atomic_fetch_add(&d->early, 1);
	sennit_wait_group_done(&d->awake);
}

TEST_WITH_WORKERS(a_thousand_sleep_at_once)
{
	struct dormitory d = { .next = 0 };

	sennit_wait_group_init(&d.awake, LOAD(1000));
	for (unsigned i = 0; i < LOAD(1000); i++)
		must_schedule(sleep_somewhat, &d);
	sennit_wait_group_wait(&d.awake);
	assert_int_equal(atomic_load(&d.early), 0);
}

static void raise_flag(void *flag)
{
	atomic_store((atomic_bool *)flag, true);
}

static void sleep_until_raised(void *argument)
{
	atomic_bool      *flag = argument;
	const sennit_time give_up = sennit_after(GIVE_UP);

	must_schedule_here(raise_flag, flag);
	while (!atomic_load(flag) && sennit_now() < give_up)
		sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(atomic_load(flag));
}

TEST_WITH_WORKERS(who_sleeps_lets_the_worker_run_others)
{
	atomic_bool flag = false;

	sleep_until_raised(&flag);
	atomic_store(&flag, false);
	in_a_task(sleep_until_raised, &flag);
}

/* --- yield -------------------------------------------------------------- */

static void yield_until_raised(void *argument)
{
	atomic_bool *flag = argument;

	must_schedule_here(raise_flag, flag);
	EXPECT_SOON(atomic_load(flag));
}

TEST_WITH_WORKERS(who_yields_lets_the_worker_run_others)
{
	atomic_bool flag = false;

	yield_until_raised(&flag);
	atomic_store(&flag, false);
	in_a_task(yield_until_raised, &flag);
}

struct turns {
	sennit_wait_group ready;
	sennit_wait_group done;
	atomic_uint       turn;
	atomic_uint       out_of_turn;
};

/* Two fibers of one worker: a yield switches to the other. */
static void take_turns(void *argument)
{
	struct turns *t = argument;
	unsigned      mine, i;

	sennit_wait_group_done(&t->ready);
	sennit_wait_group_wait(&t->ready);
	sennit_yield(); /* both are ready now */
	mine = t->turn++ % 2;
	for (i = 0; i < 20; i++) {
		sennit_yield();
		if (t->turn++ % 2 != mine)
			t->out_of_turn++;
	}
	sennit_wait_group_done(&t->done);
}

static void start_turns(void *argument)
{
	struct turns *t = argument;

	must_schedule_here(take_turns, t);
	must_schedule_here(take_turns, t);
	sennit_wait_group_wait(&t->done);
}

TEST_WITH_WORKERS(two_that_yield_take_turns)
{
	struct turns t = { .turn = 0 };

	sennit_wait_group_init(&t.ready, 2);
	sennit_wait_group_init(&t.done, 2);
	in_a_task(start_turns, &t);
	assert_int_equal(t.turn, 42);
	assert_int_equal(t.out_of_turn, 0);
}

TEST_IN_EACH_PLACE(a_yield_with_nobody_else_returns)
{
	for (unsigned i = 0; i < 1000; i++)
		sennit_yield();
}
