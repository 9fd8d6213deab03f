/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - the counters of a scheduler. */
#include "testing/with_workers.h"

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

TEST_WITH_WORKERS(tasks_are_counted)
{
	atomic_uint ran = 0;

	assert_int_equal(stats_of(w->s).tasks, 0);
	for (unsigned i = 0; i < 1000; i++)
		must_schedule(count_one, &ran);
	assert_soon(stats_of(w->s).tasks == 1000);
	assert_int_equal(atomic_load(&ran), 1000);
}

struct gate {
	sennit_event      open;
	sennit_wait_group through;
};

static void pass_gate(void *argument)
{
	struct gate *g = argument;

	EXPECT(!sennit_event_wait(&g->open));
	sennit_wait_group_done(&g->through);
}

TEST_WITH_WORKERS(blocked_fibers_are_counted)
{
	struct gate  g = { .open = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };
	sennit_stats stats;

	sennit_wait_group_init(&g.through, 100);
	for (unsigned i = 0; i < 100; i++)
		must_schedule(pass_gate, &g);
	assert_soon(stats_of(w->s).fibers == 100);
	stats = stats_of(w->s);
	assert_true(stats.blocks >= 100);
	assert_true(stats.fibers_peak >= 100);
	assert_true(stats.stacks >= 100);
	sennit_event_set(&g.open);
	sennit_wait_group_wait(&g.through);
	assert_soon(stats_of(w->s).fibers == 0);
	assert_true(stats_of(w->s).fibers_peak >= 100);
}

/* --- counted while they change ------------------------------------------ */

struct restless {
	atomic_bool       over;
	sennit_wait_group ended;
};

static void yield_until_over(void *argument)
{
	struct restless *r = argument;

	while (!atomic_load(&r->over))
		sennit_yield();
	sennit_wait_group_done(&r->ended);
}

/* Another thread reads the two counts while only one fiber blocks and resumes.
 * In the wrong order it would read a count of -1. */
static void *look_at_fibers(void *scheduler)
{
	for (unsigned i = 0; i < LOAD(200000); i++)
		EXPECT(fibers_of(scheduler) < UINT64_MAX / 2);
	return NULL;
}

TEST_WITH_THREADS(fibers_are_never_fewer_than_none)
{
	struct restless r = { .over = false };
	pthread_t       t;

	sennit_wait_group_init(&r.ended, 1);
	must_schedule(yield_until_over, &r);
	t = must_start_thread(look_at_fibers, w->s);
	pthread_join(t, NULL);
	atomic_store(&r.over, true);
	sennit_wait_group_wait(&r.ended);
}

TEST_WITH_WORKERS(counters_never_go_back)
{
	atomic_uint  ran = 0;
	sennit_stats before = stats_of(w->s), now;

	for (unsigned i = 0; i < 500; i++) {
		must_schedule(count_one, &ran);
		sennit_yield();
		now = stats_of(w->s);
		assert_true(now.tasks >= before.tasks);
		assert_true(now.steals >= before.steals);
		assert_true(now.blocks >= before.blocks);
		assert_true(now.parks >= before.parks);
		assert_true(now.fibers_peak >= before.fibers_peak);
		before = now;
	}
	assert_soon(atomic_load(&ran) == 500);
}

struct meeting {
	unsigned          expected;
	atomic_uint       in;
	sennit_wait_group done;
};

static void meet(void *argument)
{
	struct meeting *m = argument;
	sennit_time     give_up = sennit_after(GIVE_UP);

	atomic_fetch_add(&m->in, 1);
	while (atomic_load(&m->in) < m->expected && sennit_now() < give_up)
		sched_yield();
	sennit_wait_group_done(&m->done);
}

static void meet_with_another(void *argument)
{
	must_schedule(meet, argument);
	meet(argument);
}

/* They run at the same time only if one of them was stolen from the other's
 * worker. */
TEST_WITH_SEVERAL(steals_are_counted)
{
	struct meeting m = { .expected = 2 };

	sennit_wait_group_init(&m.done, 2);
	must_schedule(meet_with_another, &m);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.in), 2);
	assert_soon(stats_of(w->s).steals >= 1);
}

TEST_WITH_ONE(one_worker_has_nobody_to_steal_from)
{
	atomic_uint ran = 0;

	for (unsigned i = 0; i < 200; i++)
		in_a_task(count_one, &ran);
	assert_int_equal(stats_of(w->s).steals, 0);
}

TEST_WITH_THREADS(idle_workers_park)
{
	uint64_t    parks;
	atomic_uint ran = 0;

	assert_soon(stats_of(w->s).parks >= w->threads);
	for (unsigned i = 0; i < 10; i++) {
		parks = stats_of(w->s).parks;
		in_a_task(count_one, &ran);
		assert_soon(stats_of(w->s).parks > parks);
	}
}

static void read_stats(void *argument)
{
	sennit_stats stats = stats_of(argument);

	EXPECT(stats.size == sizeof(stats));
}

TEST_WITH_WORKERS(anyone_may_read_them)
{
	in_each_place(read_stats, w->s);
}

/* A newer caller's struct: fields that the library does not know are zero. */
TEST_WITH_WORKERS(a_larger_struct_is_filled_as_far_as_known)
{
	struct {
		sennit_stats stats;
		uint64_t     later;
	} newer = { .stats = { .size = sizeof(newer) } };
	atomic_uint ran = 0;

	in_a_task(count_one, &ran);
	assert_soon(stats_of(w->s).tasks == 1);
	sennit_scheduler_get_stats(w->s, &newer.stats);
	assert_int_equal(newer.stats.tasks, 1);
	assert_int_equal(newer.later, 0);
}
