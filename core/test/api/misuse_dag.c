/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_dag.c - misuse of DAGs. */
#include "testing/misuse.h"
#include "sennit/dag.h"

#include <errno.h>

static int do_nothing(void *data, void *argument)
{
	return 0;
}

static int return_one(void *data, void *argument)
{
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

MISUSE_ALONE(ordering_what_is_no_node, "sennit_dag_builder_order")
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node;

	EXPECT(!sennit_dag_builder_add(&b, NULL, NULL, NULL, &node));
	(void)!sennit_dag_builder_order(&b, node, node + 1);
}

MISUSE_ALONE(beginning_with_what_is_no_node, "sennit_dag_build_from")
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d;

	(void)!sennit_dag_build_from(&d, &b, 0, NULL, 0);
}

static void run(sennit_dag *d, const sennit_dag_options *options)
{
	(void)!sennit_dag_run(d, NULL, options, SENNIT_NEVER);
}

static char memory[4096] __attribute__((aligned(16)));

MISUSE_ALONE_BY(running_with_no_scheduler, "sennit_dag_run",
		sennit_thread_unbind(), run(make_of(do_nothing), NULL));
MISUSE_ALONE_BY(running_with_unknown_flags, "sennit_dag_run",
		run(make_of(do_nothing),
		    &(sennit_dag_options){ .size = sizeof(sennit_dag_options),
					   .flags = 64 }));
MISUSE_ALONE_BY(running_in_memory_that_is_not_aligned, "sennit_dag_run",
		run(make_of(do_nothing),
		    &(sennit_dag_options){ .size = sizeof(sennit_dag_options),
					   .memory = memory + 4 }));
MISUSE_BY(a_node_that_returns_a_positive_number, "sennit_dag_run",
	  run(make_of(return_one), NULL));

MISUSE_ALONE(spawning_a_run_with_a_scheduler, "sennit_dag_spawn")
{
	const sennit_dag_options elsewhere = { .size = sizeof(elsewhere),
					       .scheduler = o->s };
	sennit_group             g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	(void)!sennit_dag_spawn(&g, make_of(do_nothing), NULL, &elsewhere,
				SENNIT_NEVER);
}

static int destroy(void *data, void *argument)
{
	sennit_dag_destroy(data);
	return 0;
}

MISUSE_TEST(destroying_a_dag_that_runs, "sennit_dag_destroy")
{
	sennit_dag *d = make_of(destroy);

	(void)!sennit_dag_run(d, d, NULL, SENNIT_NEVER);
}

MISUSE_ALONE(destroying_a_dag_that_is_about_to_run, "sennit_dag_destroy")
{
	sennit_dag  *d = make_of(do_nothing);
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_dag_spawn(&g, d, NULL, NULL, SENNIT_NEVER));
	sennit_dag_destroy(d);
}
