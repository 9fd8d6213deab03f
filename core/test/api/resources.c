/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - schedulers that share CPUs: the number of active workers never
 * exceeds the number of CPUs, each scheduler with work gets its share, and none
 * waits for the end of another. */
#include "budget.h"
#include "testing/counting_allocator.h"

#include <errno.h>

/* --- the object --------------------------------------------------------- */

TEST_ALONE(zero_cpus_are_those_of_the_process)
{
	sennit_resources *r = resources_of(0);

	assert_int_equal(told_by(r).cpus, sennit_cpu_count());
	assert_ptr_equal(sennit_resources_retain(r), r);
	sennit_resources_release(r);
	give_back(r);
}

TEST_ALONE(its_memory_comes_from_its_allocator)
{
	struct counting_allocator memory = { .failing = 1 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&memory),
			       half = { .allocate = counting_take };
	sennit_resources *r = NULL;

	assert_int_equal(sennit_resources_create(&r, 1, &a), -ENOMEM);
	assert_int_equal(sennit_resources_create(&r, 1, &half), -EINVAL);
	assert_int_equal(
		sennit_resources_create(&r, SENNIT_WORKERS_MAX + 1, NULL),
		-EINVAL);
	assert_null(r);
	assert_int_equal(sennit_resources_create(&r, 1, &a), 0);
	assert_int_equal(atomic_load(&memory.live), 1);
	sennit_resources_release(r);
	assert_int_equal(atomic_load(&memory.live), 0);
}

TEST_ALONE(a_scheduler_keeps_its_resources)
{
	struct counting_allocator memory = { .failing = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&memory);
	sennit_resources         *r;
	sennit_scheduler         *s;

	assert_int_equal(sennit_resources_create(&r, 1, &a), 0);
	s = start_with(SHARING(r, ));
	sennit_resources_release(r);
	assert_int_equal(atomic_load(&memory.live), 1);
	end_scheduler(s);
	assert_int_equal(atomic_load(&memory.live), 0);
}

static void assert_wrong(const sennit_config *config, const char *name)
{
	sennit_scheduler *s;
	const char       *field = NULL;

	assert_int_equal(sennit_config_check(config, &field), -EINVAL);
	assert_string_equal(field, name);
	assert_int_equal(sennit_scheduler_create(&s, config), -EINVAL);
}

TEST_ALONE(wrong_fields_are_named)
{
	sennit_resources *r = resources_of(2);

	assert_wrong(SENNIT_CONFIG(.resources_min = 1), "resources_min");
	assert_wrong(SENNIT_CONFIG(.resources_max = 1), "resources_max");
	assert_wrong(SENNIT_CONFIG(.resources_priority = 1),
		     "resources_priority");
	assert_wrong(SHARING(r, .resources_min = 3), "resources_min");
	assert_wrong(SHARING(r, .resources_min = 2, .resources_max = 1),
		     "resources_min");
	assert_wrong(
		SENNIT_CONFIG(.workers = 1, .resources = r, .resources_min = 2),
		"resources_min");
	assert_wrong(SHARING(r, .resources_priority =
					SENNIT_RESOURCES_PRIORITY_MAX + 1),
		     "resources_priority");
	give_back(r);
}

TEST_ALONE(minimums_beyond_the_budget_are_refused)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *a = start_with(SHARING(r, .resources_min = 1));
	sennit_scheduler *b = NULL;

	assert_int_equal(
		sennit_scheduler_create(&b, SHARING(r, .resources_min = 2)),
		-EAGAIN);
	assert_null(b);
	b = start_with(SHARING(r, .resources_min = 1));
	assert_int_equal(told_by(r).schedulers, 2);
	end_scheduler(a);
	a = start_with(SHARING(r, .resources_min = 1));
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

/* --- the budget --------------------------------------------------------- */

TEST_ALONE(never_are_more_active_than_there_are_cpus)
{
	for (uint32_t cpus = 1; cpus <= 3; cpus++) {
		sennit_resources *r = resources_of(cpus);
		sennit_scheduler *s[MOST];
		struct flood      f[MOST];

		atomic_store(&most, 0);
		for (int i = 0; i < MOST; i++)
			s[i] = start_with(SHARING(r, ));
		for (int i = 0; i < MOST; i++)
			flood(s[i], &f[i]);
		for (int i = 0; i < MOST; i++)
			sennit_wait_group_wait(&f[i].left);
		for (int i = 0; i < MOST; i++)
			end_scheduler(s[i]);
		assert_in_range(atomic_load(&most), 1, cpus);
		give_back(r);
	}
}

/* --- shares ------------------------------------------------------------- */

TEST_ALONE(a_scheduler_stays_within_its_maximum)
{
	sennit_resources *r = resources_of(3);
	sennit_scheduler *s = start_with(SHARING(r, .resources_max = 2));
	struct grip       g;

	grip(&g, s, EACH);
	assert_soon(atomic_load(&g.there) >= 2);
	assert_soon(stats_of(s).waiting || atomic_load(&g.there) > 2);
	assert_int_equal(atomic_load(&g.there), 2);
	let_go(&g);
	end_scheduler(s);
	give_back(r);
}

TEST_ALONE(one_busy_of_ten_gets_all)
{
	sennit_resources *r = resources_of(EACH);
	sennit_scheduler *s[MOST];

	for (int i = 0; i < MOST; i++)
		s[i] = start_with(SHARING(r, ));
	for (int i = 0; i < MOST; i++) {
		struct grip g;

		grip(&g, s[i], EACH);
		assert_soon(atomic_load(&g.there) == EACH);
		assert_int_equal(stats_of(s[i]).active, EACH);
		let_go(&g);
	}
	for (int i = 0; i < MOST; i++)
		end_scheduler(s[i]);
	give_back(r);
}

TEST_ALONE(a_minimum_is_honoured_beside_any_priority)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *a = start_with(SHARING(
		r, .resources_priority = SENNIT_RESOURCES_PRIORITY_MAX));
	sennit_scheduler *b = start_with(SHARING(r, .resources_min = 1));
	struct mill       m;

	start_mill(&m, a, turn, 2 * EACH);
	assert_soon(stats_of(a).active == 2);
	for (int i = 0; i < 20; i++) {
		struct grip g;

		grip(&g, b, 1);
		assert_soon(atomic_load(&g.there) == 1);
		assert_soon(stats_of(b).active == 1);
		let_go(&g);
	}
	stop_mill(&m);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

TEST_ALONE(all_get_on_whatever_their_priority)
{
	sennit_resources *r = resources_of(1);
	sennit_scheduler *s[3];
	struct mill       m[3];

	for (uint32_t i = 0; i < 3; i++) {
		s[i] = start_with(SHARING(r, .resources_priority = 1 + 7 * i));
		start_mill(&m[i], s[i], i == 1 ? turn_here : turn, 3);
	}
	for (int round = 0; round < 5; round++) {
		unsigned before[3];

		for (int i = 0; i < 3; i++)
			before[i] = atomic_load(&m[i].turns);
		for (int i = 0; i < 3; i++)
			assert_soon(atomic_load(&m[i].turns) >
				    before[i] + 1000);
	}
	for (int i = 0; i < 3; i++)
		stop_mill(&m[i]);
	for (int i = 0; i < 3; i++)
		end_scheduler(s[i]);
	give_back(r);
}

struct guest {
	sennit_event *go;
	pthread_t     thread;
	atomic_uint  *there, *went;
};

static void stay(void *argument)
{
	struct guest *g = argument;

	g->thread = pthread_self();
	atomic_fetch_add(g->there, 1);
	EXPECT(!sennit_event_wait(g->go));
	EXPECT(pthread_equal(g->thread, pthread_self()));
	atomic_fetch_add(g->went, 1);
}

/* Fibers of any scheduler, while the same scheduler and others use all CPUs. */
TEST_ALONE(fibers_on_workers_without_a_cpu_run_at_last)
{
	enum { GUESTS = 200 };
	sennit_resources *r = resources_of(1);
	sennit_scheduler *a = start_with(SHARING(r, ));
	sennit_scheduler *b = start_with(SHARING(r, ));
	struct mill       in_a, in_b;
	struct guest      g[GUESTS];
	sennit_event      go;
	atomic_uint       there = 0, went = 0;

	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	start_mill(&in_a, a, turn, 3);
	for (int i = 0; i < GUESTS; i++) {
		g[i] = (struct guest){ .go = &go,
				       .there = &there,
				       .went = &went };
		send(a, stay, &g[i]);
	}
	assert_soon(atomic_load(&there) == GUESTS);
	start_mill(&in_b, b, turn, 3);
	sennit_event_set(&go);
	assert_soon(atomic_load(&went) == GUESTS);
	stop_mill(&in_a);
	stop_mill(&in_b);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

TEST_ALONE(tasks_of_a_worker_that_has_yielded_are_stolen)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *a = start_with(SHARING(r, .resources_min = 1));
	sennit_scheduler *b = start_with(SHARING(r, .resources_min = 1));
	struct mill       m;
	struct grip       g;
	struct flood      f;

	start_mill(&m, a, turn, EACH);
	assert_soon(stats_of(a).active == 2);
	grip(&g, b, 1); /* permanently, so one of a's workers has no CPU */
	assert_soon(atomic_load(&g.there) == 1);
	flood(a, &f);
	sennit_wait_group_wait(&f.left);
	stop_mill(&m);
	let_go(&g);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

/* --- with everything else that workers do ------------------------------- */

static uint64_t parks_of(sennit_scheduler *s[])
{
	uint64_t parks = 0;

	for (int i = 0; i < MOST; i++)
		parks += stats_of(s[i]).parks;
	return parks;
}

TEST_ALONE(those_that_idle_hold_nothing_and_sleep)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *s[MOST];

	for (int i = 0; i < MOST; i++)
		s[i] = start_with(SHARING(r, .trim_ms = SENNIT_TRIM_NEVER));
	assert_soon(parks_of(s) == MOST * EACH); /* each worker once */
	assert_soon(!told_by(r).active && !told_by(r).waiting);
	sennit_sleep(20 * SENNIT_MILLISECOND);
	assert_int_equal(parks_of(s), MOST * EACH);
	for (int i = 0; i < MOST; i++)
		end_scheduler(s[i]);
	give_back(r);
}

TEST_ALONE(workers_that_go_and_come_hold_no_more)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *a = start_with(SHARING(r, .retire_ms = 1));
	sennit_scheduler *b = start_with(SHARING(r, .max_workers = 2 * EACH,
						 .start = SENNIT_START_LAZY));

	atomic_store(&most, 0);
	for (uint32_t round = 0; round < LOAD(30); round++) {
		struct flood f, g;

		flood(a, &f);
		flood(b, &g);
		assert_int_equal(
			sennit_scheduler_set_workers(b, 1 + round % (2 * EACH)),
			0);
		sennit_wait_group_wait(&f.left);
		sennit_wait_group_wait(&g.left);
		usleep(round % 3 * 1000);
	}
	assert_in_range(atomic_load(&most), 1, 2);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

TEST_ALONE(one_without_workers_may_take_part)
{
	sennit_resources *r = resources_of(1);
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE, .resources = r));
	atomic_uint ran = 0;

	assert_int_equal(sennit_thread_bind(s), 0);
	must_schedule(count_run, &ran);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&ran), 1);
	end_scheduler(s);
	give_back(r);
}
