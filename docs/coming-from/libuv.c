/* SPDX-License-Identifier: Apache-2.0 */
/* libuv.c - a timer ticks three times; then a helper thread does some work. */
#include <sennit.h>

#include <stdio.h>

static void *work(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)(6 * 7); /* on a helper thread */
}

static int run(void)
{
	sennit_time next = sennit_now();
	int         result;

	for (int tick = 1; tick <= 3; tick++) {
		next += SENNIT_MILLISECOND;
		if (sennit_sleep_until(next))
			return -1; /* the group is cancelled */
		printf("tick %d\n", tick);
	}
	result = (int)(intptr_t)sennit_blocking_call(work, NULL);
	printf("work: %d, status %d\n", result, 0);
	return result;
}

int main(void)
{
	sennit_scheduler *s;
	int               result;

	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	result = run();
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || result != 42;
}
