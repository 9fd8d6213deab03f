/* SPDX-License-Identifier: Apache-2.0 */
/* wait_cycles.c - a search in depth without recursion: the path is linked
 * through `from`. */
#include "api/wait_cycles.h"

static uint32_t number_of(const struct wait_graph *g,
			  const struct graph_node *n)
{
	return (uint32_t)(n - g->nodes) + 1;
}

/* Put n at the end of the path. A wait has one holder, or members. */
static void begin(const struct wait_graph *g, struct graph_node *n,
		  const struct graph_node *before)
{
	n->mark = GRAPH_ON_PATH;
	n->from = before ? number_of(g, before) : 0;
	n->cursor = n->holder ? n->holder : n->members;
}

/* The next node that n waits for. NULL: the search has seen all. */
static struct graph_node *next_of(const struct wait_graph *g,
				  struct graph_node       *n)
{
	struct graph_node *next = sn_wait_cycles_node(g, n->cursor);

	n->cursor = next && !n->holder ? next->sibling : 0;
	return next;
}

static bool is_in_cycle(const struct wait_graph *g,
			const struct graph_node *first,
			const struct graph_node *n)
{
	while (!n->cycle && n != first)
		n = sn_wait_cycles_node(g, n->from);
	return n->cycle;
}

/* The path from `first` to `last` waits for itself. A node that is in another
 * cycle already is reported there. */
static void number_cycle(struct wait_graph *g, struct graph_node *first,
			 struct graph_node *last)
{
	struct graph_node *n = last;
	uint32_t           after = number_of(g, first);

	if (is_in_cycle(g, first, last))
		return;
	first->leads = true;
	for (g->cycles++; n && !n->cycle; n = sn_wait_cycles_node(g, n->from)) {
		n->cycle = g->cycles;
		n->after = after;
		after = number_of(g, n);
		if (n == first)
			return;
	}
}

static void search(struct wait_graph *g, struct graph_node *at)
{
	struct graph_node *next;

	begin(g, at, NULL);
	while (at) {
		next = next_of(g, at);
		if (!next) {
			at->mark = GRAPH_DONE;
			at = sn_wait_cycles_node(g, at->from);
		} else if (next->mark == GRAPH_ON_PATH) {
			number_cycle(g, next, at);
		} else if (next->mark == GRAPH_NEW && next->steady) {
			begin(g, next, at);
			at = next;
		}
	}
}

void sn_wait_cycles_find(struct wait_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->count; i++)
		if (g->nodes[i].steady && g->nodes[i].mark == GRAPH_NEW)
			search(g, &g->nodes[i]);
}
