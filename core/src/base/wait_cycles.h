/* SPDX-License-Identifier: Apache-2.0 */
/* wait_cycles.h - the cycles of a graph of waits: a search in depth without
 * recursion. The path is linked through `from`. */
#ifndef SN_WAIT_CYCLES_H
#define SN_WAIT_CYCLES_H

#include "sennit/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- wait nodes ----------------------------------------------------------- */

/* A graph of fibers that wait for each other: its nodes, and a table to find
 * them.
 *
 * Nodes are the fibers that run a task. A node points to the node that holds
 * the lock it waits for, or to the list of members of the group that it waits
 * for, or to the list of the fibers that hold its lock as readers. All numbers
 * of nodes are indexes plus 1; 0 is none. The list of a lock's readers is that
 * of one of its waiters; a node may be in several such lists.
 *
 * No address here is followed. The caller reads the fibers in three walks:
 *
 *	add        a node for each, as it was found
 *	own        the holder of the lock that it waits for; the locks it reads
 *	confirm    whether it is still in the same wait
 *
 * See diag/docs/design.md. libsennit reads them in place, libsennit-diag
 * from copies.
 */

/* Each node has at most three keys. */
#define WAIT_NODES_PLACES 8

/* Locks that a node holds as a reader, and the readers of one lock that are
 * listed: so a search takes no longer where many wait for many. */
enum { WAIT_NODES_READS = 3, WAIT_NODES_READERS = 64 };

struct graph_node {
	sennit_report_entry entry;
	const void         *scheduler; /* whose fiber it is */
	const void         *fiber;
	void               *identity; /* see sennit_fiber.identity */
	void    *scope;  /* the group that the task is a member of, or another
			    * scope */
	uint32_t doing;  /* the state word; 0: it changed during a read */
	bool     steady; /* it has been in the same wait all the time */
	bool     owned;  /* it waits for a lock that the owner has */
	void    *owner;  /* an identity */
	void    *reads[WAIT_NODES_READS]; /* the locks; NULL: none */
	uint32_t holder;
	uint32_t members;
	uint32_t sibling; /* next in the list of members */
	uint32_t counted; /* of its lock: the readers, by the lock's word */
	uint32_t lock;    /* the node that lists the readers of its lock */
	uint32_t readers; /* that list: numbers of places, see sn_wait_nodes_
			     * reader_ */
	uint32_t listed;  /* readers that were found */
	uint32_t reader_after[WAIT_NODES_READS]; /* next, of each of `reads` */
	uint32_t cursor; /* of the search: next holder to search */
	uint32_t from;   /* of the search: the node before it on the path */
	uint32_t after;  /* the node after it in its cycle */
	uint32_t mark;   /* of the search: enum graph_mark */
	uint32_t cycle;  /* number of its cycle */
	bool     leads;  /* it is the first of its cycle */
	char     name[SENNIT_TASK_NAME_SIZE];
};

enum graph_mark { GRAPH_NEW = 0, GRAPH_ON_PATH, GRAPH_DONE };

struct wait_graph {
	struct graph_node *nodes;
	uint32_t          *places; /* hash table: a power of two of nodes */
	uint32_t           room;   /* maximum number of nodes */
	uint32_t           count;
	uint32_t           mask;
	uint32_t           cycles; /* number of cycles found */
};

static inline struct graph_node *sn_wait_nodes_at(const struct wait_graph *g,
						  uint32_t number)
{
	return number ? &g->nodes[number - 1] : NULL;
}

/* --- room --------------------------------------------------------------- */

/* At least twice as many as there may be keys: a power of two. */
static inline uint32_t sn_wait_nodes_places(uint32_t room)
{
	uint32_t places = 64;

	while (places < (uint64_t)room * WAIT_NODES_PLACES / 2)
		places *= 2;
	return places;
}

/* The bytes of a graph of that many nodes. */
static inline size_t sn_wait_nodes_bytes(uint32_t room)
{
	return room * sizeof(struct graph_node) +
	       sn_wait_nodes_places(room) * sizeof(uint32_t);
}

/* The graph has no nodes yet. `memory` is all zeros. */
static inline void sn_wait_nodes_init(struct wait_graph *g, void *memory,
				      uint32_t room)
{
	memset(g, 0, sizeof(*g));
	g->nodes = memory;
	g->places = (uint32_t *)(void *)((char *)memory +
					 room * sizeof(struct graph_node));
	g->mask = sn_wait_nodes_places(room) - 1;
	g->room = room;
}

/* --- finding a node ----------------------------------------------------- */

static inline uint32_t sn_wait_nodes_place_(const struct wait_graph *g,
					    const void              *key)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)((uint64_t)(uintptr_t)key * golden >> 32) & g->mask;
}

static inline bool sn_wait_nodes_for_group_(const struct graph_node *n,
					    const void              *group)
{
	return n->entry.state == SENNIT_REPORT_BLOCKED &&
	       n->entry.waits_for == SENNIT_WAITS_FOR_GROUP &&
	       n->entry.object == group;
}

static inline bool sn_wait_nodes_for_rwlock_(const struct graph_node *n,
					     const void              *lock)
{
	return n->entry.state == SENNIT_REPORT_BLOCKED &&
	       n->entry.waits_for == SENNIT_WAITS_FOR_RWLOCK &&
	       n->entry.object == lock;
}

static inline bool sn_wait_nodes_is_fiber(const struct graph_node *n,
					  const void              *key)
{
	return n->fiber == key;
}

static inline bool sn_wait_nodes_is_owner_(const struct graph_node *n,
					   const void              *key)
{
	return n->fiber == key || n->identity == key;
}

typedef bool wait_node_matcher(const struct graph_node *n, const void *key);

static inline struct graph_node *sn_wait_nodes_find(const struct wait_graph *g,
						    wait_node_matcher *matches,
						    const void        *key)
{
	uint32_t at = sn_wait_nodes_place_(g, key);

	for (; g->places[at]; at = (at + 1) & g->mask) {
		struct graph_node *n = sn_wait_nodes_at(g, g->places[at]);

		if (matches(n, key))
			return n;
	}
	return NULL;
}

static inline uint32_t sn_wait_nodes_number(const struct wait_graph *g,
					    const struct graph_node *n)
{
	return n ? (uint32_t)(n - g->nodes) + 1 : 0;
}

static inline void sn_wait_nodes_enter_key_(struct wait_graph       *g,
					    const struct graph_node *n,
					    const void              *key)
{
	uint32_t at = sn_wait_nodes_place_(g, key);

	while (g->places[at])
		at = (at + 1) & g->mask;
	g->places[at] = sn_wait_nodes_number(g, n);
}

static inline void sn_wait_nodes_enter(struct wait_graph       *g,
				       const struct graph_node *n)
{
	sn_wait_nodes_enter_key_(g, n, n->fiber);
	if (n->identity != n->fiber)
		sn_wait_nodes_enter_key_(g, n, n->identity);
	if (sn_wait_nodes_for_group_(n, n->entry.object) ||
	    sn_wait_nodes_for_rwlock_(n, n->entry.object))
		sn_wait_nodes_enter_key_(g, n, n->entry.object);
}

/* --- between the walks ------------------------------------------------- */

/* n, whose state word is now `doing`, is steady only if it is still in the same
 * wait. */
static inline bool sn_wait_nodes_is_steady(struct graph_node *n, uint32_t doing)
{
	n->steady &= n->doing == doing;
	return n->steady;
}

/* A fiber that was not met again has ended. */
static inline void sn_wait_nodes_drop_unconfirmed(struct wait_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++) {
		g->nodes[i].steady = g->nodes[i].mark == GRAPH_DONE;
		g->nodes[i].mark = GRAPH_NEW;
	}
}

/* --- edges -------------------------------------------------------------- */

/* A group begins with its scope, so they have the same address. */
static inline void sn_wait_nodes_link_member_(const struct wait_graph *g,
					      struct graph_node       *n)
{
	struct graph_node *opener =
		n->scope ? sn_wait_nodes_find(g, sn_wait_nodes_for_group_,
					      n->scope)
			 : NULL;

	if (!opener || !opener->steady || opener == n)
		return;
	n->sibling = opener->members;
	opener->members = sn_wait_nodes_number(g, n);
}

/* The node whose list has the readers of that lock: the first waiter that the
 * table has. */
static inline struct graph_node *sn_wait_nodes_lock_(const struct wait_graph *g,
						     const void *lock)
{
	return lock ? sn_wait_nodes_find(g, sn_wait_nodes_for_rwlock_, lock)
		    : NULL;
}

static inline void sn_wait_nodes_link_reads_(const struct wait_graph *g,
					     struct graph_node       *n)
{
	for (uint32_t i = 0; i < WAIT_NODES_READS; i++) {
		struct graph_node *l = sn_wait_nodes_lock_(g, n->reads[i]);

		if (!l || l->listed++ >= WAIT_NODES_READERS)
			continue;
		n->reader_after[i] = l->readers;
		l->readers = (sn_wait_nodes_number(g, n) - 1) *
				     WAIT_NODES_READS +
			     i + 1;
	}
}

/* The node in a list of readers, and what follows it there. */
static inline struct graph_node *sn_wait_nodes_reader_(
	const struct wait_graph *g, uint32_t *place)
{
	const uint32_t     at = *place - 1;
	struct graph_node *n = &g->nodes[at / WAIT_NODES_READS];

	*place = n->reader_after[at % WAIT_NODES_READS];
	return n;
}

/* If more fibers are recorded as readers than the lock has, then other fibers
 * have unlocked it for some of them, and it is not known for which. */
static inline void sn_wait_nodes_link_lock_(const struct wait_graph *g,
					    struct graph_node       *n)
{
	struct graph_node *l;

	if (n->entry.waits_for != SENNIT_WAITS_FOR_RWLOCK)
		return;
	l = sn_wait_nodes_lock_(g, n->entry.object);
	if (l && l->listed <= n->counted)
		n->lock = sn_wait_nodes_number(g, l);
}

static inline void sn_wait_nodes_link(struct wait_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++) {
		struct graph_node *n = &g->nodes[i];

		if (n->steady && n->owned)
			n->holder = sn_wait_nodes_number(
				g,
				sn_wait_nodes_find(g, sn_wait_nodes_is_owner_,
						   n->owner));
		sn_wait_nodes_link_member_(g, n);
		sn_wait_nodes_link_reads_(g, n);
	}
	for (i = 0; i < g->count; i++)
		if (g->nodes[i].steady && !g->nodes[i].owned)
			sn_wait_nodes_link_lock_(g, &g->nodes[i]);
}

/* --- what a node waits for ---------------------------------------------- */

/* Where sn_wait_nodes_holder begins: a wait has one holder, or readers, or
 * members. */
static inline uint32_t sn_wait_nodes_holders(const struct wait_graph *g,
					     const struct graph_node *n)
{
	if (n->holder)
		return n->holder;
	return n->lock ? sn_wait_nodes_at(g, n->lock)->readers : n->members;
}

/* The next node without which the wait of n does not end. NULL: there is no
 * further one. */
static inline struct graph_node *sn_wait_nodes_holder(
	const struct wait_graph *g, const struct graph_node *n,
	uint32_t *cursor)
{
	struct graph_node *holder = NULL;

	if (*cursor && n->lock)
		return sn_wait_nodes_reader_(g, cursor);
	holder = sn_wait_nodes_at(g, *cursor);
	*cursor = holder && !n->holder ? holder->sibling : 0;
	return holder;
}

/* --- wait cycles ---------------------------------------------------------- */

/* Put n at the end of the path. */
static inline void sn_wait_cycles_begin_(const struct wait_graph *g,
					 struct graph_node       *n,
					 const struct graph_node *before)
{
	n->mark = GRAPH_ON_PATH;
	n->from = before ? sn_wait_nodes_number(g, before) : 0;
	n->cursor = sn_wait_nodes_holders(g, n);
}

static inline bool sn_wait_cycles_has_(const struct wait_graph *g,
				       const struct graph_node *first,
				       const struct graph_node *n)
{
	while (!n->cycle && n != first)
		n = sn_wait_nodes_at(g, n->from);
	return n->cycle;
}

/* The path from `first` to `last` waits for itself. A node that is in another
 * cycle already is reported there. */
static inline void sn_wait_cycles_number_(struct wait_graph *g,
					  struct graph_node *first,
					  struct graph_node *last)
{
	struct graph_node *n = last;
	uint32_t           after = sn_wait_nodes_number(g, first);

	if (sn_wait_cycles_has_(g, first, last))
		return;
	first->leads = true;
	for (g->cycles++; n && !n->cycle; n = sn_wait_nodes_at(g, n->from)) {
		n->cycle = g->cycles;
		n->after = after;
		after = sn_wait_nodes_number(g, n);
		if (n == first)
			return;
	}
}

static inline void sn_wait_cycles_search_(struct wait_graph *g,
					  struct graph_node *at)
{
	struct graph_node *next;

	sn_wait_cycles_begin_(g, at, NULL);
	while (at) {
		next = sn_wait_nodes_holder(g, at, &at->cursor);
		if (!next) {
			at->mark = GRAPH_DONE;
			at = sn_wait_nodes_at(g, at->from);
		} else if (next->mark == GRAPH_ON_PATH) {
			sn_wait_cycles_number_(g, next, at);
		} else if (next->mark == GRAPH_NEW && next->steady) {
			sn_wait_cycles_begin_(g, next, at);
			at = next;
		}
	}
}

/* Find cycles of steady nodes, at least one in each set of nodes that wait for
 * each other. No node is in two. */
static inline void sn_wait_cycles_find(struct wait_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (g->nodes[i].steady && g->nodes[i].mark == GRAPH_NEW)
			sn_wait_cycles_search_(g, &g->nodes[i]);
}

#endif
