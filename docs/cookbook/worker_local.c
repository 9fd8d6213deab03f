/* SPDX-License-Identifier: Apache-2.0 */
/* worker_local.c - a counter for each worker: no lock, no atomic, also across
 * waits. */
#include <sennit.h>

#include <stdio.h>

enum { WORKERS = 3, TASKS = 1000, STEPS = 10 };

/* Apart, so that workers share no line of the cache. */
struct counter {
	_Alignas(64) long value;
};

static struct counter                counters[WORKERS + 1];
static _Thread_local struct counter *mine;
static sennit_wait_group             left;

static void begin_thread(void *unused, uint32_t index)
{
	(void)unused;
	mine = &counters[index];
}

static void count(void *unused)
{
	(void)unused;
	for (int i = 0; i < STEPS; i++) {
		mine->value++;
		sennit_yield(); /* resumes on this thread */
	}
	sennit_wait_group_done(&left);
}

int main(void)
{
	sennit_scheduler *s;
	long              sum = 0;

	mine = &counters[WORKERS]; /* a bound thread runs tasks too */
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = WORKERS,
				      .thread_init = begin_thread)) ||
	    sennit_thread_bind(s))
		return 1;
	sennit_wait_group_init(&left, TASKS);
	for (int i = 0; i < TASKS; i++)
		if (sennit_schedule(count, NULL))
			return 1;
	sennit_wait_group_wait(&left);
	for (int i = 0; i <= WORKERS; i++)
		sum += counters[i].value;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("counted %ld\n", sum);
	return sum == TASKS * STEPS ? 0 : 1;
}
