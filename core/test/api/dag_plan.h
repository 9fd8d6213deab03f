/* SPDX-License-Identifier: Apache-2.0 */
/* dag_plan.h - DAGs whose nodes record when they ran, and how they
 * are shown. */
#ifndef SN_TEST_DAG_PLAN_H
#define SN_TEST_DAG_PLAN_H

#include "testing/random.h"
#include "testing/with_workers.h"
#include "sennit/dag.h"

#include <errno.h>

/* --- dag plan ---------------------------------------------------------- */

/* Graphs whose nodes check the order in which they run.
 *
 *	plan     steps 0..n-1, each with its predecessors; the nodes of the DAG
 *	         have other numbers, chosen at random
 *	play     one run: which steps have begun and ended
 *
 * `made` is plain memory: ThreadSanitizer checks that a node's writes are
 * visible to its successors. */

struct plan {
	unsigned     n;
	struct step *steps;
	unsigned    *before; /* steps, for all nodes in sequence */
	sennit_dag  *dag;
};

struct step {
	const struct plan *plan;
	unsigned           number, begin, end; /* range in before[] */
	uint32_t           node;
};

struct play {
	atomic_uchar *began, *ended;
	unsigned     *made;
	unsigned      yields; /* one step in this many yields; 0: none */
	unsigned      fails;  /* one step in this many fails; 0: none */
	atomic_uint   ran;
};

static inline void *must_have(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		abort();
	return memory;
}

/* --- plays -------------------------------------------------------------- */

static inline void open_play(struct play *p, const struct plan *plan)
{
	*p = (struct play){ .yields = 0 };
	p->began = must_have(plan->n, sizeof(*p->began));
	p->ended = must_have(plan->n, sizeof(*p->ended));
	p->made = must_have(plan->n, sizeof(*p->made));
}

static inline void close_play(struct play *p)
{
	free(p->began);
	free(p->ended);
	free(p->made);
}

static inline void check_before(const struct play *p, const struct step *s)
{
	for (unsigned i = s->begin; i < s->end; i++) {
		const unsigned b = s->plan->before[i];

		EXPECT(atomic_load_explicit(&p->ended[b],
					    memory_order_relaxed));
		EXPECT(p->made[b] == b + 1);
	}
}

static inline int take_step(void *data, void *argument)
{
	const struct step *s = argument;
	struct play       *p = data;

	check_before(p, s);
	EXPECT(!atomic_exchange_explicit(&p->began[s->number], 1,
					 memory_order_relaxed));
	if (p->yields && s->number % p->yields == 0)
		sennit_yield();
	atomic_fetch_add_explicit(&p->ran, 1, memory_order_relaxed);
	if (p->fails && (s->number + 1) % p->fails == 0)
		return -EIO;
	p->made[s->number] = s->number + 1;
	atomic_store_explicit(&p->ended[s->number], 1, memory_order_relaxed);
	return 0;
}

/* --- plans -------------------------------------------------------------- */

static inline void open_plan(struct plan *plan, unsigned n, unsigned edges)
{
	*plan = (struct plan){ .n = n };
	plan->steps = must_have(n, sizeof(*plan->steps));
	plan->before = must_have(edges, sizeof(*plan->before));
}

static inline void close_plan(struct plan *plan)
{
	sennit_dag_destroy(plan->dag);
	free(plan->before);
	free(plan->steps);
}

/* The steps are added to the builder in a different order. */
static inline void add_steps(struct plan *plan, sennit_dag_builder *b,
			     uint64_t *random)
{
	unsigned *order = must_have(plan->n, sizeof(*order));

	for (unsigned i = 0; i < plan->n; i++) {
		const unsigned k = random_below(random, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (unsigned i = 0; i < plan->n; i++) {
		struct step *s = &plan->steps[order[i]];

		s->plan = plan;
		s->number = order[i];
		EXPECT(sennit_dag_builder_add(b, take_step, s, NULL,
					      &s->node) == 0);
	}
	free(order);
}

/* Build the DAG from the steps' begin, end and before[]. */
static inline void draw(struct plan *plan, uint64_t *random)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;

	add_steps(plan, &b, random);
	for (unsigned i = 0; i < plan->n; i++)
		for (unsigned k = plan->steps[i].begin; k < plan->steps[i].end;
		     k++)
			EXPECT(sennit_dag_builder_order(
				       &b, plan->steps[plan->before[k]].node,
				       plan->steps[i].node) == 0);
	EXPECT(sennit_dag_build(&plan->dag, &b, NULL, 0) == 0);
	sennit_dag_builder_destroy(&b);
}

/* n steps, each with up to `most` predecessors, some of them given twice. */
static inline void draw_at_random(struct plan *plan, unsigned n, unsigned most,
				  uint64_t *random)
{
	unsigned edges = 0;

	open_plan(plan, n, n * most);
	for (unsigned i = 0; i < n; i++) {
		plan->steps[i].begin = edges;
		for (unsigned k = i ? random_below(random, most + 1) : 0; k;
		     k--)
			plan->before[edges++] = random_below(random, i);
		plan->steps[i].end = edges;
	}
	draw(plan, random);
}

/* One step, then n - 2 parallel steps, then one step. */
static inline void draw_fan(struct plan *plan, unsigned n, uint64_t *random)
{
	open_plan(plan, n, 2 * n);
	for (unsigned i = 1; i + 1 < n; i++) {
		plan->steps[i].begin = i - 1;
		plan->steps[i].end = i;
		plan->before[i - 1] = 0;
		plan->before[n - 2 + i - 1] = i;
	}
	plan->steps[n - 1].begin = n - 2;
	plan->steps[n - 1].end = 2 * (n - 2);
	draw(plan, random);
}

/* A chain of n steps. */
static inline void draw_chain(struct plan *plan, unsigned n, uint64_t *random)
{
	open_plan(plan, n, n);
	for (unsigned i = 1; i < n; i++) {
		plan->before[i] = i - 1;
		plan->steps[i].begin = i;
		plan->steps[i].end = i + 1;
	}
	draw(plan, random);
}

/* --- dag scene --------------------------------------------------------- */

/* A small DAG whose nodes fail, wait or cancel, and what they
 * recorded. */

/* The data of a run. */
struct scene {
	sennit_event  never; /* never set */
	sennit_event  begun;
	sennit_group *outer;
	atomic_uint   marks;
	int           seen; /* result seen by wait_in_vain */
};

static inline void open_scene(struct scene *s)
{
	*s = (struct scene){ .seen = 0 };
	sennit_event_init(&s->never, SENNIT_EVENT_MANUAL);
	sennit_event_init(&s->begun, SENNIT_EVENT_MANUAL);
}

static inline int mark(void *data, void *argument)
{
	atomic_fetch_or(&((struct scene *)data)->marks,
			(unsigned)(uintptr_t)argument);
	return 0;
}

static inline int give_up(void *data, void *argument)
{
	(void)mark(data, argument);
	return -EIO;
}

static inline int wait_in_vain(void *data, void *argument)
{
	struct scene *s = data;

	(void)mark(data, argument);
	sennit_event_set(&s->begun);
	s->seen = sennit_event_wait_until(&s->never, sennit_after(GIVE_UP));
	return s->seen;
}

static inline int fail_late(void *data, void *argument)
{
	struct scene *s = data;

	EXPECT(!sennit_event_wait(&s->begun));
	return give_up(data, argument);
}

/* Nodes 0, 1, 2 with these functions and the order given by `after`. Each node
 * sets bit 1 << its number. */
struct cast {
	sennit_dag_fn *run;
	int            after[2]; /* node numbers; negative: none */
};

static inline sennit_dag *rehearse(const struct cast *cast, unsigned n)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           node;

	for (uintptr_t i = 0; i < n; i++) {
		void *bit = (void *)((uintptr_t)1 << i);

		assert_int_equal(sennit_dag_builder_add(&b, cast[i].run, bit,
							NULL, &node),
				 0);
		for (int k = 0; k < 2; k++)
			if (cast[i].after[k] >= 0)
				assert_int_equal(
					sennit_dag_builder_order(
						&b, (uint32_t)cast[i].after[k],
						node),
					0);
	}
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	return d;
}

/* --- dag show ---------------------------------------------------------- */

/* One run of a planned DAG, and builders that must not fail. */

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
	const sennit_dag_options on = { .size = sizeof(on),
					.scheduler = s->w->s };
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
