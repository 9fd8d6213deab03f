/* SPDX-License-Identifier: Apache-2.0 */
/* pthreads.c - producers and consumers with a bounded queue. */
#include <sennit.h>

#include <stdio.h>

enum { FIBERS = 4, ITEMS = 1000, ROOM = 8 };

static sennit_mutex lock = SENNIT_MUTEX_INIT;
static sennit_cond  changed = SENNIT_COND_INIT;
static int          queue[ROOM], first, count; /* under lock */
static long         sum;                       /* under lock */

static int put(int item)
{
	int err = 0;

	sennit_mutex_lock(&lock);
	while (!err && count == ROOM)
		err = sennit_cond_wait(&changed, &lock);
	if (!err) {
		queue[(first + count++) % ROOM] = item;
		sennit_cond_notify_all(&changed);
	}
	sennit_mutex_unlock(&lock);
	return err;
}

static int take(int *item)
{
	int err = 0;

	sennit_mutex_lock(&lock);
	while (!err && !count)
		err = sennit_cond_wait(&changed, &lock);
	if (!err) {
		*item = queue[first];
		first = (first + 1) % ROOM;
		count--;
		sennit_cond_notify_all(&changed);
	}
	sennit_mutex_unlock(&lock);
	return err;
}

static int produce(void *unused)
{
	int err = 0;

	(void)unused;
	for (int i = 1; i <= ITEMS && !err; i++)
		err = put(i);
	return err;
}

static int consume(void *unused)
{
	int item, err = 0;

	(void)unused;
	for (int i = 1; i <= ITEMS && !err; i++) {
		err = take(&item);
		if (err)
			break;
		sennit_mutex_lock(&lock);
		sum += item;
		sennit_mutex_unlock(&lock);
	}
	return err;
}

static int program(void *unused)
{
	sennit_group fibers;

	(void)unused;
	sennit_group_init(&fibers, SENNIT_NEVER, 0);
	for (int i = 0; i < 2 * FIBERS; i++)
		if (sennit_group_spawn(&fibers, i < FIBERS ? produce : consume,
				       NULL))
			return 1;
	if (sennit_group_wait(&fibers))
		return 1;
	printf("sum %ld\n", sum);
	return sum == (long)FIBERS * ITEMS * (ITEMS + 1) / 2 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
