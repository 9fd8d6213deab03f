/* SPDX-License-Identifier: Apache-2.0 */
/* dag_show.h - one run of a planned DAG, and builders that must not fail. */
#ifndef SN_TEST_DAG_SHOW_H
#define SN_TEST_DAG_SHOW_H

#include "dag_plan.h"

static inline uint64_t seeded(void)
{
	static atomic_uint streams;

	return random_stream(atomic_fetch_add(&streams, 1));
}

struct show {
	struct world *w;
	struct plan  *plan;
	unsigned      yields;
};

static inline void perform(void *argument)
{
	const struct show       *s = argument;
	const sennit_dag_options on = { .scheduler = s->w->s };
	struct play              p;

	open_play(&p, s->plan);
	p.yields = s->yields;
	EXPECT(sennit_dag_run(s->plan->dag, &p, &on, SENNIT_NEVER) == 0);
	EXPECT(atomic_load(&p.ran) == s->plan->n);
	close_play(&p);
}

static inline void must_order(sennit_dag_builder *b, uint32_t before,
			      uint32_t after)
{
	EXPECT(sennit_dag_builder_order(b, before, after) == 0);
}

static inline sennit_dag *must_build(sennit_dag_builder *b)
{
	sennit_dag *d = NULL;

	EXPECT(sennit_dag_build(&d, b, NULL, 0) == 0);
	sennit_dag_builder_destroy(b);
	return d;
}

#endif
