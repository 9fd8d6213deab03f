/* SPDX-License-Identifier: Apache-2.0 */
/* limit_memory.c - ten thousand tasks that wait, on two hundred small
 * stacks. */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>

enum { TASKS = 10000, STACKS = 200, STACK_SIZE = 16384 };

static sennit_wait_group left;
static atomic_int        waited;

static void wait_a_little(void *unused)
{
	(void)unused;
	sennit_sleep(100 * SENNIT_MICROSECOND);
	atomic_fetch_add(&waited, 1);
	sennit_wait_group_done(&left);
}

int main(void)
{
	sennit_stats      stats = { .size = sizeof(stats) };
	sennit_scheduler *s;
	int               within;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2,
						      .stack_size = STACK_SIZE,
						      .max_fibers = STACKS)) ||
	    sennit_thread_bind(s))
		return 1;
	sennit_wait_group_init(&left, TASKS);
	for (int i = 0; i < TASKS; i++)
		if (sennit_schedule(wait_a_little, NULL))
			return 1;
	sennit_wait_group_wait(&left);
	sennit_scheduler_get_stats(s, &stats);
	within = stats.stacks <= STACKS;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%d tasks waited, on %d stacks at most: %s\n", waited, STACKS,
	       within ? "yes" : "no");
	return waited == TASKS && within ? 0 : 1;
}
