/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/graph.h"

#include <errno.h>
#include <string.h>

/* --- sorting ------------------------------------------------------------ */

/* Count the edges that begin at each node. Afterwards begins[i + 1] is the end
 * of node i's range. */
static void count_edges(struct graph *g, const struct edge *edges,
			uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		g->begins[edges[i].before + 1]++;
	for (i = 0; i < g->nodes; i++)
		g->begins[i + 1] += g->begins[i];
}

/* Edges of the same node keep the given order. */
static void sort_edges(struct graph *g, const struct edge *edges,
		       uint32_t count)
{
	uint32_t *next = g->work;
	uint32_t  i;

	if (!g->nodes)
		return;
	memcpy(next, g->begins, g->nodes * sizeof(*next));
	for (i = 0; i < count; i++)
		g->successors[next[edges[i].before]++] = edges[i].after;
}

/* Keep each edge once, and count the predecessors of each node. */
static void keep_distinct(struct graph *g)
{
	uint32_t *seen_from = g->work;
	uint32_t  from = 0, to = 0, node;

	for (node = 0; node < g->nodes; node++)
		seen_from[node] = GRAPH_NONE;
	for (node = 0; node < g->nodes; node++) {
		const uint32_t end = g->begins[node + 1];

		g->begins[node] = to;
		for (; from < end; from++) {
			const uint32_t after = g->successors[from];

			if (seen_from[after] == node)
				continue;
			seen_from[after] = node;
			g->ins[after]++;
			g->successors[to++] = after;
		}
	}
	g->begins[g->nodes] = to;
}

int sn_graph_make(struct graph *g, const sennit_allocator *a, uint32_t nodes,
		  const struct edge *edges, uint32_t count)
{
	const uint64_t words = UINT64_C(4) * nodes + 1 + count;
	uint32_t      *block;

	if (words > SIZE_MAX / sizeof(*block))
		return -ENOMEM;
	g->size = (size_t)words * sizeof(*block);
	block = sn_memory_take(a, g->size, _Alignof(uint32_t));
	if (!block)
		return -ENOMEM;
	g->nodes = nodes;
	g->begins = block;
	g->ins = g->begins + nodes + 1;
	g->left = g->ins + nodes;
	g->work = g->left + nodes;
	g->successors = g->work + nodes;
	count_edges(g, edges, count);
	sort_edges(g, edges, count);
	keep_distinct(g);
	return 0;
}

void sn_graph_free(struct graph *g, const sennit_allocator *a)
{
	sn_memory_give(a, g->begins, g->size);
}

/* --- order -------------------------------------------------------------- */

/* Kahn's algorithm: repeatedly remove a node without remaining predecessors. A.
 * B. Kahn, Topological sorting of large networks, CACM 5(11), 1962. */
bool sn_graph_has_order(struct graph *g)
{
	uint32_t *queue = g->work;
	uint32_t  taken, queued = 0, i;

	for (i = 0; i < g->nodes; i++) {
		g->left[i] = g->ins[i];
		if (!g->left[i])
			queue[queued++] = i;
	}
	for (taken = 0; taken < queued; taken++) {
		const uint32_t node = queue[taken];

		for (i = g->begins[node]; i < g->begins[node + 1]; i++)
			if (!--g->left[g->successors[i]])
				queue[queued++] = g->successors[i];
	}
	return queued == g->nodes;
}

/* Each remaining node has a remaining predecessor. Store one of them. */
static void store_predecessors(struct graph *g, uint32_t *before)
{
	uint32_t node, i;

	for (node = 0; node < g->nodes; node++) {
		if (!g->left[node])
			continue;
		for (i = g->begins[node]; i < g->begins[node + 1]; i++)
			before[g->successors[i]] = node;
	}
}

/* A walk from a remaining node to its stored predecessor, and so on, is in a
 * cycle after as many steps as there are nodes. */
uint32_t sn_graph_cycle(struct graph *g)
{
	uint32_t *before = g->work;
	uint32_t  node = 0, lowest, start, i;

	store_predecessors(g, before);
	while (!g->left[node])
		node++;
	for (i = 0; i < g->nodes; i++)
		node = before[node];
	start = node;
	lowest = node;
	do {
		g->left[before[node]] = node;
		node = before[node];
		if (node < lowest)
			lowest = node;
	} while (node != start);
	return lowest;
}
