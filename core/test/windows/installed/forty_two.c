/* SPDX-License-Identifier: Apache-2.0 */
/* forty_two.c - tasks that wait for each other, through the DLL. */
#include "sennit.h"

#include <stdio.h>

static sennit_mutex mutex;
static int          sum;

static int add(void *number)
{
	sennit_mutex_lock(&mutex);
	sum += *(int *)number;
	sennit_yield();
	sennit_mutex_unlock(&mutex);
	return 0;
}

int main(void)
{
	sennit_scheduler *s;
	sennit_group      g;
	int               number[] = { 1, 2, 3, 4, 5, 6, 21 };

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		return 1;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 7; i++)
		if (sennit_group_spawn(&g, add, &number[i]))
			return 1;
	if (sennit_group_wait(&g))
		return 1;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%d\n", sum);
	return sum != 42;
}
