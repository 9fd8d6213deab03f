/* SPDX-License-Identifier: Apache-2.0 */
/* pthreads.c - producers and consumers with a bounded queue. */
#include <sennit.h>

#include <stdio.h>

enum { FIBERS = 4, ITEMS = 1000, ROOM = 8 };

static sennit_mutex lock = SENNIT_MUTEX_INIT;
static sennit_cond  changed = SENNIT_COND_INIT;
static int          queue[ROOM], first, count; /* under lock */
static long         sum;                       /* under lock */

static void put(int item)
{
	sennit_mutex_lock(&lock);
	while (count == ROOM)
		sennit_cond_wait(&changed, &lock);
	queue[(first + count++) % ROOM] = item;
	sennit_cond_notify_all(&changed);
	sennit_mutex_unlock(&lock);
}

static int take(void)
{
	int item;

	sennit_mutex_lock(&lock);
	while (!count)
		sennit_cond_wait(&changed, &lock);
	item = queue[first];
	first = (first + 1) % ROOM;
	count--;
	sennit_cond_notify_all(&changed);
	sennit_mutex_unlock(&lock);
	return item;
}

static int produce(void *unused)
{
	(void)unused;
	for (int i = 1; i <= ITEMS; i++)
		put(i);
	return 0;
}

static int consume(void *unused)
{
	(void)unused;
	for (int i = 1; i <= ITEMS; i++) {
		int item = take();

		sennit_mutex_lock(&lock);
		sum += item;
		sennit_mutex_unlock(&lock);
	}
	return 0;
}

int main(void)
{
	sennit_scheduler *s;
	sennit_group      fibers;

	if (sennit_scheduler_create(&s, NULL) || sennit_bind(s))
		return 1;
	sennit_group_init(&fibers, SENNIT_NEVER, 0);
	for (int i = 0; i < 2 * FIBERS; i++)
		if (sennit_group_spawn(&fibers, i < FIBERS ? produce : consume,
				       NULL))
			return 1;
	if (sennit_group_wait(&fibers))
		return 1;
	sennit_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("sum %ld\n", sum);
	return sum == (long)FIBERS * ITEMS * (ITEMS + 1) / 2 ? 0 : 1;
}
