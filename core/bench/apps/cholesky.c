/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky.c - factors a sparse matrix by a DAG of its steps, which each run
 * builds anew.
 */
#include "cholesky.h"
#include "sennit/dag.h"

static int step(void *unused, void *argument)
{
	(void)unused;
	chol_do(argument);
	return 0;
}

static void add(sennit_dag_builder *b, uint32_t i)
{
	struct chol_step *s = &chol_steps[i];
	uint32_t          node;
	int               err = sennit_dag_builder_add(b, step, s, NULL, &node);

	for (unsigned k = 0; k < 3 && !err; k++)
		if (s->before[k] != CHOL_NONE)
			err = sennit_dag_builder_order(b, s->before[k], i);
	bench_check(!err, "cholesky: no memory");
}

static void dag(struct bench_run *r)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	sennit_time        begin;

	chol_plan();
	chol_make_data();
	begin = sennit_now();
	for (uint32_t i = 0; i < CHOL_STEPS; i++)
		add(&b, i);
	bench_check(!sennit_dag_build(&d, &b, NULL, 0), "cholesky: not built");
	bench_check(!sennit_dag_run(d, NULL, NULL, SENNIT_NEVER),
		    "cholesky: an error");
	bench_elapsed(r, begin);
	sennit_dag_destroy(d);
	sennit_dag_builder_destroy(&b);
	chol_check();
}

static void serial(struct bench_run *r)
{
	sennit_time begin;

	chol_plan();
	chol_make_data();
	begin = sennit_now();
	for (uint32_t i = 0; i < CHOL_STEPS; i++)
		chol_do(&chol_steps[i]);
	bench_elapsed(r, begin);
	chol_check();
}

const struct bench_row bench_cholesky[] = {
	{ .names = { "R5-cholesky/serial" }, .n = CHOL_STEPS, .run = serial },
	BENCH_ROW("R5-cholesky/dag", CHOL_STEPS, BENCH_EACH, dag),
	{ .run = NULL },
};
