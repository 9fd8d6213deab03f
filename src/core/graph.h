/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - edges sorted by where they begin, and whether they close a circle.
 *
 *	edges       (0,2) (1,2) (0,3) (2,3) (0,2)
 *
 *	begins      0     2  3  4  4       of node i, up to that of i + 1
 *	successors  2  3  2  3             in the order given, each once
 *	ins         0  0  2  2             how many come before node i
 *
 * Numbers of nodes are below 2^31. All arrays lie in one block, which is freed
 * when what is needed was copied out of it. Single-threaded.
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
	uint32_t *successors; /* as many as edges were given, at least */
	uint32_t *ins;        /* nodes */
	uint32_t *left;       /* nodes: see sn_graph_has_order, _cycle */
	uint32_t *work;       /* nodes */
	size_t    size;
};

/* Make *g of `count` edges between nodes below `nodes`. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_graph_make(struct graph *g, const sennit_allocator *a,
				  uint32_t nodes, const struct edge *edges,
				  uint32_t count);
void                sn_graph_free(struct graph *g, const sennit_allocator *a);

static inline uint32_t sn_graph_edges(const struct graph *g)
{
	return g->begins[g->nodes];
}

/* Whether there is an order in which each node comes after all before it. Then
 * `left` is zero throughout; else it is above zero for the nodes that lie in a
 * circle or come after one. */
bool sn_graph_has_order(struct graph *g);

/* There is no order: find a circle. Returns the lowest node in it; the node
 * that comes after node i in it is left[i] from now on. */
uint32_t sn_graph_cycle(struct graph *g);

#endif
