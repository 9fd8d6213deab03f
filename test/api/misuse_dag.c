/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_dag.c - misuse of DAGs. */
#include "misuse.h"
#include "sennit/dag.h"

#include <errno.h>

static int do_nothing(void *data, void *argument)
{
	(void)data;
	(void)argument;
	return 0;
}

static int return_one(void *data, void *argument)
{
	(void)data;
	(void)argument;
	return 1;
}

static sennit_dag *make_of(sennit_dag_fn *run)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           node;

	EXPECT(!sennit_dag_builder_add(&b, run, NULL, NULL, &node));
	EXPECT(!sennit_dag_build(&d, &b, NULL, 0));
	sennit_dag_builder_destroy(&b);
	return d;
}

static void commit_order_strangers(const struct offence *o)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node;

	(void)o;
	EXPECT(!sennit_dag_builder_add(&b, NULL, NULL, NULL, &node));
	(void)!sennit_dag_builder_order(&b, node, node + 1);
}

TEST_ALONE(ordering_what_is_no_node)
{
	assert_misuse(w, "sennit_dag_builder_order", commit_order_strangers);
}

static void commit_begin_nowhere(const struct offence *o)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d;

	(void)o;
	(void)!sennit_dag_build_from(&d, &b, 0, NULL, 0);
}

TEST_ALONE(beginning_with_what_is_no_node)
{
	assert_misuse(w, "sennit_dag_build_from", commit_begin_nowhere);
}

static void commit_run_unbound(const struct offence *o)
{
	sennit_dag *d = make_of(do_nothing);

	(void)o;
	sennit_unbind();
	(void)!sennit_dag_run(d, NULL, NULL, SENNIT_NEVER);
}

TEST_ALONE(running_with_no_scheduler)
{
	assert_misuse(w, "sennit_dag_run", commit_run_unbound);
}

static void commit_unknown_flags(const struct offence *o)
{
	const sennit_dag_options unknown = { .flags = 64 };

	(void)o;
	(void)!sennit_dag_run(make_of(do_nothing), NULL, &unknown,
			      SENNIT_NEVER);
}

TEST_ALONE(running_with_unknown_flags)
{
	assert_misuse(w, "sennit_dag_run", commit_unknown_flags);
}

static void commit_crooked_memory(const struct offence *o)
{
	static char              memory[4096] __attribute__((aligned(16)));
	const sennit_dag_options crooked = { .memory = memory + 4 };

	(void)o;
	(void)!sennit_dag_run(make_of(do_nothing), NULL, &crooked,
			      SENNIT_NEVER);
}

TEST_ALONE(running_in_memory_that_is_not_aligned)
{
	assert_misuse(w, "sennit_dag_run", commit_crooked_memory);
}

static void commit_positive_error(const struct offence *o)
{
	(void)o;
	(void)!sennit_dag_run(make_of(return_one), NULL, NULL, SENNIT_NEVER);
}

TEST_WITH_COUNTS(a_node_that_returns_a_positive_number)
{
	assert_misuse(w, "sennit_dag_run", commit_positive_error);
}

static void commit_spawn_elsewhere(const struct offence *o)
{
	const sennit_dag_options elsewhere = { .scheduler = o->s };
	sennit_group             g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	(void)!sennit_dag_spawn(&g, make_of(do_nothing), NULL, &elsewhere,
				SENNIT_NEVER);
}

TEST_ALONE(spawning_a_run_with_a_scheduler)
{
	assert_misuse(w, "sennit_dag_spawn", commit_spawn_elsewhere);
}

static int destroy(void *data, void *argument)
{
	(void)argument;
	sennit_dag_destroy(data);
	return 0;
}

static void commit_destroy_running(const struct offence *o)
{
	sennit_dag *d = make_of(destroy);

	(void)o;
	(void)!sennit_dag_run(d, d, NULL, SENNIT_NEVER);
}

TEST_WITH_COUNTS(destroying_a_dag_that_runs)
{
	assert_misuse(w, "sennit_dag_destroy", commit_destroy_running);
}

static void commit_destroy_spawned(const struct offence *o)
{
	sennit_dag  *d = make_of(do_nothing);
	sennit_group g;

	(void)o;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_dag_spawn(&g, d, NULL, NULL, SENNIT_NEVER));
	sennit_dag_destroy(d);
}

TEST_ALONE(destroying_a_dag_that_is_about_to_run)
{
	assert_misuse(w, "sennit_dag_destroy", commit_destroy_spawned);
}
