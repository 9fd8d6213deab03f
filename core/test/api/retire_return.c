/* SPDX-License-Identifier: Apache-2.0 */
/* retire_return.c - retired workers come back when there is work, also when
 * threads were refused, and after set_workers. */
#include "retiring.h"

/* --- starting again ----------------------------------------------------- */

TEST_ALONE(they_come_back_for_work_from_outside)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	unsigned          round;

	for (round = 0; round < LOAD(20); round++) {
		assert_settles(s, before, 1);
		assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	}
	for (round = 0; round < MOST; round++)
		assert_true(atomic_load(&starts[round]) >= 1);
	end(s);
}

static void schedule_meetings(void *argument)
{
	struct meeting *m = argument;

	for (uint32_t i = 1; i < MOST; i++)
		must_schedule(meet, m);
	meet(m);
}

TEST_ALONE(they_come_back_for_work_of_tasks)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s =
		begin(RETIRING(.placement = SENNIT_PLACEMENT_LOCAL));
	struct meeting m = { .expected = MOST };

	assert_settles(s, before, 1);
	sennit_wait_group_init(&m.done, MOST);
	must_schedule(schedule_meetings, &m);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), MOST);
	end(s);
}

/* --- when threads are refused ------------------------------------------- */

enum { SENT = 3 * MOST };

/* Keeps the last worker busy with its own tasks until all others have run. */
static void never_rest(void *argument)
{
	struct load *l = argument;

	if (atomic_load(&l->ran) < SENT && sennit_now() < l->give_up)
		must_schedule(never_rest, l);
}

TEST_ALONE(tasks_sent_to_the_retired_reach_one_that_never_rests)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	struct load       l = { .give_up = sennit_after(GIVE_UP) };

	assert_settles(s, before, 1);
	atomic_store(&threads_are_refused, true);
	must_schedule(never_rest, &l);
	for (unsigned i = 0; i < SENT; i++)
		must_schedule(count_run, &l);
	while (atomic_load(&l.ran) < SENT && sennit_now() < l.give_up)
		sched_yield();
	EXPECT(atomic_load(&l.ran) == SENT);
	end(s);
}

TEST_ALONE(refused_threads_are_asked_for_again)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	struct load       l = { .give_up = sennit_after(GIVE_UP) };

	assert_settles(s, before, 1);
	atomic_store(&threads_are_refused, true);
	for (unsigned i = 0; i < SENT; i++)
		must_schedule(count_run, &l);
	assert_soon(atomic_load(&l.ran) == SENT);
	atomic_store(&threads_are_refused, false);
	/* The last refusal was some time ago when all workers run at once. */
	sennit_sleep(150 * SENNIT_MILLISECOND);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

/* --- with set_workers --------------------------------------------------- */

/* None of the workers that must stay may have a thread. */
TEST_ALONE(taking_away_the_last_one_awake_leaves_another)
{
	const unsigned    before = threads_at_rest();
	unsigned          round;
	sennit_scheduler *s = begin(RETIRING());

	for (round = 0; round < LOAD(50); round++) {
		assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
		workers_at_once(MOST);
		assert_settles(s, before, 1); /* any of them */
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + round % 3),
				 0);
		in_a_task(count_run, &(struct load){ .ran = 0 });
		assert_settles(s, before, 1);
	}
	end(s);
}

BEFORE_ALL(warm_up);
