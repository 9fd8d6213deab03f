/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - a directed graph as sorted edges, and a search for cycles.
 *
 *	edges       (0,2) (1,2) (0,3) (2,3) (0,2)
 *
 *	begins      0     2  3  4  4       of node i, to begins[i + 1]
 *	successors  2  3  2  3             in the given order, each once
 *	ins         0  0  2  2             number of predecessors of node i
 *
 * Node numbers are below 2^31. All arrays lie in one block. The caller frees
 * the graph after copying out of it what it needs. Single-threaded.
 */
#ifndef SN_GRAPH_H
#define SN_GRAPH_H

#include "base/memory.h"

#include <stdbool.h>

#define GRAPH_NONE UINT32_MAX

struct edge {
	uint32_t before;
	uint32_t after;
};

struct graph {
	uint32_t  nodes;
	uint32_t *begins;     /* nodes + 1 */
	uint32_t *successors; /* room for the number of edges given */
	uint32_t *ins;        /* nodes */
	uint32_t *left;       /* nodes; set by sn_graph_has_order and
			       * sn_graph_cycle */
	uint32_t *work;       /* nodes */
	size_t    size;
};

/* Build *g from `count` edges between nodes below `nodes`. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_graph_make(struct graph *g, const sennit_allocator *a,
				  uint32_t nodes, const struct edge *edges,
				  uint32_t count);
void                sn_graph_free(struct graph *g, const sennit_allocator *a);

static inline uint32_t sn_graph_edges(const struct graph *g)
{
	return g->begins[g->nodes];
}

/* Whether a topological order exists. Then `left` is all zeros. Otherwise
 * left[i] is above zero for the nodes that lie on a cycle or after one. */
bool sn_graph_has_order(struct graph *g);

/* Find a cycle; there must be no topological order. Returns the lowest node on
 * the cycle. Afterwards left[i] is the node that follows node i on it. */
uint32_t sn_graph_cycle(struct graph *g);

#endif
