/* SPDX-License-Identifier: Apache-2.0 */
/* dag_build.c - collects nodes and edges, and builds a DAG from them. */
#include "base/compiler.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/torture.h"
#include "flow/graph.h"
#include "flow/dag.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The initial capacity of a builder, in nodes or edges. */
#define FIRST_ROOM TORTURED(1u, 16u)

struct blueprint {
	sennit_dag_fn *run;
	void          *argument;
	const char    *name;
};

/* --- the builder -------------------------------------------------------- */

static const sennit_allocator *allocator_of(const sennit_dag_builder *b)
{
	return b->allocator_.allocate ? &b->allocator_ : &sn_memory_libc;
}

int sennit_dag_builder_init(sennit_dag_builder     *b,
			    const sennit_allocator *allocator)
{
	if (!sn_memory_is_valid(allocator))
		return -EINVAL;
	*b = (sennit_dag_builder)SENNIT_DAG_BUILDER_INIT;
	if (allocator)
		b->allocator_ = *allocator;
	return 0;
}

void sennit_dag_builder_destroy(sennit_dag_builder *b)
{
	const sennit_allocator *a = allocator_of(b);

	sn_memory_give(a, b->nodes_, b->node_room_ * sizeof(struct blueprint));
	sn_memory_give(a, b->edges_, b->edge_room_ * sizeof(struct edge));
	b->nodes_ = NULL;
	b->edges_ = NULL;
	b->node_count_ = b->node_room_ = 0;
	b->edge_count_ = b->edge_room_ = 0;
}

/* Make room for one more item of `each` bytes after `count` items. `limit`, a
 * power of two, is the maximum number of items. */
static int make_room(const sennit_allocator *a, void **items, uint32_t *room,
		     uint32_t count, size_t each, uint32_t limit)
{
	const uint32_t more = *room ? *room * 2 : FIRST_ROOM;
	size_t         size;
	void          *grown;

	if (count == limit)
		return -EOVERFLOW;
	if (count < *room)
		return 0;
	if (__builtin_mul_overflow(each, more, &size))
		return -ENOMEM;
	grown = a->allocate(a->context, size, _Alignof(max_align_t));
	if (!grown)
		return -ENOMEM;
	if (count)
		memcpy(grown, *items, count * each);
	sn_memory_give(a, *items, *room * each);
	*items = grown;
	*room = more;
	return 0;
}

int sennit_dag_builder_add(sennit_dag_builder *b, sennit_dag_fn *run,
			   void *argument, const char *name, uint32_t *node)
{
	struct blueprint *nodes;
	int               err;

	err = make_room(allocator_of(b), &b->nodes_, &b->node_room_,
			b->node_count_, sizeof(*nodes), SENNIT_DAG_NODES);
	if (err)
		return err;
	nodes = b->nodes_;
	nodes[b->node_count_] = (struct blueprint){ run, argument, name };
	*node = b->node_count_++;
	return 0;
}

int sennit_dag_builder_order(sennit_dag_builder *b, uint32_t before,
			     uint32_t after)
{
	struct edge *edges;
	int          err;

	MISUSE(before >= b->node_count_ || after >= b->node_count_,
	       "sennit_dag_builder_order", "there is no node with that number");
	err = make_room(allocator_of(b), &b->edges_, &b->edge_room_,
			b->edge_count_, sizeof(*edges), SENNIT_DAG_EDGES);
	if (err)
		return err;
	edges = b->edges_;
	edges[b->edge_count_++] = (struct edge){ before, after };
	return 0;
}

/* --- the description of a cycle ----------------------------------------- */

struct text {
	char  *at;
	size_t room; /* bytes from `at` on, with the terminating 0; at least
		      * 1 */
	bool   cut;
};

static void append_text(struct text *t, const char *words)
{
	const size_t length = strlen(words);
	const size_t fits = length < t->room ? length : t->room - 1;

	if (t->cut)
		return;
	memcpy(t->at, words, fits);
	t->at += fits;
	t->room -= fits;
	*t->at = '\0';
	t->cut = fits < length;
}

static void append_node(struct text *t, const sennit_dag_builder *b,
			uint32_t node)
{
	const struct blueprint *nodes = b->nodes_;
	char                    name[256];

	if (nodes[node].name)
		sn_escape(name, sizeof(name), nodes[node].name);
	else
		snprintf(name, sizeof(name), "node %u", (unsigned)node);
	append_text(t, name);
}

static void describe_cycle(const sennit_dag_builder *b, struct graph *g,
			   char *cycle, size_t size)
{
	struct text    t = { .at = cycle, .room = size };
	const uint32_t first = sn_graph_cycle(g);
	uint32_t       node = first;

	append_node(&t, b, first);
	do {
		node = g->left[node];
		append_text(&t, " -> ");
		append_node(&t, b, node);
	} while (node != first && !t.cut);
	if (t.cut)
		memcpy(size > 3 ? t.at - 3 : cycle, "...",
		       size > 3 ? 3 : size - 1);
}

/* --- the build ---------------------------------------------------------- */

/* The number of nodes with which a run begins. */
static uint32_t count_first(const struct graph *g, uint32_t root)
{
	uint32_t n = 0, node;

	if (root != GRAPH_NONE)
		return 1;
	for (node = 0; node < g->nodes; node++)
		n += !g->ins[node];
	return n;
}

/* The size of a DAG in bytes. 0: larger than SIZE_MAX. Each array ends aligned
 * for the next one. */
static size_t dag_size(uint32_t nodes, uint32_t edges)
{
	const uint64_t n = UINT64_C(1) + nodes;
	const uint64_t size = sizeof(sennit_dag) + n * sizeof(struct dag_node) +
			      n * sizeof(struct dag_slot) +
			      edges * (uint64_t)sizeof(uint32_t);

	return size > SIZE_MAX ? 0 : (size_t)size;
}

_Static_assert(sizeof(sennit_dag) % _Alignof(struct dag_node) == 0 &&
		       sizeof(struct dag_node) % _Alignof(struct dag_slot) == 0,
	       "arrays of a DAG lie behind each other");

/* Allocate a DAG and set everything except its nodes, slots and edges. */
static sennit_dag *make_frame(const sennit_allocator *a, uint32_t nodes,
			      uint32_t edges)
{
	const size_t size = dag_size(nodes, edges);
	sennit_dag  *d = size ? sn_memory_take(a, size, _Alignof(max_align_t))
			      : NULL;

	if (!d)
		return NULL;
	d->allocator = *a;
	a_init(&d->runs, 0);
	d->start = nodes;
	d->size = size;
	d->nodes = (struct dag_node *)(d + 1);
	d->slots = (struct dag_slot *)(d->nodes + nodes + 1);
	d->edges = (uint32_t *)(d->slots + nodes + 1);
	return d;
}

static void fill_nodes(sennit_dag *d, const struct graph *g,
		       const struct blueprint *nodes)
{
	uint32_t i;

	for (i = 0; i < g->nodes; i++) {
		d->nodes[i] =
			(struct dag_node){ nodes[i].run, nodes[i].argument,
					   g->begins[i], g->begins[i + 1] };
		a_init(&d->slots[i].left, g->ins[i]);
		d->slots[i].node = i;
	}
	for (i = 0; i < sn_graph_edges(g); i++) {
		const uint32_t after = g->successors[i];

		d->edges[i] = after | (g->ins[after] == 1 ? DAG_ALONE : 0);
	}
}

/* Fill in the start node, which precedes the first nodes of a run. */
static void fill_start(sennit_dag *d, const struct graph *g, uint32_t root)
{
	struct dag_node *start = &d->nodes[d->start];
	uint32_t         node;

	start->begin = start->end = sn_graph_edges(g);
	d->slots[d->start].node = d->start;
	if (root != GRAPH_NONE)
		d->edges[start->end++] = root | DAG_ALONE;
	for (node = 0; root == GRAPH_NONE && node < g->nodes; node++)
		if (!g->ins[node])
			d->edges[start->end++] = node | DAG_ALONE;
}

static int build_dag(sennit_dag **out, const sennit_dag_builder *b,
		     uint32_t root, char *cycle, size_t size)
{
	const sennit_allocator *a = allocator_of(b);
	struct graph            g;
	sennit_dag             *d;
	int                     err;

	err = sn_graph_make(&g, a, b->node_count_, b->edges_, b->edge_count_);
	if (err)
		return err;
	if (!sn_graph_has_order(&g)) {
		if (size)
			describe_cycle(b, &g, cycle, size);
		sn_graph_free(&g, a);
		return -ELOOP;
	}
	d = make_frame(a, g.nodes, sn_graph_edges(&g) + count_first(&g, root));
	if (d) {
		fill_nodes(d, &g, b->nodes_);
		fill_start(d, &g, root);
		*out = d;
	}
	sn_graph_free(&g, a);
	return d ? 0 : -ENOMEM;
}

int sennit_dag_build(sennit_dag **out, const sennit_dag_builder *b, char *cycle,
		     size_t size)
{
	return build_dag(out, b, GRAPH_NONE, cycle, size);
}

int sennit_dag_build_from(sennit_dag **out, const sennit_dag_builder *b,
			  uint32_t root, char *cycle, size_t size)
{
	MISUSE(root >= b->node_count_, "sennit_dag_build_from",
	       "there is no node with that number");
	return build_dag(out, b, root, cycle, size);
}

void sennit_dag_destroy(sennit_dag *d)
{
	sennit_allocator a;

	if (!d)
		return;
	MISUSE(a_load_acq(&d->runs), /* <- dag.run */
	       "sennit_dag_destroy", "a run of the DAG has not ended");
	a = d->allocator;
	sn_memory_give(&a, d, d->size);
}
