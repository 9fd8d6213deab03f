/* SPDX-License-Identifier: Apache-2.0 */
/* deadlocks.c - the three walks of the wait-for graph over copied records.
 *
 * A walk in place holds the fibers in their waits while it reads their locks.
 * This one reads the lock's memory by a call that cannot fault, and keeps what
 * it has read only if the fiber has been in the same wait before and after. So
 * it takes no lock, and a record that is overwritten leads nowhere. */
#include "diag/deadlocks.h"

#include "base/wait_cycles.h"
#include "diag/fiber_record.h"
#include "diag/own_memory.h"

#include <stdlib.h>

/* A search, of one scheduler after the other. */
struct search {
	struct deadlocks   *found;
	struct wait_graph   graph; /* of the scheduler */
	struct address_list workers;
	struct address_list fibers; /* of the worker */
};

/* --- what is found ------------------------------------------------------ */

static struct deadlock_wait *append(struct deadlocks *d)
{
	if (d->count == d->capacity) {
		const size_t          capacity = 2 * d->capacity + 16;
		struct deadlock_wait *waits =
			realloc(d->waits, capacity * sizeof(*waits));

		if (!waits)
			return NULL;
		d->waits = waits;
		d->capacity = capacity;
	}
	return &d->waits[d->count++];
}

static void keep(struct deadlocks *d, uint32_t number,
		 const sennit_report_entry *waiter,
		 const sennit_report_entry *holder)
{
	struct deadlock_wait *wait = append(d);

	if (!wait)
		return;
	*wait = (struct deadlock_wait){
		.number = number,
		.thread = waiter->thread,
		.fiber = waiter->fiber,
		.object = waiter->object,
		.since = waiter->since,
		.holder_worker = holder->worker,
		.holder_thread = holder->thread,
		.holder_fiber = holder->fiber,
	};
}

static void keep_cycles(struct deadlocks *d, const struct wait_graph *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct graph_node *n = &g->nodes[i];

		if (n->cycle)
			keep(d, d->numbers + n->cycle, &n->entry,
			     &sn_wait_nodes_at(g, n->after)->entry);
	}
	d->numbers += g->cycles;
}

/* --- the walks ---------------------------------------------------------- */

static void collect(struct wait_graph *g, const struct worker_record *w,
		    uintptr_t at)
{
	struct graph_node  *n = &g->nodes[g->count];
	struct fiber_record f;

	if (g->count == g->room || !sn_fiber_record_read(&f, at) ||
	    f.worker != w->at ||
	    (!sn_fiber_record_is_alive(&f) && at != w->main))
		return;
	sn_fiber_record_report(&f, w, &n->entry);
	n->entry.name = NULL; /* f's */
	n->fiber = (const void *)at;
	n->identity = (void *)f.identity;
	n->doing = f.doing;
	n->steady = n->entry.state == SENNIT_REPORT_BLOCKED;
	g->count++;
	sn_wait_nodes_enter(g, n);
}

/* Read n's record again. Returns false if it cannot be read. */
static bool read_again(struct graph_node *n, struct fiber_record *f)
{
	if (sn_fiber_record_read(f, (uintptr_t)n->fiber))
		return true;
	n->steady = false;
	return false;
}

static void own(struct graph_node *n)
{
	struct fiber_record f;

	if (!read_again(n, &f))
		return;
	n->scope = (void *)f.scope;
	n->owned = sn_wait_nodes_is_steady(n, f.doing) && f.owner &&
		   sn_own_memory_read(&n->owner, f.owner, sizeof(n->owner)) &&
		   n->owner;
}

static void confirm(struct graph_node *n)
{
	struct fiber_record f;

	if (read_again(n, &f))
		(void)sn_wait_nodes_is_steady(n, f.doing);
}

/* The barriers make each walk begin after the one before it has ended. */
static void walk_again(struct wait_graph *g)
{
	sn_own_memory_barrier();
	for (uint32_t i = 0; i < g->count; i++)
		own(&g->nodes[i]);
	sn_own_memory_barrier();
	for (uint32_t i = 0; i < g->count; i++)
		confirm(&g->nodes[i]);
}

/* --- schedulers --------------------------------------------------------- */

/* Call collect for each fiber, or count them. Returns the number. */
static uint32_t walk(struct search *s, bool count_only)
{
	struct worker_record w;
	uint32_t             count = 0;

	for (size_t i = 0; i < s->workers.count; i++) {
		if (!sn_worker_record_read(&w, s->workers.items[i]) ||
		    !sn_record_list_fibers(&s->fibers, w.at))
			continue;
		count += (uint32_t)s->fibers.count + 1;
		if (count_only)
			continue;
		if (w.index == UINT32_MAX)
			collect(&s->graph, &w, w.main);
		for (size_t k = 0; k < s->fibers.count; k++)
			collect(&s->graph, &w, s->fibers.items[k]);
	}
	return count;
}

static void find(struct search *s, uintptr_t scheduler)
{
	uint32_t room;
	void    *memory;

	if (!sn_record_list_workers(&s->workers, scheduler))
		return;
	room = walk(s, true) + 64; /* that come meanwhile */
	memory = calloc(1, sn_wait_nodes_bytes(room));
	if (!memory)
		return;
	sn_wait_nodes_init(&s->graph, memory, room);
	walk(s, false);
	walk_again(&s->graph);
	sn_wait_nodes_link(&s->graph);
	sn_wait_cycles_find(&s->graph);
	keep_cycles(s->found, &s->graph);
	free(memory);
}

void sn_deadlocks_find(struct deadlocks *d, uintptr_t scheduler)
{
	struct search       s = { .found = d };
	struct address_list all = { .items = NULL };

	*d = (struct deadlocks){ .waits = NULL };
	if (scheduler)
		find(&s, scheduler);
	else if (sn_record_list_schedulers(&all))
		for (size_t i = 0; i < all.count; i++)
			find(&s, all.items[i]);
	free(all.items);
	free(s.workers.items);
	free(s.fibers.items);
}

const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct deadlock_wait *w = &d->waits[i];

		if (w->thread == e->thread && w->fiber == e->fiber &&
		    w->object == e->object && w->since == e->since &&
		    e->state == SENNIT_REPORT_BLOCKED)
			return w;
	}
	return NULL;
}

void sn_deadlocks_free(struct deadlocks *d)
{
	free(d->waits);
}
