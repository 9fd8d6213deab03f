/* SPDX-License-Identifier: Apache-2.0 */
/* unbalanced_tree.c - counts the nodes of a tree of unpredictable shape. Every
 * child is a task, and only stealing balances the load.
 */
#include "harness.h"
#include "shapes.h"
#include "sennit/fork_join.h"

/* End a run that began at `begin` and counted `count` nodes. */
static void record(struct bench_run *r, sennit_time begin, uint64_t count)
{
	bench_elapsed(r, begin);
	bench_check(count == TREE_NODES, "unbalanced tree: wrong count");
}

/* --- with wait groups ----------------------------------------------------- */

struct node {
	sennit_wait_group *parent;
	uint64_t           number;
	uint64_t           count; /* nodes of its subtree */
};

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
	struct node children[TREE_CHILDREN];

	if (!is_fertile(number))
		return 1;
	return count_all(number, children, TREE_CHILDREN);
}

static void run_node(void *argument)
{
	struct node *n = argument;

	n->count = count_node(n->number);
	sennit_wait_group_done(n->parent);
}

static void tasks(struct bench_run *r)
{
	static struct node at_root[TREE_AT_ROOT];
	sennit_time        begin = sennit_now();

	record(r, begin, count_all(root_of_tree(), at_root, TREE_AT_ROOT));
}

/* --- with tasks tied to wait groups --------------------------------------- */

static void run_tied(void *argument);

static uint64_t count_tied(uint64_t number, struct node *children,
			   unsigned count)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	uint64_t          sum = 1;

	for (unsigned i = 0; i < count; i++) {
		children[i].number = child_of(number, i);
		spawn_tied(&left, run_tied, &children[i]);
	}
	sennit_wait_group_wait(&left);
	for (unsigned i = 0; i < count; i++)
		sum += children[i].count;
	return sum;
}

static void run_tied(void *argument)
{
	struct node *n = argument;
	struct node  children[TREE_CHILDREN];

	n->count = is_fertile(n->number)
			   ? count_tied(n->number, children, TREE_CHILDREN)
			   : 1;
}

static void tied_tasks(struct bench_run *r)
{
	static struct node at_root[TREE_AT_ROOT];
	sennit_time        begin = sennit_now();

	record(r, begin, count_tied(root_of_tree(), at_root, TREE_AT_ROOT));
}

/* --- with groups ---------------------------------------------------------- */

struct member {
	uint64_t number;
	uint64_t count;
};

static int run_member(void *argument);

static uint64_t count_in_group(uint64_t number, struct member *children,
			       unsigned count)
{
	sennit_group g;
	uint64_t     sum = 1;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < count; i++) {
		children[i].number = child_of(number, i);
		bench_check(!sennit_group_spawn(&g, run_member, &children[i]),
			    "unbalanced tree: out of memory");
	}
	bench_check(!sennit_group_wait(&g), "unbalanced tree: a member failed");
	for (unsigned i = 0; i < count; i++)
		sum += children[i].count;
	return sum;
}

static int run_member(void *argument)
{
	struct member *m = argument;
	struct member  children[TREE_CHILDREN];

	m->count = is_fertile(m->number)
			   ? count_in_group(m->number, children, TREE_CHILDREN)
			   : 1;
	return 0;
}

static void groups(struct bench_run *r)
{
	static struct member at_root[TREE_AT_ROOT];
	sennit_time          begin = sennit_now();

	record(r, begin, count_in_group(root_of_tree(), at_root, TREE_AT_ROOT));
}

/* --- with fork-join ------------------------------------------------------- */

SENNIT_FORK(uint64_t, forked_node, uint64_t, number)
{
	SENNIT_FORK_RECORD(forked_node) children[TREE_CHILDREN];
	uint64_t sum = 1;

	if (!is_fertile(number))
		return 1;
	for (unsigned i = 0; i < TREE_CHILDREN; i++)
		SENNIT_FORK_SPAWN_TO(forked_node, children[i],
				     child_of(number, i));
	for (unsigned i = TREE_CHILDREN; i-- > 0;)
		sum += SENNIT_FORK_SYNC(forked_node, children[i]);
	return sum;
}

SENNIT_FORK(uint64_t, forked_root, uint64_t, number)
{
	static SENNIT_FORK_RECORD(forked_node) children[TREE_AT_ROOT];
	uint64_t sum = 1;

	for (unsigned i = 0; i < TREE_AT_ROOT; i++)
		SENNIT_FORK_SPAWN_TO(forked_node, children[i],
				     child_of(number, i));
	for (unsigned i = TREE_AT_ROOT; i-- > 0;)
		sum += SENNIT_FORK_SYNC(forked_node, children[i]);
	return sum;
}

static void forks(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	record(r, begin, SENNIT_FORK_RUN(forked_root, root_of_tree()));
}

/* --- without tasks -------------------------------------------------------- */

static __attribute__((noinline)) uint64_t plain_count(uint64_t number,
						      unsigned children)
{
	uint64_t sum = 1;
	uint64_t child;

	for (unsigned i = 0; i < children; i++) {
		child = child_of(number, i);
		sum += plain_count(child,
				   is_fertile(child) ? TREE_CHILDREN : 0);
	}
	return sum;
}

static void serial(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	record(r, begin, plain_count(root_of_tree(), TREE_AT_ROOT));
}

const struct bench_row bench_unbalanced_tree[] = {
	{ .names = { "W9-unbalanced-tree/serial" },
	  .n = TREE_NODES,
	  .run = serial },
	BENCH_ROW("W9-unbalanced-tree/wait-group", TREE_NODES, BENCH_EACH,
		  tasks),
	BENCH_ROW("W9-unbalanced-tree/wait-group-spawn", TREE_NODES, BENCH_EACH,
		  tied_tasks),
	BENCH_ROW("W9-unbalanced-tree/group", TREE_NODES, BENCH_EACH, groups),
	BENCH_ROW("W9-unbalanced-tree/fork", TREE_NODES, BENCH_EACH, forks),
	{ .run = NULL },
};
