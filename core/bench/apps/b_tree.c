/* SPDX-License-Identifier: Apache-2.0 */
/* b_tree.c - tasks insert keys into one B-tree. */
#include "harness.h"

#define B_TREE_LOCK          sennit_mutex
#define B_TREE_ACQUIRE(lock) sennit_mutex_lock(lock)
#define B_TREE_RELEASE(lock) sennit_mutex_unlock(lock)
#include "b_tree.h"

static int insert(void *unused, size_t begin, size_t end)
{
	(void)unused;
	for (size_t i = begin; i < end; i++)
		b_insert_part((unsigned)i);
	return 0;
}

static void tasks(struct bench_run *r)
{
	const sennit_parallel_options o = { .size = sizeof(o), .grain = 1 };
	sennit_time                   begin;

	b_begin();
	begin = sennit_now();
	bench_check(!sennit_parallel_for(0, B_TREE_TASKS, insert, NULL, &o,
					 SENNIT_NEVER),
		    "b-tree: an error");
	bench_elapsed(r, begin);
	b_check();
}

const struct bench_row bench_b_tree[] = {
	BENCH_ROW("R4-b-tree/mutex", B_TREE_INSERTS, BENCH_EACH, tasks),
	{ .run = NULL },
};
