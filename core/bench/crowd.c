/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.c - support for rows with many fibers, which all work at once or all
 * wait until released; and for rows with two fibers on two workers. */
#include "harness.h"

#include <stdatomic.h>

static struct {
	sennit_task_fn   *run; /* fixed during a run, like the next field */
	void             *argument;
	sennit_wait_group arriving;
	sennit_wait_group left;
} crowd;

static void take_part(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&crowd.arriving);
	crowd.run(crowd.argument);
	sennit_wait_group_done(&crowd.left);
}

static void gather(unsigned fibers, sennit_task_fn *run, void *argument)
{
	crowd.run = run;
	crowd.argument = argument;
	sennit_wait_group_init(&crowd.arriving, fibers);
	sennit_wait_group_init(&crowd.left, fibers);
	for (unsigned i = 0; i < fibers; i++)
		spawn(take_part, NULL);
}

void bench_crowd(struct bench_run *r, unsigned fibers, sennit_task_fn *run,
		 void *argument)
{
	sennit_time begin = sennit_now();

	gather(fibers, run, argument);
	sennit_wait_group_wait(&crowd.left);
	bench_elapsed(r, begin);
}

void bench_release(struct bench_run *r, sennit_task_fn *wait,
		   sennit_task_fn *release, void *argument)
{
	sennit_time begin;

	gather((unsigned)r->n, wait, argument);
	sennit_wait_group_wait(&crowd.arriving);
	begin = sennit_now();
	release(argument);
	sennit_wait_group_wait(&crowd.left);
	bench_elapsed(r, begin);
}

/* --- two ---------------------------------------------------------------- */

static struct {
	bench_turns_fn   *play; /* fixed during a run, like the next field */
	uint64_t          turns;
	sennit_time       begin; /* written by side 0 */
	atomic_uint       present;
	sennit_wait_group left;
} pair;

/* A task that has not blocked keeps its thread. So two tasks that spin until
 * both are there run on two threads. */
static void play(void *side)
{
	unsigned me = side != NULL;

	pair.present++;
	while (pair.present < 2)
		continue;
	if (!me)
		pair.begin = sennit_now();
	pair.play(me, pair.turns);
	sennit_wait_group_done(&pair.left);
}

void bench_pair(struct bench_run *r, bench_turns_fn *turns)
{
	pair.play = turns;
	pair.turns = r->n / 2;
	pair.present = 0;
	sennit_wait_group_init(&pair.left, 2);
	spawn(play, NULL);
	spawn(play, &pair);
	sennit_wait_group_wait(&pair.left);
	bench_elapsed(r, pair.begin);
}
