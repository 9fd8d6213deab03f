/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.c - the number of the running fiber, and a member that stays on the
 * thread that spawns it.
 */
#include "calls.h"

#include <pthread.h>

static int same_thread(void *thread)
{
	CHECK(pthread_equal(*(const pthread_t *)thread, pthread_self()));
	printf("fiber %u\n",
	       (unsigned int)sennit_fiber_number(sennit_fiber_current()));
	return 0;
}

static void show(sennit_scheduler *s)
{
	pthread_t    me = pthread_self();
	sennit_group g;

	(void)s;
	/* A bound thread's own stack is number 0. */
	CHECK(sennit_fiber_number(sennit_fiber_current()) == 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn_task(
		      &g, SENNIT_MEMBER(.run = same_thread, .argument = &me,
					.copy_size = sizeof(me),
					.flags = SENNIT_MEMBER_SAME_THREAD)) ==
	      0);
	CHECK(sennit_group_wait(&g) == 0);
}

int main(void)
{
	return run(show);
}
