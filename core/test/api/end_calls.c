/* SPDX-License-Identifier: Apache-2.0 */
/* end_calls.c - calls on a scheduler that has ended, and of which a weak handle
 * keeps the memory. */
#include "testing/with_workers.h"

#include "testing/counting_allocator.h"
#include "sennit/dag.h"
#include "sennit/domain.h"
#include "sennit/end.h"
#include "sennit/parallel.h"
#include "sennit/resources.h"

#include <errno.h>

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

static void never(void *unused)
{
	EXPECT(false);
}

static int never_member(void *unused)
{
	never(unused);
	return 0;
}

static int never_node(void *data, void *unused)
{
	never(unused);
	return 0;
}

static int never_range(void *context, size_t begin, size_t end)
{
	never(context);
	return 0;
}

static int never_piece(void *context, void *accumulator, size_t begin,
		       size_t end)
{
	return never_range(context, begin, end);
}

static void never_join(void *context, void *left, const void *right)
{
	never(context);
}

static int compare(const void *left, const void *right, void *context)
{
	return *(const int *)left - *(const int *)right;
}

/* The calls that spawn members on a scheduler that they are given. */
static void try_groups(sennit_scheduler *s)
{
	static int                    numbers[10000];
	const sennit_parallel_options on = { .size = sizeof(on),
					     .scheduler = s };
	const sennit_dag_options      dag_on = { .size = sizeof(dag_on),
						 .scheduler = s };
	const sennit_reduction        how = { .accumulator_size = 8,
					      .accumulate = never_piece,
					      .combine = never_join };
	uint64_t                      sum = 0;
	sennit_dag_builder            b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag                   *d;
	uint32_t                      node;
	sennit_group                  g;

	assert_int_equal(
		sennit_parallel_for(0, 9, never_range, NULL, &on, SENNIT_NEVER),
		-ESHUTDOWN);
	assert_int_equal(sennit_parallel_reduce(0, 9, &how, NULL, &sum, &on,
						SENNIT_NEVER),
			 -ESHUTDOWN);
	for (int i = 0; i < 10000; i++)
		numbers[i] = -i;
	assert_int_equal(sennit_parallel_sort(numbers, 10000, sizeof(int),
					      compare, NULL, NULL, &on,
					      SENNIT_NEVER),
			 -ESHUTDOWN);
	assert_int_equal(
		sennit_dag_builder_add(&b, never_node, NULL, NULL, &node), 0);
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	assert_int_equal(sennit_dag_run(d, NULL, &dag_on, SENNIT_NEVER),
			 -ESHUTDOWN);
	sennit_dag_destroy(d);
	sennit_dag_builder_destroy(&b);
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, never_member, NULL),
			 -ESHUTDOWN);
	assert_int_equal(sennit_group_wait(&g), 0);
}

/* A caller with only a weak handle may find that the scheduler has ended. */
TEST_WITH_COUNTS(what_needs_a_living_scheduler_says_that_it_ended)
{
	const sennit_task tasks[] = { { .run = never }, { .run = never } };
	const uint64_t    big[32] = { 0 };
	const sennit_task copied = { .run = never,
				     .argument = (void *)big,
				     .copy_size = sizeof(big) };
	const sennit_resources_share share = { .size = sizeof(share),
					       .min = 0 };
	sennit_domain               *d = NULL;
	const sennit_config          c = { .size = sizeof(c),
					   .workers = w->workers,
					   .allocator = &counting };
	sennit_scheduler            *s = start_with(&c);
	sennit_weak_scheduler       *weak = sennit_scheduler_weak(s);

	end_scheduler(s);
	assert_int_equal(sennit_schedule_task_on(s, &tasks[0]), -ESHUTDOWN);
	assert_int_equal(sennit_schedule_task_on(s, &copied), -ESHUTDOWN);
	assert_int_equal(sennit_schedule_many_on(s, tasks, 2), -ESHUTDOWN);
	assert_int_equal(sennit_scheduler_set_workers(s, 1),
			 w->threads ? -ESHUTDOWN : -EINVAL);
	assert_int_equal(sennit_thread_bind(s), -ESHUTDOWN);
	assert_null(sennit_scheduler_current());
	assert_int_equal(sennit_domain_create(&d, s, NULL, NULL), -ESHUTDOWN);
	assert_null(d);
	assert_int_equal(sennit_scheduler_run(s, never, NULL), -ESHUTDOWN);
	assert_int_equal(sennit_resources_set_share(s, &share), -ESHUTDOWN);
	if (w->threads) /* else it is misuse by a thread that is not bound */
		try_groups(s);
	sennit_weak_scheduler_release(weak);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}
