/* SPDX-License-Identifier: Apache-2.0 */
/* wait_cycles.h - the cycles of a graph of waits: a search in depth without
 * recursion. The path is linked through `from`. */
#ifndef SN_WAIT_CYCLES_H
#define SN_WAIT_CYCLES_H

#include "base/wait_nodes.h"

/* Put n at the end of the path. A wait has one holder, or members. */
static inline void sn_wait_cycles_begin_(const struct wait_graph *g,
					 struct graph_node       *n,
					 const struct graph_node *before)
{
	n->mark = GRAPH_ON_PATH;
	n->from = before ? sn_wait_nodes_number(g, before) : 0;
	n->cursor = n->holder ? n->holder : n->members;
}

/* The next node that n waits for. NULL: the search has seen all. */
static inline struct graph_node *sn_wait_cycles_next_(
	const struct wait_graph *g, struct graph_node *n)
{
	struct graph_node *next = sn_wait_nodes_at(g, n->cursor);

	n->cursor = next && !n->holder ? next->sibling : 0;
	return next;
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
		next = sn_wait_cycles_next_(g, at);
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
