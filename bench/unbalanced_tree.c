/* SPDX-License-Identifier: Apache-2.0 */
/* unbalanced_tree.c - count the nodes of a tree whose shape nobody can guess;
 * every child is a task. A node's number alone decides whether it has six
 * children or none, with 0.998 expected, so that subtrees range from one node
 * to hundreds of thousands, 1439 levels deep; nothing but stealing balances it.
 */
#include "harness.h"

#define SEED     UINT64_C(176)
#define AT_ROOT  2000
#define CHILDREN 6
#define FERTILE  UINT64_C(714396226) /* of 2^32: 0.998 / CHILDREN */
#define NODES    2845527

struct node {
	sennit_wait_group *parent;
	uint64_t           number;
	uint64_t           count; /* nodes of its subtree */
};

/* Spread a node's number over all bits. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 32);
}

static uint64_t child_of(uint64_t number, unsigned index)
{
	return mix(number + index + 1);
}

static bool is_fertile(uint64_t number)
{
	return number >> 32 < FERTILE;
}

static void run_node(void *argument);

/* Count the subtrees of `count` children, each in a task. */
static uint64_t count_all(uint64_t number, struct node *children,
			  unsigned count)
{
	sennit_wait_group left;
	uint64_t          sum = 1;

	sennit_wait_group_init(&left, count);
	for (unsigned i = 0; i < count; i++) {
		children[i].parent = &left;
		children[i].number = child_of(number, i);
		spawn(run_node, &children[i]);
	}
	sennit_wait_group_wait(&left);
	for (unsigned i = 0; i < count; i++)
		sum += children[i].count;
	return sum;
}

static uint64_t count_node(uint64_t number)
{
	struct node children[CHILDREN];

	if (!is_fertile(number))
		return 1;
	return count_all(number, children, CHILDREN);
}

static void run_node(void *argument)
{
	struct node *n = argument;

	n->count = count_node(n->number);
	sennit_wait_group_done(n->parent);
}

static void tasks(struct bench_run *r)
{
	static struct node at_root[AT_ROOT];
	sennit_time        begin = sennit_now();
	uint64_t           count = count_all(mix(SEED), at_root, AT_ROOT);

	bench_elapsed(r, begin);
	bench_check(count == NODES, "unbalanced tree: wrong count");
}

static __attribute__((noinline)) uint64_t plain_count(uint64_t number,
						      unsigned children)
{
	uint64_t sum = 1;
	uint64_t child;

	for (unsigned i = 0; i < children; i++) {
		child = child_of(number, i);
		sum += plain_count(child, is_fertile(child) ? CHILDREN : 0);
	}
	return sum;
}

static void serial(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    count = plain_count(mix(SEED), AT_ROOT);

	bench_elapsed(r, begin);
	bench_check(count == NODES, "unbalanced tree: wrong count");
}

const struct bench_row bench_unbalanced_tree[] = {
	{ .names = { "W9-unbalanced-tree/serial" }, .n = NODES, .run = serial },
	{ .names = { "W9-unbalanced-tree/wait-group" },
	  .n = NODES,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = tasks },
	{ .run = NULL },
};
