/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.c - the cost of a blocking call: empty calls one after the other,
 * empty calls of 64 fibers at once, and calls of 64 fibers that sleep for 1 ms,
 * as a file or server access may. */
#include "harness.h"

#include <unistd.h>

#define FIBERS 64
#define SHARE  500 /* calls per fiber */
#define NAPS   20

static sennit_wait_group left;

static void *do_nothing(void *argument)
{
	return argument;
}

static void *nap(void *argument)
{
	usleep(1000);
	return argument;
}

static void call_in_turn(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++)
		sennit_blocking_call(do_nothing, NULL);
	bench_elapsed(r, begin);
}

static void call_share(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < SHARE; i++)
		sennit_blocking_call(do_nothing, NULL);
	sennit_wait_group_done(&left);
}

static void nap_share(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < NAPS; i++)
		sennit_blocking_call(nap, NULL);
	sennit_wait_group_done(&left);
}

static void run_fibers(struct bench_run *r, sennit_task_fn *run)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(run, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static void call_at_once(struct bench_run *r)
{
	run_fibers(r, call_share);
}

static void nap_at_once(struct bench_run *r)
{
	run_fibers(r, nap_share);
}

const struct bench_row bench_blocking[] = {
	BENCH_ROW("blocking/in-turn", 20000, BENCH_EACH, call_in_turn),
	BENCH_ROW("blocking/64-fibers", FIBERS *SHARE, BENCH_EACH,
		  call_at_once),
	BENCH_ROW("blocking/64-fibers-1ms", FIBERS *NAPS, BENCH_EACH,
		  nap_at_once),
	{ .run = NULL },
};
