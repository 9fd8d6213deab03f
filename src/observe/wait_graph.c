/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.c - three walks over all fibers.
 *
 *	collect   what each fiber does
 *	own       who holds the lock that it waits for
 *	confirm   whether it is still in the same wait
 *
 * Between the first and the third walk, all steady fibers were in their waits
 * at the same time, so no lock that one of them held at the second walk has
 * changed hands. See docs/design/diagnosis.md.
 */
#include "base/torture.h"
#include "base/wait_cycles.h"
#include "life/life.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/worker.h"
#include "sennit/wait_graph.h"

#include <errno.h>

typedef void walker(struct wait_graph *g, struct worker *w,
		    struct sennit_fiber *f);

/* --- walking ------------------------------------------------------------ */

static void walk_worker(struct wait_graph *g, struct worker *w, walker *walk)
{
	struct sennit_fiber *f = NULL;

	if (!w->threaded)
		walk(g, w, &w->main);
	os_lock(&w->roster.lock);
	while ((f = sn_roster_next(&w->roster, f)))
		walk(g, w, f);
	pthread_mutex_unlock(&w->roster.lock);
}

static void walk_all(struct wait_graph *g, sennit_scheduler *s, walker *walk)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		walk_worker(g, s->workers[i], walk);
	while ((b = sn_bound_next(&s->bound, b)))
		walk_worker(g, sn_worker_bound(b), walk);
}

/* --- the walks ---------------------------------------------------------- */

/* The fiber's identity is that of its innermost task. */
static void collect(struct wait_graph *g, struct worker *w,
		    struct sennit_fiber *f)
{
	struct graph_node *n = &g->nodes[g->count];

	if (g->count == g->room)
		return;
	n->doing = a_load_acq(&f->state.doing); /* <- fiber_state.read */
	if (!sn_report_read(w, f, &n->entry, n->name))
		return;
	n->fiber = f;
	n->identity = a_load_acq(&f->identity); /* <- fiber_state.read */
	n->steady = n->entry.state == SENNIT_REPORT_BLOCKED &&
		    a_load_rlx(&f->state.doing) == n->doing;
	g->count++;
	sn_wait_nodes_enter(g, n);
	TORTURE_POINT();
}

/* n, of f, is steady only if f is still in the same wait. */
static bool is_steady(struct graph_node *n, const struct sennit_fiber *f)
{
	/* <- fiber_state.read */
	return sn_wait_nodes_is_steady(n, a_load_acq(&f->state.doing));
}

static void own(struct wait_graph *g, struct worker *w, struct sennit_fiber *f)
{
	struct graph_node *n = sn_wait_nodes_find(g, sn_wait_nodes_is_fiber, f);

	if (!n)
		return;
	if (is_steady(n, f))
		n->owned = sn_waited_lock_owner(&f->look, &n->owner) &&
			   n->owner;
	else if (!sn_report_read(w, f, &n->entry, n->name))
		return;
	n->scope = a_load_acq(&f->scope); /* <- fiber_state.read */
	TORTURE_POINT();
}

static void confirm(struct wait_graph *g, struct worker *w,
		    struct sennit_fiber *f)
{
	struct graph_node *n = sn_wait_nodes_find(g, sn_wait_nodes_is_fiber, f);

	(void)w;
	if (n && is_steady(n, f))
		n->mark = GRAPH_DONE;
}

/* --- the snapshot ------------------------------------------------------- */

/* The number of fibers, with room for some that come meanwhile. */
static uint32_t count_room(sennit_scheduler *s)
{
	struct binding *b = NULL;
	uint32_t        room = 64;

	for (uint32_t i = 0; i < s->capacity; i++)
		room += sn_roster_count(&s->workers[i]->roster);
	while ((b = sn_bound_next(&s->bound, b)))
		room += sn_roster_count(&sn_worker_bound(b)->roster) + 1;
	return room;
}

static int take(struct wait_graph *g, sennit_scheduler *s)
{
	const uint32_t room = count_room(s);
	void          *memory = os_map(sn_wait_nodes_bytes(room));

	if (!memory)
		return -ENOMEM;
	sn_wait_nodes_init(g, memory, room);
	walk_all(g, s, collect);
	walk_all(g, s, own);
	walk_all(g, s, confirm);
	sn_wait_nodes_drop_unconfirmed(g);
	sn_wait_nodes_link(g);
	sn_wait_cycles_find(g);
	return 0;
}

static void release(struct wait_graph *g)
{
	os_unmap(g->nodes, sn_wait_nodes_bytes(g->room));
}

/* --- showing ------------------------------------------------------------ */

typedef void visitor(void *context, const sennit_wait_edge *edge);

static void show_edge(const struct graph_node *n,
		      const struct graph_node *holder, uint32_t length,
		      visitor *visit, void *context)
{
	const sennit_wait_edge edge = {
		.size = sizeof(edge),
		.cycle = length ? n->cycle : 0,
		.length = length,
		.waiter = &n->entry,
		.holder = holder ? &holder->entry : NULL,
	};

	visit(context, &edge);
}

static void show_cycle(const struct wait_graph *g, const struct graph_node *at,
		       visitor *visit, void *context)
{
	const struct graph_node *first = at, *next;
	uint32_t                 length = 0;

	do {
		length++;
		at = sn_wait_nodes_at(g, at->after);
	} while (at != first);
	do {
		next = sn_wait_nodes_at(g, at->after);
		show_edge(at, next, length, visit, context);
		at = next;
	} while (at != first);
}

static void show_cycles(const struct wait_graph *g, visitor *visit,
			void *context)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (g->nodes[i].leads)
			show_cycle(g, &g->nodes[i], visit, context);
}

/* The edges of n that are in no cycle. */
static void show_rest(const struct wait_graph *g, const struct graph_node *n,
		      visitor *visit, void *context)
{
	const struct graph_node *m;

	if (n->owned && n->steady && !n->cycle)
		show_edge(n, sn_wait_nodes_at(g, n->holder), 0, visit, context);
	for (m = sn_wait_nodes_at(g, n->members); m;
	     m = sn_wait_nodes_at(g, m->sibling))
		if (sn_wait_nodes_at(g, n->after) != m)
			show_edge(n, m, 0, visit, context);
}

int sennit_scheduler_wait_graph(sennit_scheduler *s, visitor *visit,
				void *context)
{
	struct wait_graph g;
	int               err;
	uint32_t          i;

	os_lock(&s->bound.lock);
	err = take(&g, s);
	if (!err) {
		show_cycles(&g, visit, context);
		for (i = 0; i < g.count; i++)
			show_rest(&g, &g.nodes[i], visit, context);
		release(&g);
	}
	pthread_mutex_unlock(&s->bound.lock);
	return err;
}
