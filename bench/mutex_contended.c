/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_contended.c - 64 fibers lock and unlock one mutex. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  10000

static _Alignas(128) sennit_mutex mutex;
static uint64_t          counter; /* under mutex */
static sennit_wait_group left;

static void lock_and_unlock(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_mutex_lock(&mutex);
		counter++;
		sennit_mutex_unlock(&mutex);
	}
	sennit_wait_group_done(&left);
}

static void contend(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	counter = 0;
	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(lock_and_unlock, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

const struct bench_row bench_mutex_contended[] = {
	{ .names = { "W7-mutex/64-fibers" },
	  .n = FIBERS * PAIRS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = contend },
	{ .run = NULL },
};
