/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - the order that runs of a DAG promise, wherever they are started.
 * dag_concurrent.c has nodes and runs at the same time. */
#include "dag_plan.h"
#include "sennit/dag.h"

/* --- one run, in each place --------------------------------------------- */

/* On the bound thread, in a task, and on an unbound thread if a group can be
 * opened there. */
static void everywhere(struct world *w, struct plan *plan)
{
	struct show s = { .w = w, .plan = plan };

	for (s.yields = 0; s.yields < 6; s.yields += 5) {
		perform(&s);
		in_a_task(perform, &s);
		if (w->threads)
			in_a_thread(perform, &s);
	}
}

TEST_WITH_WORKERS(each_node_runs_once_and_in_order)
{
	uint64_t    random = seeded();
	struct plan plan;

	for (unsigned i = 0; i < LOAD(60); i++) {
		draw_at_random(&plan, random_below(&random, 300),
			       1 + random_below(&random, 4), &random);
		everywhere(w, &plan);
		close_plan(&plan);
	}
}

/* A case that runs a plan of one shape. */
#define TEST_SHAPE(claim, draw_it)             \
	TEST_WITH_WORKERS(claim)               \
	{                                      \
		uint64_t    random = seeded(); \
		struct plan plan;              \
                                               \
		draw_it;                       \
		everywhere(w, &plan);          \
		close_plan(&plan);             \
	}

TEST_SHAPE(a_thousand_nodes_run_in_order,
	   draw_at_random(&plan, 1000, 8, &random))
TEST_SHAPE(a_dag_of_nothing_runs, draw_at_random(&plan, 0, 1, &random))
TEST_SHAPE(diamonds_run_in_order, draw_fan(&plan, 4, &random))
TEST_SHAPE(many_come_after_one_and_before_another,
	   draw_fan(&plan, LOAD(10000) + 2, &random))
TEST_SHAPE(a_long_chain_needs_no_deep_stack,
	   draw_chain(&plan, LOAD(100000), &random))

/* --- turns of others ---------------------------------------------------- */

struct turns {
	atomic_uint taken;
	atomic_bool over;
	unsigned    nodes, seen;
};

static void take_turns(void *argument)
{
	struct turns *t = argument;

	while (!atomic_load(&t->over)) {
		atomic_fetch_add(&t->taken, 1);
		sennit_yield();
	}
	atomic_store(&t->over, false);
}

static int look_for_turns(void *data, void *argument)
{
	struct turns  *t = data;
	const unsigned taken = atomic_load(&t->taken);

	t->nodes++;
	t->seen += taken != *(unsigned *)argument;
	*(unsigned *)argument = taken;
	return 0;
}

enum { LINKS = 1000 };

static sennit_dag *make_links(unsigned *last_taken)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node;

	for (unsigned i = 0; i < LINKS; i++) {
		EXPECT(sennit_dag_builder_add(&b, look_for_turns, last_taken,
					      NULL, &node) == 0);
		if (i)
			must_order(&b, node - 1, node);
	}
	return must_build(&b);
}

static void run_links(void *argument)
{
	struct turns *t = argument;
	unsigned      last = 0;
	sennit_dag   *d = make_links(&last);

	must_schedule_here(take_turns, t);
	EXPECT_SOON(atomic_load(&t->taken));
	EXPECT(sennit_dag_run(d, t, NULL, SENNIT_NEVER) == 0);
	sennit_dag_destroy(d);
	atomic_store(&t->over, true);
	EXPECT_SOON(!atomic_load(&t->over));
}

TEST_IN_WORLDS(a_chain_lets_ready_fibers_go_first,
	       WITHOUT(a_chain_lets_ready_fibers_go_first, open_world,
		       close_world),
	       WITH_ONE(a_chain_lets_ready_fibers_go_first, open_world,
			close_world))
{
	struct turns t = { .nodes = 0 };

	in_a_task(run_links, &t);
	assert_int_equal(t.nodes, LINKS);
	assert_true(t.seen > LINKS / 2);
}

/* --- beginning with one node -------------------------------------------- */

static int add_bit(void *data, void *argument)
{
	atomic_fetch_or((atomic_uint *)data, *(const unsigned *)argument);
	return 0;
}

/*	0 -> 1 -> 2    3 -> 4    2, 4 -> 5 */
TEST_WITH_WORKERS(only_what_the_root_leads_to_runs)
{
	static const unsigned bits[] = { 1, 2, 4, 8, 16, 32 };
	sennit_dag_builder    b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag           *d = NULL;
	atomic_uint           ran;
	uint32_t              node;

	for (unsigned i = 0; i < 6; i++)
		EXPECT(sennit_dag_builder_add(&b, add_bit,
					      (void *)(uintptr_t)&bits[i], NULL,
					      &node) == 0);
	must_order(&b, 0, 1);
	must_order(&b, 1, 2);
	must_order(&b, 3, 4);
	must_order(&b, 2, 5);
	must_order(&b, 4, 5);
	assert_int_equal(sennit_dag_build_from(&d, &b, 0, NULL, 0), 0);
	atomic_store(&ran, 0);
	assert_int_equal(sennit_dag_run(d, &ran, NULL, SENNIT_NEVER), 0);
	assert_int_equal(atomic_load(&ran), 1 | 2 | 4);
	sennit_dag_destroy(d);
	assert_int_equal(sennit_dag_build_from(&d, &b, 1, NULL, 0), 0);
	atomic_store(&ran, 0);
	assert_int_equal(sennit_dag_run(d, &ran, NULL, SENNIT_NEVER), 0);
	assert_int_equal(atomic_load(&ran), 2 | 4);
	sennit_dag_destroy(d);
	sennit_dag_builder_destroy(&b);
}

/* --- local values ------------------------------------------------------- */

static sennit_local_key key;

static void count_end(void *value)
{
	atomic_fetch_add((atomic_uint *)value, 1);
}

/* *data counts values that have ended. *argument is the count before this
 * node. */
static int set_local(void *data, void *argument)
{
	EXPECT(!sennit_local_get(key));
	EXPECT(atomic_load((atomic_uint *)data) == *(unsigned *)argument);
	EXPECT(sennit_local_set(key, data) == 0);
	return 0;
}

TEST_WITH_WORKERS(local_values_end_with_their_node)
{
	static unsigned    before[] = { 0, 1, 2, 3 };
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	atomic_uint        ended = 0;
	sennit_dag        *d;
	uint32_t           node;

	assert_int_equal(sennit_local_key_create(&key, count_end), 0);
	for (unsigned i = 0; i < 4; i++) {
		EXPECT(!sennit_dag_builder_add(&b, set_local, &before[i], NULL,
					       &node));
		if (i)
			must_order(&b, node - 1, node);
	}
	d = must_build(&b);
	assert_int_equal(sennit_dag_run(d, &ended, NULL, SENNIT_NEVER), 0);
	assert_int_equal(atomic_load(&ended), 4);
	sennit_dag_destroy(d);
	sennit_local_key_destroy(key);
}
