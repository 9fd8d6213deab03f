/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.c - on which CPUs worker threads run, and the number of CPUs.
 */
#include "testing/with_workers.h"

#include <errno.h>

enum { WORKERS = 4 };

/* The CPUs that this process may use, and the mask to restore. */
static cpu_set_t allowed;
static uint32_t  cpus[CPU_SETSIZE];
static size_t    cpu_count;

static int learn_cpus(void)
{
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -1;
	for (uint32_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			cpus[cpu_count++] = i;
	return 0;
}

static cpu_set_t only(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return set;
}

/* What each worker found out about itself, in a task of its own. */
struct report {
	atomic_uint       in;
	sennit_wait_group done;
	cpu_set_t         mask[WORKERS];
};

static _Thread_local uint32_t worker_index;

static void note_index(void *context, uint32_t index)
{
	worker_index = index;
}

/* All workers must be in it at once, so that each fills in one entry. */
static void fill_report(void *argument)
{
	struct report *r = argument;
	sennit_time    give_up = sennit_after(GIVE_UP);

	atomic_fetch_add(&r->in, 1);
	while (atomic_load(&r->in) < WORKERS && sennit_now() < give_up)
		sched_yield();
	EXPECT(sched_getaffinity(0, sizeof(cpu_set_t),
				 &r->mask[worker_index]) == 0);
	sennit_wait_group_done(&r->done);
}

static struct report report_on(sennit_config config)
{
	struct report     r;
	const sennit_task t = { .run = fill_report, .argument = &r };
	sennit_scheduler *s;

	memset(&r, 0, sizeof(r));
	sennit_wait_group_init(&r.done, WORKERS);
	config.size = sizeof(config);
	config.workers = WORKERS;
	config.thread_init = note_index;
	s = start_with(&config);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	sennit_wait_group_wait(&r.done);
	end_scheduler(s);
	return r;
}

static void assert_mask(const struct report *r, unsigned worker, cpu_set_t set)
{
	if (!CPU_EQUAL(&r->mask[worker], &set))
		fail_msg("worker %u has another mask", worker);
}

TEST_ALONE(workers_inherit_the_creators_mask)
{
	const cpu_set_t one = only(cpus[cpu_count - 1]);
	struct report   r;

	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_INHERIT });
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_mask(&r, i, one);
}

TEST_ALONE(any_of_gives_all_workers_the_same_mask)
{
	const sennit_cpu_mask last = { &cpus[cpu_count - 1], 1 };
	const sennit_cpu_mask all = { cpus, cpu_count };
	struct report         r;

	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_ANY_OF,
				       .masks = &last,
				       .mask_count = 1 });
	for (unsigned i = 0; i < WORKERS; i++)
		assert_mask(&r, i, only(cpus[cpu_count - 1]));
	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_ANY_OF,
				       .masks = &all,
				       .mask_count = 1 });
	for (unsigned i = 0; i < WORKERS; i++)
		assert_mask(&r, i, allowed);
}

TEST_ALONE(one_of_gives_each_worker_one_cpu_in_turn)
{
	const sennit_cpu_mask all = { cpus, cpu_count };
	struct report         r;

	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_ONE_OF,
				       .masks = &all,
				       .mask_count = 1 });
	for (unsigned i = 0; i < WORKERS; i++)
		assert_mask(&r, i, only(cpus[i % cpu_count]));
}

/* Symptom: the default policy pinned to CPUs that the process may not use. */
TEST_ALONE(without_a_list_it_is_the_processs_cpus)
{
	const cpu_set_t one = only(cpus[cpu_count - 1]);
	struct report   any, each;

	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	any = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_ANY_OF });
	each = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_ONE_OF });
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	for (unsigned i = 0; i < WORKERS; i++) {
		assert_mask(&any, i, one);
		assert_mask(&each, i, one);
	}
}

TEST_ALONE(masks_are_dealt_out_in_turn)
{
	const sennit_cpu_mask masks[] = { { &cpus[cpu_count - 1], 1 },
					  { cpus, cpu_count },
					  { &cpus[0], 1 } };
	struct report         r;

	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_MASKS,
				       .masks = masks,
				       .mask_count = 3 });
	assert_mask(&r, 0, only(cpus[cpu_count - 1]));
	assert_mask(&r, 1, allowed);
	assert_mask(&r, 2, only(cpus[0]));
	assert_mask(&r, 3, only(cpus[cpu_count - 1]));
}

/* The second CPU is nearer to the third than the first is. */
static bool swapped_place(void *unused, uint32_t cpu, sennit_cpu_place *out)
{
	*out = (sennit_cpu_place){ .node = cpu == cpus[0], .core = cpu };
	return true;
}

/* With a worker for each CPU these are parts of one CPU, in the order of their
 * places: the first CPU is on the last node. */
TEST_ALONE(parts_are_disjoint_and_in_the_order_of_places)
{
	const unsigned n = cpu_count < WORKERS ? (unsigned)cpu_count : WORKERS;
	struct report  r;

	if (cpu_count < 2)
		skip();
	r = report_on((sennit_config){ .affinity = SENNIT_AFFINITY_DISJOINT,
				       .cpu_place = swapped_place,
				       .masks = &(sennit_cpu_mask){ cpus, n },
				       .mask_count = 1 });
	for (unsigned i = 0; i < WORKERS; i++)
		assert_mask(&r, i, only(cpus[(i % n + 1) % n]));
}

static void note_mask(void *mask)
{
	EXPECT(sched_getaffinity(0, sizeof(cpu_set_t), mask) == 0);
}

TEST_ALONE(a_part_has_several_cpus)
{
	sennit_scheduler *s;
	cpu_set_t         mask;
	const sennit_task t = { .run = note_mask, .argument = &mask };

	CPU_ZERO(&mask);
	s = start_with(SENNIT_CONFIG(.workers = 1,
				     .affinity = SENNIT_AFFINITY_DISJOINT));
	assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	end_scheduler(s);
	assert_true(CPU_EQUAL(&mask, &allowed));
}

TEST_ALONE(without_workers_there_are_no_parts)
{
	end_scheduler(start_with(
		SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE,
			      .affinity = SENNIT_AFFINITY_DISJOINT)));
}

static int create_on(uint32_t cpu, uint32_t affinity)
{
	const sennit_cpu_mask mask = { &cpu, 1 };
	sennit_scheduler     *s = NULL;
	int                   err;

	err = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = WORKERS, .affinity = affinity,
				  .masks = &mask, .mask_count = 1));
	assert_null(s);
	return err;
}

TEST_ALONE(a_cpu_that_does_not_exist_is_an_error)
{
	assert_true(create_on(1023, SENNIT_AFFINITY_ANY_OF) < 0);
	assert_true(create_on(1023, SENNIT_AFFINITY_ONE_OF) < 0);
	assert_true(create_on(1023, SENNIT_AFFINITY_MASKS) < 0);
	assert_true(create_on(1023, SENNIT_AFFINITY_DISJOINT) < 0);
	assert_true(create_on(UINT32_MAX, SENNIT_AFFINITY_ANY_OF) < 0);
	assert_true(create_on(1000000, SENNIT_AFFINITY_ONE_OF) < 0);
}

TEST_ALONE(the_cpu_count_respects_the_mask)
{
	const cpu_set_t one = only(cpus[0]);

	assert_in_range(sennit_cpu_count(), 1, cpu_count);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(sennit_cpu_count(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

TEST_ALONE(by_default_there_is_a_worker_per_cpu)
{
	sennit_scheduler *s = start_with(NULL);

	assert_int_equal(sennit_scheduler_workers(s), sennit_cpu_count());
	end_scheduler(s);
}

BEFORE_ALL(learn_cpus);
