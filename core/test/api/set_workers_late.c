/* SPDX-License-Identifier: Apache-2.0 */
/* set_workers_late.c - threads of workers that start when there is work for
 * them, and those that the system refuses. */
#include "resizing.h"
#include "attendance.h"

/* The smallest stack on which a thread starts, in bytes. */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define SMALL_STACK 0 /* the default, which sanitizers need */
#else
#define SMALL_STACK 16384
#endif

TEST_ALONE(idle_lazy_schedulers_have_one_thread)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);

	assert_int_equal(sennit_scheduler_workers(s), MOST);
	sennit_sleep(5 * SENNIT_MILLISECOND);
	assert_int_equal(threads_now(), before + 1);
	end(s);
	s = begin(MOST, 0, SENNIT_START_LAZY);
	end(s);
}

TEST_ALONE(late_workers_come_when_needed)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);

	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_int_equal(threads_now(), before + MOST);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	assert_soon(threads_now() == before + 1);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

static void schedule_meetings(void *argument)
{
	struct meeting *m = argument;

	for (uint32_t i = 1; i < MOST; i++)
		must_schedule(meet, m);
	meet(m);
}

TEST_ALONE(late_workers_come_for_work_of_tasks)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = MOST, .start = SENNIT_START_LAZY,
			      .thread_init = note_index,
			      .stack_size = SMALL_STACK));
	struct meeting m = { .expected = MOST };

	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&m.done, MOST);
	must_schedule(schedule_meetings, &m);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), MOST);
	end(s);
}

TEST_ALONE(added_late_workers_come_for_work_that_lies_there)
{
	sennit_scheduler *s = begin(1, MOST, SENNIT_START_LAZY);
	struct meeting    m = { .expected = MOST };

	sennit_wait_group_init(&m.done, MOST);
	must_schedule(schedule_meetings, &m);
	assert_soon(atomic_load(&m.there) == 1);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), MOST);
	end(s);
}

TEST_ALONE(refused_late_threads_lose_no_task)
{
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);
	struct load       l = { .over = true, .made = 100 };

	atomic_store(&threads_are_refused, true);
	sennit_wait_group_init(&l.left, 100);
	for (unsigned i = 0; i < 100; i++)
		must_schedule(breed, &l);
	sennit_wait_group_wait(&l.left);
	EXPECT(atomic_load(&l.ran) == 100);
	EXPECT(atomic_load(&starts[1]) == 0);
	atomic_store(&threads_are_refused, false);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

static void add_rounding_up(void *argument)
{
	fesetround(FE_UPWARD);
	must_schedule(meet, argument);
	meet(argument);
}

/* The thread that may start the second worker rounds upwards. */
TEST_ALONE(late_threads_have_the_creators_floating_point)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_LAZY);
	struct meeting    m = { .expected = 2 };

	sennit_wait_group_init(&m.done, 2);
	fesetround(FE_UPWARD);
	must_schedule(add_rounding_up, &m);
	sennit_wait_group_wait(&m.done);
	fesetround(FE_TONEAREST);
	assert_int_equal(atomic_load(&rounding[1]), FE_TONEAREST);
	end(s);
}

BEFORE_ALL(warm_up);
