/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.c - three walks over the fibers of all schedulers.
 *
 *	read_state   what each fiber does
 *	read_owner   who holds the lock that it waits for; which locks it reads
 *	confirm      whether it is still in the same wait
 *
 * Between the first and the third walk, all steady fibers were in their waits
 * at the same time, so no lock that one of them held at the second walk has
 * changed hands. See diag/docs/design.md.
 */
#include "base/torture.h"
#include "base/wait_cycles.h"
#include "life/bind.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/worker.h"
#include "sennit/rwlock.h"
#include "sennit/wait_graph.h"

#include <errno.h>

_Static_assert(READ_LOCKS == WAIT_NODES_READS, "a node has them all");

/* Further schedulers are ignored. */
#define GRAPH_SCHEDULERS 64

struct graph_schedulers {
	sennit_scheduler *all[GRAPH_SCHEDULERS]; /* by address */
	size_t            count;
};

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

static void walk_scheduler(struct wait_graph *g, sennit_scheduler *s,
			   walker *walk)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		walk_worker(g, s->workers[i], walk);
	while ((b = sn_bound_next(&s->bound, b)))
		walk_worker(g, sn_worker_bound(b), walk);
}

static void walk_all(struct wait_graph *g, const struct graph_schedulers *s,
		     walker *walk)
{
	for (size_t i = 0; i < s->count; i++)
		walk_scheduler(g, s->all[i], walk);
}

/* --- the walks ---------------------------------------------------------- */

/* The fiber's identity is that of its innermost task. */
static void read_state(struct wait_graph *g, struct worker *w,
		       struct sennit_fiber *f)
{
	struct graph_node *n = &g->nodes[g->count];

	if (g->count == g->room)
		return;
	n->doing = a_load_acq(&f->state.doing); /* <- fiber_state.read */
	if (!sn_report_read(w, f, &n->entry, n->name))
		return;
	n->scheduler = w->scheduler;
	n->fiber = f;
	n->identity = a_load_acq(&f->identity); /* <- fiber_state.read */
	n->steady = n->entry.state == SENNIT_REPORT_BLOCKED &&
		    a_load_rlx(&f->state.doing) == n->doing;
	g->count++;
	sn_wait_nodes_enter(g, n);
	TORTURE_POINT();
}

/* Report whether f is still in the same wait as n. */
static bool is_steady(struct graph_node *n, const struct sennit_fiber *f)
{
	/* <- fiber_state.read */
	return sn_wait_nodes_is_steady(n, a_load_acq(&f->state.doing));
}

/* Read the lock that f waits for. While f is kept in its wait, and that is
 * still the wait of n, the lock is of the kind that n has. */
static void read_lock(struct graph_node *n, struct sennit_fiber *f)
{
	sennit_pointer *owner;
	uintptr_t       place;

	if (!sn_waited_lock_keep(&f->look, &place))
		return;
	if (is_steady(n, f)) {
		owner = sn_waited_lock_owner(place);
		/* relaxed: see "Why no cycle is false" in
		 * diag/docs/design.md */
		n->owner = a_load_rlx(owner);
		n->owned = n->owner;
		if (n->entry.waits_for == SENNIT_WAITS_FOR_RWLOCK)
			n->counted = a_load_rlx(&container_of(owner,
							      sennit_rwlock,
							      owner_)
							 ->state_) /
				     RWLOCK_READER;
	}
	sn_waited_lock_let_go(&f->look, place);
}

static void read_owner(struct wait_graph *g, struct worker *w,
		       struct sennit_fiber *f)
{
	struct graph_node *n = sn_wait_nodes_find(g, sn_wait_nodes_is_fiber, f);

	if (!n)
		return;
	if (is_steady(n, f))
		read_lock(n, f);
	else if (!sn_report_read(w, f, &n->entry, n->name))
		return;
	n->scope = a_load_acq(&f->scope); /* <- fiber_state.read */
	for (int i = 0; i < READ_LOCKS; i++)
		/* <- fiber_state.read */
		n->reads[i] = a_load_acq(&f->reads.lock[i]);
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

/* Get references to all schedulers except `held`, to which the caller has one;
 * NULL: none. */
static void retain_graph_schedulers(struct graph_schedulers *s,
				    sennit_scheduler        *held)
{
	sennit_scheduler *others[GRAPH_SCHEDULERS];
	const size_t count = sn_scheduler_list_retain(others, GRAPH_SCHEDULERS);

	s->count = 0;
	if (held)
		s->all[s->count++] = held;
	for (size_t i = 0; i < count; i++)
		if (others[i] == held || s->count == GRAPH_SCHEDULERS)
			sennit_scheduler_release(others[i]);
		else
			s->all[s->count++] = others[i];
}

static void sort_by_address(struct graph_schedulers *s)
{
	for (size_t i = 1; i < s->count; i++)
		for (size_t k = i;
		     k && (uintptr_t)s->all[k - 1] > (uintptr_t)s->all[k];
		     k--) {
			sennit_scheduler *higher = s->all[k - 1];

			s->all[k - 1] = s->all[k];
			s->all[k] = higher;
		}
}

static void release_graph_schedulers(const struct graph_schedulers *s,
				     const sennit_scheduler        *held)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->all[i] != held)
			sennit_scheduler_release(s->all[i]);
}

/* Take the locks, so that no thread binds or unbinds meanwhile. Only this
 * function takes two of these locks, and always in the same order. */
static void lock_bindings(const struct graph_schedulers *s)
{
	for (size_t i = 0; i < s->count; i++)
		os_lock(&s->all[i]->bound.lock);
}

static void unlock_bindings(const struct graph_schedulers *s)
{
	for (size_t i = 0; i < s->count; i++)
		pthread_mutex_unlock(&s->all[i]->bound.lock);
}

/* Return the number of fibers, with room for some that start meanwhile. */
static uint32_t count_room(const struct graph_schedulers *all)
{
	uint32_t room = 64;

	for (size_t i = 0; i < all->count; i++) {
		sennit_scheduler *s = all->all[i];
		struct binding   *b = NULL;

		for (uint32_t k = 0; k < s->capacity; k++)
			room += sn_roster_count(&s->workers[k]->roster);
		while ((b = sn_bound_next(&s->bound, b)))
			room += sn_roster_count(&sn_worker_bound(b)->roster) +
				1;
	}
	return room;
}

static int take_walks(struct wait_graph *g, const struct graph_schedulers *s)
{
	const uint32_t room = count_room(s);
	void          *memory = os_map(sn_wait_nodes_bytes(room));

	if (!memory)
		return -ENOMEM;
	sn_wait_nodes_init(g, memory, room);
	walk_all(g, s, read_state);
	walk_all(g, s, read_owner);
	walk_all(g, s, confirm);
	return 0;
}

static int take_graph(struct wait_graph *g, const struct graph_schedulers *s)
{
	int err;

	lock_bindings(s);
	err = take_walks(g, s);
	unlock_bindings(s);
	if (err)
		return err;
	sn_wait_nodes_drop_unconfirmed(g);
	sn_wait_nodes_link(g);
	sn_wait_cycles_find(g);
	return 0;
}

static void unmap_graph(struct wait_graph *g)
{
	os_unmap(g->nodes, sn_wait_nodes_bytes(g->room));
}

/* --- visiting the edges ------------------------------------------------- */

struct show {
	const struct wait_graph *g;
	const sennit_scheduler  *only; /* NULL: all */
	void (*visit)(void *context, const sennit_wait_edge *edge);
	void    *context;
	uint32_t cycles; /* number of cycles shown so far */
};

static bool is_shown_node(const struct show *s, const struct graph_node *n)
{
	return !s->only || n->scheduler == s->only;
}

static const char *scheduler_name_of(const struct graph_node *n)
{
	return ((const sennit_scheduler *)n->scheduler)->name;
}

static uint32_t node_relation(const struct graph_node *n)
{
	if (n->lock)
		return SENNIT_WAIT_READER;
	return n->entry.waits_for == SENNIT_WAITS_FOR_GROUP ? SENNIT_WAIT_MEMBER
							    : SENNIT_WAIT_OWNER;
}

static void show_edge(const struct show *s, const struct graph_node *n,
		      const struct graph_node *holder, uint32_t length)
{
	const sennit_wait_edge edge = {
		.size = sizeof(edge),
		.cycle = length ? s->cycles : 0,
		.length = length,
		.waiter = &n->entry,
		.holder = holder ? &holder->entry : NULL,
		.relation = node_relation(n),
		.waiter_scheduler = scheduler_name_of(n),
		.holder_scheduler = holder ? scheduler_name_of(holder) : NULL,
	};

	s->visit(s->context, &edge);
}

/* Show the cycle of `first`, if one of its fibers concerns the caller. */
static void show_cycle(struct show *s, const struct graph_node *first)
{
	const struct graph_node *at = first, *next;
	uint32_t                 length = 0;
	bool                     shown = false;

	do {
		length++;
		shown |= is_shown_node(s, at);
		at = sn_wait_nodes_at(s->g, at->after);
	} while (at != first);
	if (!shown)
		return;
	s->cycles++;
	do {
		next = sn_wait_nodes_at(s->g, at->after);
		show_edge(s, at, next, length);
		at = next;
	} while (at != first);
}

/* Show the edges of n that are in no cycle, but only some of the readers of a
 * lock. */
static void show_rest(const struct show *s, const struct graph_node *n)
{
	const uint32_t after = n->after;
	uint32_t       cursor = sn_wait_nodes_holders(s->g, n);
	uint32_t       shown = 0;

	if (!is_shown_node(s, n))
		return;
	if (n->owned && n->steady && !n->holder)
		show_edge(s, n, NULL, 0);
	for (;;) {
		const struct graph_node *holder = sn_wait_nodes_holder(s->g, n,
								       &cursor);

		if (!holder || (n->lock && shown == SENNIT_WAIT_GRAPH_READERS))
			return;
		if (sn_wait_nodes_at(s->g, after) == holder)
			continue;
		show_edge(s, n, holder, 0);
		shown++;
	}
}

static void show_graph(struct show *s)
{
	for (uint32_t i = 0; i < s->g->count; i++)
		if (s->g->nodes[i].leads)
			show_cycle(s, &s->g->nodes[i]);
	for (uint32_t i = 0; i < s->g->count; i++)
		show_rest(s, &s->g->nodes[i]);
}

int sennit_wait_graph_visit(sennit_scheduler *s,
			    void (*visit)(void                   *context,
					  const sennit_wait_edge *edge),
			    void *context)
{
	struct graph_schedulers all;
	struct wait_graph       g;
	struct show             what = {
			    .g = &g,
			    .only = s,
			    .visit = visit,
			    .context = context,
	};
	int err;

	retain_graph_schedulers(&all, s);
	sort_by_address(&all);
	err = take_graph(&g, &all);
	if (!err) {
		show_graph(&what);
		unmap_graph(&g);
	}
	release_graph_schedulers(&all, s);
	return err;
}
