/* SPDX-License-Identifier: Apache-2.0 */
/* wait_edges.h - the edges of a wait-for graph, for tests to compare. */
#ifndef SN_TEST_WAIT_EDGES_H
#define SN_TEST_WAIT_EDGES_H

#include "with_workers.h"

enum { MAX_EDGES = 16 };

struct edges {
	unsigned count;
	unsigned in_cycles;
	unsigned cycles;
	uint32_t length;
	bool     chained; /* the edges of each deadlock form a circle */
	sennit_report_entry waiters[MAX_EDGES], holders[MAX_EDGES];
	bool                outside[MAX_EDGES];
};

static inline bool is_same(const sennit_report_entry *a,
			   const sennit_report_entry *b)
{
	return a->thread == b->thread && a->fiber == b->fiber;
}

static inline void add_edge(void *context, const sennit_wait_edge *edge)
{
	struct edges *e = context;
	unsigned      i = e->count;

	EXPECT(edge->size == sizeof(*edge));
	EXPECT(edge->waiter->state == SENNIT_REPORT_BLOCKED);
	EXPECT(!edge->cycle == !edge->length);
	if (i == MAX_EDGES)
		return;
	e->count++;
	e->waiters[i] = *edge->waiter;
	e->outside[i] = !edge->holder;
	if (edge->holder)
		e->holders[i] = *edge->holder;
	if (!edge->cycle)
		return;
	EXPECT(e->in_cycles == i);
	e->in_cycles++;
	e->length = edge->length;
	if (edge->cycle != e->cycles)
		e->cycles++;
	else if (!is_same(&e->holders[i - 1], &e->waiters[i]))
		e->chained = false;
	EXPECT(edge->cycle == e->cycles);
}

static inline struct edges look(sennit_scheduler *s)
{
	struct edges e = { .chained = true };

	EXPECT(!sennit_scheduler_wait_graph(s, add_edge, &e));
	if (e.cycles == 1)
		e.chained &= is_same(&e.holders[e.in_cycles - 1], e.waiters);
	return e;
}

static inline bool shows_cycle(sennit_scheduler *s, uint32_t length,
			       struct edges *e)
{
	*e = look(s);
	return e->cycles == 1 && e->length == length;
}

static inline bool has_edge(const struct edges *e, sennit_task_fn *waiter,
			    sennit_task_fn *holder, uint32_t waits_for,
			    const void *object)
{
	for (unsigned i = 0; i < e->count; i++)
		if (e->waiters[i].task == waiter && !e->outside[i] &&
		    e->holders[i].task == holder &&
		    e->waiters[i].waits_for == waits_for &&
		    e->waiters[i].object == object)
			return true;
	return false;
}

#endif
