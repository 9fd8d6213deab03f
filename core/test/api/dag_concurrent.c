/* SPDX-License-Identifier: Apache-2.0 */
/* dag_concurrent.c - nodes and runs of a DAG at the same time: runs of one
 * DAG, nodes that wait for each other, runs inside nodes, and reports of
 * waiting nodes. */
#include "dag_plan.h"
#include "sennit/dag.h"

/* --- what runs at the same time ----------------------------------------- */

static int perform_as_member(void *argument)
{
	perform(argument);
	return 0;
}

TEST_WITH_WORKERS(runs_of_one_dag_do_not_mix)
{
	uint64_t     random = seeded();
	struct plan  plan;
	struct show  s = { .w = w, .plan = &plan, .yields = 7 };
	sennit_group g;

	draw_at_random(&plan, 100, 3, &random);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < 50; i++)
		EXPECT(sennit_group_spawn(&g, perform_as_member, &s) == 0);
	perform(&s);
	EXPECT(sennit_group_wait(&g) == 0);
	close_plan(&plan);
}

struct meeting {
	sennit_event here[2];
};

static int meet_first(void *data, void *argument)
{
	struct meeting *m = data;

	sennit_event_set(&m->here[0]);
	return sennit_event_wait_until(&m->here[1], sennit_after(GIVE_UP));
}

static int meet_second(void *data, void *argument)
{
	struct meeting *m = data;

	sennit_event_set(&m->here[1]);
	return sennit_event_wait_until(&m->here[0], sennit_after(GIVE_UP));
}

static void must_add(sennit_dag_builder *b, sennit_dag_fn *run, uint32_t *node)
{
	EXPECT(sennit_dag_builder_add(b, run, NULL, NULL, node) == 0);
}

TEST_WITH_WORKERS(nodes_that_nothing_orders_may_wait_for_each_other)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	struct meeting     m;
	sennit_dag        *d;
	uint32_t           n[3];

	must_add(&b, NULL, &n[0]);
	must_add(&b, meet_first, &n[1]);
	must_add(&b, meet_second, &n[2]);
	must_order(&b, n[0], n[1]);
	must_order(&b, n[0], n[2]);
	d = must_build(&b);
	for (unsigned i = 0; i < 100; i++) {
		sennit_event_init(&m.here[0], SENNIT_EVENT_MANUAL);
		sennit_event_init(&m.here[1], SENNIT_EVENT_MANUAL);
		assert_int_equal(sennit_dag_run(d, &m, NULL, SENNIT_NEVER), 0);
	}
	sennit_dag_destroy(d);
}

/* --- runs inside nodes -------------------------------------------------- */

struct nest {
	sennit_dag  *dag;
	unsigned     depth;
	atomic_uint *ran;
};

static int run_inside(void *data, void *argument)
{
	const struct nest *outer = data;
	struct nest        inner = *outer;

	atomic_fetch_add(outer->ran, 1);
	if (!inner.depth--)
		return 0;
	return sennit_dag_run(inner.dag, &inner, NULL, SENNIT_NEVER);
}

TEST_WITH_WORKERS(a_node_may_run_the_same_dag)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	atomic_uint        ran = 0;
	struct nest        nest = { .depth = 5, .ran = &ran };
	uint32_t           n[3];

	for (unsigned i = 0; i < 3; i++)
		must_add(&b, run_inside, &n[i]);
	must_order(&b, n[0], n[1]);
	must_order(&b, n[0], n[2]);
	nest.dag = must_build(&b);
	assert_int_equal(sennit_dag_run(nest.dag, &nest, NULL, SENNIT_NEVER),
			 0);
	assert_int_equal(atomic_load(&ran), (729 * 3 - 3) / 2); /* 3 + .. 3^6 */
	sennit_dag_destroy(nest.dag);
}

/* --- in reports --------------------------------------------------------- */

static void note_waiting(void *context, const sennit_report_entry *e)
{
	if (e->task == (sennit_task_fn *)(void (*)(void))meet_first &&
	    e->state == SENNIT_REPORT_BLOCKED)
		*(bool *)context = true;
}

static bool is_shown(void)
{
	bool seen = false;

	sennit_report_visit(sennit_scheduler_current(), note_waiting, &seen);
	return seen;
}

static int look_at_report(void *data, void *argument)
{
	struct meeting *m = data;

	EXPECT(!sennit_event_wait(&m->here[0]));
	EXPECT_SOON(is_shown());
	sennit_event_set(&m->here[1]);
	return 0;
}

TEST_WITH_WORKERS(a_report_shows_the_nodes_that_wait)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	struct meeting     m;
	sennit_dag        *d;
	uint32_t           n[3];

	must_add(&b, NULL, &n[0]);
	must_add(&b, meet_first, &n[1]);
	must_add(&b, look_at_report, &n[2]);
	must_order(&b, n[0], n[1]);
	must_order(&b, n[0], n[2]);
	d = must_build(&b);
	sennit_event_init(&m.here[0], SENNIT_EVENT_MANUAL);
	sennit_event_init(&m.here[1], SENNIT_EVENT_MANUAL);
	assert_int_equal(sennit_dag_run(d, &m, NULL, SENNIT_NEVER), 0);
	sennit_dag_destroy(d);
}
