/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - an immutable graph of functions, and the record of one run.
 *
 *	dag    nodes: n0 n1 .. start   slots: s0 s1 .. start   edges: ...
 *	run    group, data, ...        slots: a copy of those
 *
 * `start` is one node more than the program's. It precedes every node without
 * predecessors, and each run begins with it.
 *
 * In one run, a slot counts the predecessors of its node that have not ended. A
 * task carries only the slot's address. The slot stores the index of its node,
 * so the run's address can be computed from it.
 */
#ifndef SN_DAG_H
#define SN_DAG_H

#include "base/atomic.h"
#include "sennit/dag.h"

/* Flag in an edge: the node has no other predecessor, so it needs no
 * counting. */
#define DAG_ALONE (UINT32_C(1) << 31)

struct dag_node {
	sennit_dag_fn *run;
	void          *argument;
	uint32_t       begin; /* range of its edges: [begin, end) */
	uint32_t       end;
};

struct dag_slot {
	a_u32    left; /* any: number of predecessors left; see dag.c */
	uint32_t node; /* fixed */
};

struct sennit_dag {
	sennit_allocator allocator; /* fixed, like all fields except runs */
	a_u32            runs;      /* any: runs that have not ended */
	uint32_t         start;     /* index of the start node = number of the
				     * program's nodes */
	size_t           size;      /* bytes of the whole block */
	struct dag_node *nodes;     /* start + 1 */
	struct dag_slot *slots;     /* start + 1 */
	uint32_t        *edges;     /* the node that each edge leads to, with
				     * DAG_ALONE */
};

#endif
