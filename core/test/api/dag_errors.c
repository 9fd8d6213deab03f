/* SPDX-License-Identifier: Apache-2.0 */
/* dag_errors.c - nodes that fail, runs that are late, and runs without
 * memory. */
#include "dag_plan.h"
#include "testing/counting_allocator.h"
#include "sennit/dag.h"

/* --- errors ------------------------------------------------------------- */

TEST_WITH_WORKERS(what_comes_after_a_failure_does_not_run)
{
	static const struct cast cast[] = {
		{ mark, { -1, -1 } },
		{ give_up, { 0, -1 } },
		{ mark, { 1, -1 } },
		{ mark, { 2, 0 } },
	};
	sennit_dag  *d = rehearse(cast, 4);
	struct scene s;

	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, SENNIT_NEVER), -EIO);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

TEST_WITH_WORKERS(a_failure_ends_the_waits_of_others)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ fail_late, { -1, -1 } },
		{ mark, { 0, -1 } },
	};
	sennit_dag  *d = rehearse(cast, 3);
	struct scene s;

	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, SENNIT_NEVER), -EIO);
	assert_int_equal(s.seen, -ECANCELED);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

/*	0 -> 1 (fails) -> 2 -> 3,  0 -> 4 -> 5,  3, 5 -> 6 */
TEST_WITH_WORKERS(told_to_keep_going_the_others_run)
{
	static const struct cast cast[] = {
		{ mark, { -1, -1 } }, { give_up, { 0, -1 } },
		{ mark, { 1, -1 } },  { mark, { 2, -1 } },
		{ mark, { 0, -1 } },  { mark, { 4, -1 } },
		{ mark, { 3, 5 } },
	};
	const sennit_dag_options o = { .size = sizeof(o),
				       .flags = SENNIT_GROUP_KEEP_GOING };
	sennit_dag              *d = rehearse(cast, 7);
	struct scene             s;

	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, &o, SENNIT_NEVER), -EIO);
	assert_int_equal(atomic_load(&s.marks), 1 | 2 | 16 | 32);
	sennit_dag_destroy(d);
}

/* --- deadlines ---------------------------------------------------------- */

TEST_WITH_WORKERS(a_run_that_is_late_begins_nothing)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;

	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, 0), -ETIMEDOUT);
	assert_int_equal(sennit_dag_run(d, &s, NULL, 1), -ETIMEDOUT);
	assert_int_equal(atomic_load(&s.marks), 0);
	assert_int_equal(sennit_dag_run(d, &s, NULL, sennit_after(GIVE_UP)), 0);
	assert_int_equal(atomic_load(&s.marks), 1);
	sennit_dag_destroy(d);
}

TEST_WITH_WORKERS(the_deadline_ends_waits_of_nodes)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ mark, { 0, -1 } },
	};
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);
	sennit_dag       *d = rehearse(cast, 2);
	struct scene      s;

	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, soon), -ETIMEDOUT);
	assert_true(sennit_now() >= soon);
	assert_true(!(atomic_load(&s.marks) & 2));
	sennit_dag_destroy(d);
}

/* --- no memory for tasks ------------------------------------------------ */

static struct counting_allocator tally;

static int dry_up(void *data, void *argument)
{
	atomic_store(&tally.dry, true);
	return 0;
}

struct drought {
	sennit_dag  *dag;
	struct scene scene;
};

static void run_dry(void *argument)
{
	struct drought *d = argument;

	EXPECT(sennit_dag_run(d->dag, d, NULL, SENNIT_NEVER) == 0);
	atomic_store(&tally.dry, false);
}

static int count(void *data, void *argument)
{
	struct drought *d = data;

	atomic_fetch_add(&d->scene.marks, 1);
	return 0;
}

enum { WIDTH = 3000 };

/* One node, then WIDTH nodes with one successor each, then one node. */
static sennit_dag *make_wide(void)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           first, node, next, last;

	EXPECT(!sennit_dag_builder_add(&b, dry_up, NULL, NULL, &first));
	EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &last));
	for (unsigned i = 0; i < WIDTH; i++) {
		EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &node));
		EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &next));
		EXPECT(!sennit_dag_builder_order(&b, first, node));
		EXPECT(!sennit_dag_builder_order(&b, node, next));
		EXPECT(!sennit_dag_builder_order(&b, next, last));
	}
	EXPECT(!sennit_dag_build(&d, &b, NULL, 0));
	sennit_dag_builder_destroy(&b);
	return d;
}

TEST_WITH_COUNTS(without_memory_for_tasks_all_nodes_run)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(&tally);
	struct drought         d = { .dag = make_wide() };
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));

	assert_int_equal(sennit_thread_bind(s), 0);
	if (w->threads)
		in_a_task(run_dry, &d);
	else
		run_dry(&d);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&d.scene.marks), 2 * WIDTH + 1);
	sennit_dag_destroy(d.dag);
}
