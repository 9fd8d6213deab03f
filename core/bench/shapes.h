/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h - the workloads themselves: their sizes and shapes. The rows of
 * sennit and those of bench/peers use the same.
 */
#ifndef SN_BENCH_SHAPES_H
#define SN_BENCH_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

/* --- a tree of unpredictable shape ---------------------------------------- */

/* A node's number alone decides whether it has six children or none. The
 * expected number is 0.998. Subtrees have from one to hundreds of thousands of
 * nodes, and the tree is 1439 levels deep. */
#define TREE_SEED     UINT64_C(176)
#define TREE_AT_ROOT  2000
#define TREE_CHILDREN 6
#define TREE_FERTILE  UINT64_C(714396226) /* of 2^32: 0.998 / 6 */
#define TREE_NODES    2845527

/* Spread a node's number over all bits. */
static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 32);
}

static inline uint64_t root_of_tree(void)
{
	return mix(TREE_SEED);
}

static inline uint64_t child_of(uint64_t number, unsigned index)
{
	return mix(number + index + 1);
}

static inline bool is_fertile(uint64_t number)
{
	return number >> 32 < TREE_FERTILE;
}

/* --- queens, row by row --------------------------------------------------- */

#define QUEENS           12
#define QUEENS_SOLUTIONS 14200
#define QUEENS_PLACED    856188 /* squares that no earlier queen attacks */

/* Columns and diagonals under attack, as seen from the next row. */
struct board {
	uint32_t columns;
	uint32_t left;
	uint32_t right;
};

static const uint32_t full_board = (UINT32_C(1) << QUEENS) - 1;

static inline struct board place(const struct board *b, uint32_t queen)
{
	struct board next;

	next.columns = b->columns | queen;
	next.left = (b->left | queen) << 1;
	next.right = (b->right | queen) >> 1;
	return next;
}

static inline uint32_t free_of(const struct board *b)
{
	return full_board & ~(b->columns | b->left | b->right);
}

static inline bool is_solved(const struct board *b)
{
	return b->columns == full_board;
}

#endif
