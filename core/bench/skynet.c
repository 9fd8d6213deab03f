/* SPDX-License-Identifier: Apache-2.0 */
/* skynet.c - a tree of tasks with ten children per node and a million leaves.
 * Every leaf returns its number, every other node the sum of its children.
 */
#include "harness.h"

#define FAN_OUT 10
#define LEAVES  1000000
#define TASKS   1111110 /* all nodes except the root */
#define RESULT  (UINT64_C(999999) * 500000)

struct node {
	sennit_wait_group *parent;
	uint64_t           first;
	uint64_t           leaves;
	uint64_t           sum;
};

static void run_node(void *argument);

static uint64_t sum_of(uint64_t first, uint64_t leaves)
{
	struct node       children[FAN_OUT];
	sennit_wait_group left;
	uint64_t          sum = 0;

	if (leaves == 1)
		return first;
	sennit_wait_group_init(&left, FAN_OUT);
	leaves /= FAN_OUT;
	for (unsigned i = 0; i < FAN_OUT; i++) {
		children[i].parent = &left;
		children[i].first = first + i * leaves;
		children[i].leaves = leaves;
		spawn(run_node, &children[i]);
	}
	sennit_wait_group_wait(&left);
	for (unsigned i = 0; i < FAN_OUT; i++)
		sum += children[i].sum;
	return sum;
}

static void run_node(void *argument)
{
	struct node *n = argument;

	n->sum = sum_of(n->first, n->leaves);
	sennit_wait_group_done(n->parent);
}

static void tasks(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    sum = sum_of(0, LEAVES);

	bench_elapsed(r, begin);
	bench_check(sum == RESULT, "skynet: wrong sum");
}

static __attribute__((noinline)) uint64_t plain_sum(uint64_t first,
						    uint64_t leaves)
{
	uint64_t sum = 0;

	if (leaves == 1)
		return first;
	leaves /= FAN_OUT;
	for (unsigned i = 0; i < FAN_OUT; i++)
		sum += plain_sum(first + i * leaves, leaves);
	return sum;
}

static void serial(struct bench_run *r)
{
	volatile uint64_t leaves = LEAVES;
	sennit_time       begin = sennit_now();
	uint64_t          sum = plain_sum(0, leaves);

	bench_elapsed(r, begin);
	bench_check(sum == RESULT, "skynet: wrong sum");
}

const struct bench_row bench_skynet[] = {
	{ .names = { "W3-skynet/serial" }, .n = TASKS, .run = serial },
	BENCH_ROW("W3-skynet/wait-group", TASKS, BENCH_EACH, tasks),
	{ .run = NULL },
};
