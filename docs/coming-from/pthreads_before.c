/* SPDX-License-Identifier: Apache-2.0 */
/* pthreads_before.c - producers and consumers with a bounded queue. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ITEMS = 1000, ROOM = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  changed = PTHREAD_COND_INITIALIZER;
static int             queue[ROOM], first, count; /* under lock */
static long            sum;                       /* under lock */

static void put(int item)
{
	pthread_mutex_lock(&lock);
	while (count == ROOM)
		pthread_cond_wait(&changed, &lock);
	queue[(first + count++) % ROOM] = item;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int take(void)
{
	int item;

	pthread_mutex_lock(&lock);
	while (!count)
		pthread_cond_wait(&changed, &lock);
	item = queue[first];
	first = (first + 1) % ROOM;
	count--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return item;
}

static void *produce(void *unused)
{
	(void)unused;
	for (int i = 1; i <= ITEMS; i++)
		put(i);
	return NULL;
}

static void *consume(void *unused)
{
	(void)unused;
	for (int i = 1; i <= ITEMS; i++) {
		int item = take();

		pthread_mutex_lock(&lock);
		sum += item;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2 * THREADS];

	for (int i = 0; i < 2 * THREADS; i++)
		if (pthread_create(&threads[i], NULL,
				   i < THREADS ? produce : consume, NULL))
			return 1;
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("sum %ld\n", sum);
	return sum == (long)THREADS * ITEMS * (ITEMS + 1) / 2 ? 0 : 1;
}
