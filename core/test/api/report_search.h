/* SPDX-License-Identifier: Apache-2.0 */
/* report_search.h - what reports show of a scheduler. */
#ifndef SN_TEST_REPORT_SEARCH_H
#define SN_TEST_REPORT_SEARCH_H

#include "testing/with_workers.h"
#include "sennit/wait_graph.h"

/* --- report search ----------------------------------------------------- */

/* Searches for an entry in a report, and the objects that
 * fibers wait for. */

/* A search for an entry, and its result. */
struct search {
	sennit_task_fn     *task;
	uint32_t            state;
	uint32_t            waits_for;
	bool                any; /* ignore state and waits_for */
	unsigned            count;
	unsigned            entries;
	sennit_report_entry entry; /* the last match */
};

static inline void compare(void *context, const sennit_report_entry *e)
{
	struct search *look = context;

	look->entries++;
	EXPECT(e->size == sizeof(*e));
	if (e->task != look->task)
		return;
	if (!look->any &&
	    (e->state != look->state || (e->state != SENNIT_REPORT_QUEUED &&
					 e->waits_for != look->waits_for)))
		return;
	look->entry = *e;
	look->count++;
}

static inline struct search search(sennit_scheduler *s, sennit_task_fn *task,
				   uint32_t state, uint32_t waits_for)
{
	struct search look = { .task = task,
			       .state = state,
			       .waits_for = waits_for };

	sennit_report_visit(s, compare, &look);
	return look;
}

static inline bool is_seen(sennit_scheduler *s, sennit_task_fn *task,
			   uint32_t state, uint32_t waits_for,
			   sennit_report_entry *e)
{
	struct search look = search(s, task, state, waits_for);

	*e = look.entry;
	return look.count == 1;
}

static inline bool is_blocked(sennit_scheduler *s, sennit_task_fn *task,
			      uint32_t waits_for, sennit_report_entry *e)
{
	return is_seen(s, task, SENNIT_REPORT_BLOCKED, waits_for, e);
}

/* Whether e belongs to a place where a task of w may run. */
static inline bool is_at_home(const struct world        *w,
			      const sennit_report_entry *e)
{
	return w->threads ? e->worker < w->threads
			  : e->worker == SENNIT_REPORT_BOUND &&
				    e->thread == (uint32_t)gettid();
}

struct things {
	sennit_event      event;
	sennit_wait_group group;
	sennit_mutex      mutex;
	sennit_cond       cond;
	sennit_mutex      of_cond;
	sennit_mutex      of_fiber;
	sennit_rwlock     rwlock;
	sennit_barrier    barrier;
	sennit_once       once;
	sennit_event      first; /* what the once waits for */
	sennit_fiber     *fiber;
	atomic_bool       over;
	sennit_time       deadline;
	sennit_wait_group all;
};

static inline void wait_for_event(void *argument)
{
	struct things *t = argument;

	EXPECT(!sennit_event_wait(&t->event));
	sennit_wait_group_done(&t->all);
}

/* --- wait edges -------------------------------------------------------- */

/* The edges of a wait-for graph, for tests to compare. */

enum { MAX_EDGES = 16 };

struct edges {
	unsigned count;
	unsigned in_cycles;
	unsigned cycles;
	uint32_t length;
	bool     chained; /* the edges of each deadlock form a circle */
	sennit_report_entry waiters[MAX_EDGES], holders[MAX_EDGES];
	bool                outside[MAX_EDGES];
	uint32_t            relations[MAX_EDGES];
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
	e->relations[i] = edge->relation;
	EXPECT(edge->waiter_scheduler &&
	       !edge->holder_scheduler == !edge->holder);
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

	EXPECT(!sennit_wait_graph_visit(s, add_edge, &e));
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
