/* SPDX-License-Identifier: Apache-2.0 */
/* wait_cycles.h - a graph of fibers that wait for each other, and its cycles.
 *
 * Nodes are the fibers that run a task. A node points to the node that holds
 * the lock it waits for, or to the list of members of the group that it waits
 * for. All numbers of nodes are indexes plus 1; 0 is none.
 */
#ifndef SN_WAIT_CYCLES_H
#define SN_WAIT_CYCLES_H

#include "fiber/fiber.h"
#include "sennit/report.h"

struct graph_node {
	sennit_report_entry        entry;
	const struct sennit_fiber *fiber;
	void                      *identity; /* see sennit_fiber.identity */
	void    *scope;  /* the group that the task is a member of, or another
			    * scope */
	uint32_t doing;  /* the state word; 0: it changed during a read */
	bool     steady; /* it has been in the same wait all the time */
	bool     owned;  /* it waits for a lock that the owner has */
	void    *owner;  /* an identity */
	uint32_t holder;
	uint32_t members;
	uint32_t sibling; /* next in the list of members */
	uint32_t cursor;  /* of the search: next member to search */
	uint32_t from;    /* of the search: the node before it on the path */
	uint32_t after;   /* the node after it in its cycle */
	uint32_t mark;    /* of the search: enum graph_mark */
	uint32_t cycle;   /* number of its cycle */
	bool     leads;   /* it is the first of its cycle */
	char     name[SENNIT_NAME_SIZE];
};

enum graph_mark { GRAPH_NEW = 0, GRAPH_ON_PATH, GRAPH_DONE };

struct wait_graph {
	struct graph_node *nodes;
	uint32_t          *places; /* hash table: a power of two of nodes */
	size_t             bytes;  /* of the mapping, which begins at nodes */
	uint32_t           room;   /* maximum number of nodes */
	uint32_t           count;
	uint32_t           mask;
	uint32_t           cycles; /* number of cycles found */
};

static inline struct graph_node *sn_wait_cycles_node(const struct wait_graph *g,
						     uint32_t number)
{
	return number ? &g->nodes[number - 1] : NULL;
}

/* Find cycles of steady nodes, at least one in each set of nodes that wait for
 * each other. No node is in two. */
void sn_wait_cycles_find(struct wait_graph *g);

#endif
