/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_fib.h - a Fibonacci number by wait groups. Each call schedules one
 * of its halves, computes the other, and waits.
 *
 * The includer defines spawn(run, argument), which schedules a task.
 */
#ifndef SN_BENCH_WAIT_GROUP_FIB_H
#define SN_BENCH_WAIT_GROUP_FIB_H

#include "sennit.h"

#include <stdlib.h>

struct half {
	sennit_wait_group done;
	unsigned          argument;
	unsigned          result;
};

static void run_half(void *argument);

static unsigned fib(unsigned n)
{
	struct half other;
	unsigned    result;

	if (n < 2)
		return n;
	other.argument = n - 1;
	sennit_wait_group_init(&other.done, 1);
	spawn(run_half, &other);
	result = fib(n - 2);
	sennit_wait_group_wait(&other.done);
	return result + other.result;
}

static void run_half(void *argument)
{
	struct half *h = argument;

	h->result = fib(h->argument);
	sennit_wait_group_done(&h->done);
}

/* The same with the half tied to its wait group. */
static void run_tied(void *argument);

static unsigned tied_fib(unsigned n)
{
	struct half other;
	unsigned    result;

	if (n < 2)
		return n;
	other.argument = n - 1;
	sennit_wait_group_init(&other.done, 0);
	if (sennit_wait_group_spawn(&other.done, run_tied, &other))
		abort();
	result = tied_fib(n - 2);
	sennit_wait_group_wait(&other.done);
	return result + other.result;
}

static void run_tied(void *argument)
{
	struct half *h = argument;

	h->result = tied_fib(h->argument);
}

#endif
