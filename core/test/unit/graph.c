/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - sorted edges and cycles, compared with simple ways to find them. */
#include "testing/random.h"
#include "flow/graph.h"

#include "testing/test.h"

#include <string.h>

enum { NODES = 12, EDGES = 30 };

struct drawing {
	uint32_t    nodes, edges;
	struct edge edge[EDGES];
	bool        leads[NODES][NODES];
	bool        reaches[NODES][NODES]; /* by one edge or more */
};

static void draw(struct drawing *d, uint64_t *random)
{
	*d = (struct drawing){ .nodes = 1 + random_below(random, NODES),
			       .edges = random_below(random, EDGES + 1) };
	for (uint32_t i = 0; i < d->edges; i++) {
		d->edge[i].before = random_below(random, d->nodes);
		d->edge[i].after = random_below(random, d->nodes);
		d->leads[d->edge[i].before][d->edge[i].after] = true;
	}
	memcpy(d->reaches, d->leads, sizeof(d->reaches));
	for (uint32_t k = 0; k < d->nodes; k++)
		for (uint32_t i = 0; i < d->nodes; i++)
			for (uint32_t j = 0; j < d->nodes; j++)
				d->reaches[i][j] |= d->reaches[i][k] &&
						    d->reaches[k][j];
}

static void make(struct graph *g, const struct drawing *d)
{
	assert_int_equal(
		sn_graph_make(g, &sn_memory_libc, d->nodes, d->edge, d->edges),
		0);
}

static bool has_circle(const struct drawing *d)
{
	for (uint32_t i = 0; i < d->nodes; i++)
		if (d->reaches[i][i])
			return true;
	return false;
}

static void assert_same(const struct graph *g, const struct drawing *d)
{
	uint32_t ins[NODES] = { 0 }, edges = 0;

	for (uint32_t i = 0; i < d->nodes; i++)
		for (uint32_t k = 0; k < d->nodes; k++) {
			edges += d->leads[i][k];
			ins[k] += d->leads[i][k];
		}
	assert_int_equal(sn_graph_edges(g), edges);
	for (uint32_t i = 0; i < d->nodes; i++) {
		assert_int_equal(g->ins[i], ins[i]);
		for (uint32_t k = g->begins[i]; k < g->begins[i + 1]; k++)
			assert_true(d->leads[i][g->successors[k]]);
	}
}

TEST(each_edge_is_there_once)
{
	uint64_t       random = random_stream(1);
	struct drawing d;
	struct graph   g;

	for (int i = 0; i < 2000; i++) {
		draw(&d, &random);
		make(&g, &d);
		assert_same(&g, &d);
		sn_graph_free(&g, &sn_memory_libc);
	}
}

static void assert_circle(struct graph *g, const struct drawing *d)
{
	const uint32_t first = sn_graph_cycle(g);
	uint32_t       node = first, steps = 0;

	do {
		assert_true(g->left[node] < d->nodes);
		assert_true(d->leads[node][g->left[node]]);
		node = g->left[node];
		assert_true(node >= first);
		assert_true(++steps <= d->nodes);
	} while (node != first);
}

TEST(there_is_an_order_unless_there_is_a_circle)
{
	uint64_t       random = random_stream(2);
	unsigned       circles = 0;
	struct drawing d;
	struct graph   g;

	for (int i = 0; i < 5000; i++) {
		draw(&d, &random);
		make(&g, &d);
		assert_int_equal(sn_graph_has_order(&g), !has_circle(&d));
		if (has_circle(&d)) {
			assert_circle(&g, &d);
			circles++;
		}
		sn_graph_free(&g, &sn_memory_libc);
	}
	assert_true(circles > 100 && circles < 4900);
}

TEST(those_of_one_node_keep_their_order)
{
	static const struct edge edges[] = {
		{ 1, 3 }, { 0, 2 }, { 1, 0 }, { 1, 3 }, { 0, 3 }, { 1, 2 },
	};
	static const uint32_t successors[] = { 2, 3, 3, 0, 2 };
	struct graph          g;

	assert_int_equal(sn_graph_make(&g, &sn_memory_libc, 4, edges, 6), 0);
	assert_int_equal(sn_graph_edges(&g), 5);
	assert_memory_equal(g.successors, successors, sizeof(successors));
	sn_graph_free(&g, &sn_memory_libc);
}
