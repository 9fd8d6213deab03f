/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - a wait group that tasks count down, and one that counts its
 * tasks. */
#include "calls.h"

static void work(void *group)
{
	(void)sennit_wait_group_done(group);
}

static void count(void *sum)
{
	++*(_Atomic(int) *)sum;
}

static void show(sennit_scheduler *s)
{
	sennit_wait_group counted, own;
	_Atomic(int)      sum = 0;

	(void)s;
	sennit_wait_group_init(&counted, 2);
	for (int i = 0; i < 2; i++)
		CHECK(sennit_schedule(work, &counted) == 0);
	sennit_wait_group_wait(&counted);

	sennit_wait_group_init(&own, 0);
	sennit_wait_group_wait(&own); /* a count of 0 */
	for (int i = 0; i < 10; i++)
		CHECK(sennit_wait_group_spawn(&own, count, &sum) == 0);
	sennit_wait_group_wait(&own); /* all ten have run */
	CHECK(sum == 10);
	sennit_wait_group_destroy(&own);
}

int main(void)
{
	return run(show);
}
