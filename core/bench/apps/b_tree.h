/* SPDX-License-Identifier: Apache-2.0 */
/* b_tree.h - a B-tree with a lock in each node. An insertion goes down from the
 * root, holds at most the locks of a node and its child, and splits the full
 * nodes that it meets, so it never has to go back.
 *
 * The includer defines B_TREE_LOCK, a type whose static objects are
 * unlocked, and B_TREE_ACQUIRE(lock) and B_TREE_RELEASE(lock).
 *
 * Source: Guibas and Sedgewick (1978), for the splits on the way down.
 */
#ifndef SN_BENCH_APPS_B_TREE_H
#define SN_BENCH_APPS_B_TREE_H

#include "harness.h"

#define B_TREE_KEYS    63 /* odd */
#define B_TREE_HALF    (B_TREE_KEYS / 2)
#define B_TREE_INSERTS UINT64_C(262144)
#define B_TREE_TASKS   64
#define B_TREE_PART    (B_TREE_INSERTS / B_TREE_TASKS)
#define B_TREE_NODES   (B_TREE_INSERTS / B_TREE_HALF + 8)

struct b_node {
	B_TREE_LOCK    lock;
	unsigned       count;
	bool           is_leaf;
	uint32_t       keys[B_TREE_KEYS];
	struct b_node *children[B_TREE_KEYS + 1];
};

static struct b_node  b_nodes[B_TREE_NODES];
static unsigned       b_taken;
static struct b_node *b_root;
static B_TREE_LOCK    b_root_lock;

static inline struct b_node *b_new_node(bool is_leaf)
{
	unsigned i = __atomic_fetch_add(&b_taken, 1, __ATOMIC_RELAXED);

	bench_check(i < B_TREE_NODES, "b-tree: too many nodes");
	b_nodes[i].count = 0;
	b_nodes[i].is_leaf = is_leaf;
	return &b_nodes[i];
}

static inline void b_begin(void)
{
	b_taken = 0;
	b_root = b_new_node(true);
}

/* The i-th key: all are different, in no order. */
static inline uint32_t b_key(uint32_t i)
{
	return i * UINT32_C(2654435761);
}

static inline unsigned b_place(const struct b_node *n, uint32_t key)
{
	unsigned low = 0, high = n->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (n->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Make place for a key at `at` and for the child behind it. */
static inline void b_open(struct b_node *n, unsigned at)
{
	for (unsigned i = n->count; i > at; i--)
		n->keys[i] = n->keys[i - 1];
	for (unsigned i = n->count; i > at && !n->is_leaf; i--)
		n->children[i + 1] = n->children[i];
	n->count++;
}

/* Split the full child `at` of a parent that is not full. The caller holds both
 * locks. */
static inline void b_split(struct b_node *parent, unsigned at)
{
	struct b_node *left = parent->children[at];
	struct b_node *right = b_new_node(left->is_leaf);

	right->count = B_TREE_HALF;
	for (unsigned i = 0; i < B_TREE_HALF; i++)
		right->keys[i] = left->keys[B_TREE_HALF + 1 + i];
	for (unsigned i = 0; i <= B_TREE_HALF; i++)
		right->children[i] = left->children[B_TREE_HALF + 1 + i];
	left->count = B_TREE_HALF;
	b_open(parent, at);
	parent->keys[at] = left->keys[B_TREE_HALF];
	parent->children[at + 1] = right;
}

/* Lock the root and return it, not full. */
static inline struct b_node *b_lock_root(void)
{
	struct b_node *n, *above;

	B_TREE_ACQUIRE(&b_root_lock);
	n = b_root;
	B_TREE_ACQUIRE(&n->lock);
	if (n->count == B_TREE_KEYS) {
		above = b_new_node(false);
		above->children[0] = n;
		b_split(above, 0);
		b_root = above;
		B_TREE_ACQUIRE(&above->lock);
		B_TREE_RELEASE(&n->lock);
		n = above;
	}
	B_TREE_RELEASE(&b_root_lock);
	return n;
}

/* Lock the child that the key belongs to, not full, and unlock the parent. */
static inline struct b_node *b_descend(struct b_node *parent, uint32_t key)
{
	unsigned       at = b_place(parent, key);
	struct b_node *child = parent->children[at], *right;

	B_TREE_ACQUIRE(&child->lock);
	if (child->count == B_TREE_KEYS) {
		b_split(parent, at);
		if (key > parent->keys[at]) {
			right = parent->children[at + 1];
			B_TREE_ACQUIRE(&right->lock);
			B_TREE_RELEASE(&child->lock);
			child = right;
		}
	}
	B_TREE_RELEASE(&parent->lock);
	return child;
}

static inline void b_insert(uint32_t key)
{
	struct b_node *n = b_lock_root();
	unsigned       at;

	while (!n->is_leaf)
		n = b_descend(n, key);
	at = b_place(n, key);
	b_open(n, at);
	n->keys[at] = key;
	B_TREE_RELEASE(&n->lock);
}

static inline void b_insert_part(unsigned part)
{
	for (uint32_t i = 0; i < B_TREE_PART; i++)
		b_insert(b_key((uint32_t)(part * B_TREE_PART) + i));
}

/* Add the keys below n. They must be more than `last`, the key before them;
 * returns the last one. */
static inline int64_t b_add(const struct b_node *n, int64_t last, uint64_t *sum)
{
	for (unsigned i = 0; i < n->count; i++) {
		if (!n->is_leaf)
			last = b_add(n->children[i], last, sum);
		bench_check(n->keys[i] > last, "b-tree: out of order");
		last = n->keys[i];
		*sum += n->keys[i];
	}
	return n->is_leaf ? last : b_add(n->children[n->count], last, sum);
}

static inline void b_check(void)
{
	uint64_t sum = 0, wanted = 0;

	(void)b_add(b_root, -1, &sum);
	for (uint32_t i = 0; i < B_TREE_INSERTS; i++)
		wanted += b_key(i);
	bench_check(sum == wanted, "b-tree: a key is lost");
}

#endif
