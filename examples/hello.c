/* SPDX-License-Identifier: Apache-2.0 */
/* hello.c - two tasks sleep as fibers, and main waits for both. */
#include <sennit.h>
#include <stdio.h>

static sennit_wait_group greetings;

static void greet(void *name)
{
	sennit_sleep(10 * SENNIT_MILLISECOND); /* other tasks run meanwhile */
	printf("hello, %s\n", (const char *)name);
	(void)sennit_wait_group_done(&greetings);
}

int main(void)
{
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, NULL) || sennit_bind(s))
		return 1;
	sennit_wait_group_add(&greetings, 2);
	if (sennit_schedule(greet, "warp") || sennit_schedule(greet, "weft"))
		return 1; /* -ENOMEM */
	sennit_wait_group_wait(&greetings);
	sennit_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
