/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - DAGs of almost empty nodes that run repeatedly: the cost of a node.
 * One more row measures the cost of a build.
 */
#include "harness.h"
#include "sennit/dag.h"

#define CHAIN   1000
#define FAN     1000
#define NODES   1000
#define MOST    4 /* predecessors of a node of the random graph */
#define AT_ONCE 16
#define DIAMOND 4

static int do_nothing(void *data, void *argument)
{
	(void)data;
	(void)argument;
	return 0;
}

static void add_nodes(sennit_dag_builder *b, uint32_t n)
{
	uint32_t node;

	while (n--)
		bench_check(!sennit_dag_builder_add(b, do_nothing, NULL, NULL,
						    &node),
			    "dag: no memory");
}

static void order(sennit_dag_builder *b, uint32_t before, uint32_t after)
{
	bench_check(!sennit_dag_builder_order(b, before, after),
		    "dag: no memory");
}

static sennit_dag *build(sennit_dag_builder *b)
{
	sennit_dag *d = NULL;

	bench_check(!sennit_dag_build(&d, b, NULL, 0), "dag: not built");
	sennit_dag_builder_destroy(b);
	return d;
}

static sennit_dag *build_chain(void)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;

	add_nodes(&b, CHAIN);
	for (uint32_t i = 1; i < CHAIN; i++)
		order(&b, i - 1, i);
	return build(&b);
}

static sennit_dag *build_fan(uint32_t n)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;

	add_nodes(&b, n);
	for (uint32_t i = 1; i < n - 1; i++) {
		order(&b, 0, i);
		order(&b, i, n - 1);
	}
	return build(&b);
}

static sennit_dag *build_random(void)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           random = 1;

	add_nodes(&b, NODES);
	for (uint32_t i = 1; i < NODES; i++)
		for (uint32_t k = 0; k < MOST; k++) {
			random = random * 1664525 + 1013904223;
			order(&b, (random >> 8) % i, i);
		}
	return build(&b);
}

/* Run *d, which has `nodes` nodes, until n nodes have run. */
static void run_often(struct bench_run *r, sennit_dag *d, uint32_t nodes)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i += nodes)
		bench_check(!sennit_dag_run(d, NULL, NULL, SENNIT_NEVER),
			    "dag: a run failed");
	bench_elapsed(r, begin);
	sennit_dag_destroy(d);
}

static void run_chain(struct bench_run *r)
{
	run_often(r, build_chain(), CHAIN);
}

static void run_fan(struct bench_run *r)
{
	run_often(r, build_fan(FAN), FAN);
}

static void run_diamond(struct bench_run *r)
{
	run_often(r, build_fan(DIAMOND), DIAMOND);
}

static void run_random(struct bench_run *r)
{
	run_often(r, build_random(), NODES);
}

static void run_at_once(struct bench_run *r)
{
	sennit_dag *d = build_random();
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i += (uint64_t)NODES * AT_ONCE) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		for (int k = 0; k < AT_ONCE; k++)
			bench_check(!sennit_dag_spawn(&g, d, NULL, NULL,
						      SENNIT_NEVER),
				    "dag: no run");
		bench_check(!sennit_group_wait(&g), "dag: a run failed");
	}
	bench_elapsed(r, begin);
	sennit_dag_destroy(d);
}

static void build_often(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i += NODES)
		sennit_dag_destroy(build_random());
	bench_elapsed(r, begin);
}

const struct bench_row bench_dag[] = {
	BENCH_ROW("dag/chain-1000", 10000000, BENCH_EACH, run_chain),
	BENCH_ROW("dag/fan-1000", 5000000, BENCH_EACH, run_fan),
	BENCH_ROW("dag/diamond", 4000000, BENCH_EACH, run_diamond),
	BENCH_ROW("dag/random-1000", 5000000, BENCH_EACH, run_random),
	BENCH_ROW("dag/random-1000-16-runs", 16 * 500000, BENCH_EACH,
		  run_at_once),
	{ .names = { "dag/build-1000" },
	  .n = 1000000,
	  .workers = BENCH_NONE,
	  .place = BENCH_OUTSIDE,
	  .run = build_often },
	{ .run = NULL },
};
