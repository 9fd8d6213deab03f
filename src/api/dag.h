/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - a graph of functions that never changes, and the record of a run.
 *
 *	dag    nodes: n0 n1 .. start   slots: s0 s1 .. start   edges: ...
 *	run    group, data, ...        slots: a copy of those
 *
 * `start` is one node more than the program's: the one that what has nothing
 * before it comes after, and which a run begins with.
 *
 * A slot counts, in one run, the nodes before its own that have not ended. Its
 * address is all that a task carries: the slot knows its node, so the run lies
 * where it must be.
 */
#ifndef SN_API_DAG_H
#define SN_API_DAG_H

#include "base/atomic.h"
#include "sennit/dag.h"

/* In an edge: nothing else comes before the node, so nobody counts. */
#define DAG_ALONE (UINT32_C(1) << 31)

struct dag_node {
	sennit_dag_fn *run;
	void          *argument;
	uint32_t       begin; /* its edges: [begin, end) */
	uint32_t       end;
};

struct dag_slot {
	a_u32    left; /* any: how many nodes to wait for; see dag.c */
	uint32_t node; /* fixed */
};

struct sennit_dag {
	sennit_allocator allocator; /* fixed, as all but: */
	a_u32            runs;      /* any: that have not ended */
	uint32_t         start;     /* the number of nodes, and of one more */
	size_t           size;      /* bytes of all this */
	struct dag_node *nodes;     /* start + 1 */
	struct dag_slot *slots;     /* start + 1 */
	uint32_t        *edges;     /* where each leads to, with DAG_ALONE */
};

#endif
