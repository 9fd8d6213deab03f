/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - a wait group that its users share, and one with tasks that it
 * counts. */
#include "calls.h"

static void work(void *group)
{
	(void)sennit_wait_group_done(group);
	sennit_wait_group_release(group);
}

static void count(void *sum)
{
	++*(_Atomic(int) *)sum;
}

static void show(sennit_scheduler *s)
{
	sennit_wait_group *shared, own;
	_Atomic(int)       sum = 0;

	(void)s;
	CHECK(sennit_wait_group_create(&shared, 2, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(sennit_schedule(work, sennit_wait_group_retain(shared)) ==
		      0);
	sennit_wait_group_wait(shared);
	sennit_wait_group_release(shared); /* or a task's release is the last */

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
