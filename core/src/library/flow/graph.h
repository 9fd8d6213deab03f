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
#include "sennit/parallel.h"

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

/* --- mergesort ------------------------------------------------------------ */

/* A stable, single-threaded merge sort for elements of any size, and the split
 * of a merge into parts for several workers.
 *
 *	runs of 8   made by insertion
 *	merged      in pairs, from one buffer to the other and back
 *
 * A merge fills its output from both ends at once. Neither end needs a bounds
 * check while both runs have at least as many elements left as there are steps.
 * The two ends are independent, so the processor works on one while the other
 * waits for a comparison. Arithmetic selects the element of each step instead
 * of a branch, because that branch would be unpredictable.
 *
 * A merge is split at places of its output. For each place there is exactly one
 * pair of positions in the runs such that the elements before them go before
 * that place. A binary search finds it. (Siebert, Traeff: Perfectly
 * load-balanced, stable, synchronization-free parallel merge, 2014.)
 *
 * An inconsistent comparison function never causes an access outside of the
 * array, and never loses an element within one sort or merge: where the ends
 * cross, the rest of the runs is copied unchanged. A merge that was split may
 * lose elements, if the positions do not match.
 */

struct order {
	size_t             size; /* of an element, in bytes */
	sennit_compare_fn *compare;
	void              *context;
};

/* Two sorted runs. Of equal elements, those of `a` go first. */
struct runs {
	const char *a;
	const char *b;
	size_t      a_count;
	size_t      b_count;
};

/* Sort the n elements at `data`. `other` has room for n elements. The result is
 * in `other` if into_other, else in `data`. Returns false if the comparison was
 * inconsistent. */
bool sn_mergesort(const struct order *o, char *data, char *other, size_t n,
		  bool into_other);

/* Merge the runs into `to`. Returns false if the comparison was
 * inconsistent. */
bool sn_mergesort_merge(const struct order *o, struct runs r, char *to);

/* The number of elements that come from a among the first n of the merged
 * runs. */
size_t sn_mergesort_split(const struct order *o, const struct runs *r,
			  size_t n);

#endif
