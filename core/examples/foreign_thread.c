/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_thread.c - an unbound thread schedules work and waits for it.
 *
 * It holds a reference to the scheduler. The calls that suspend a fiber put
 * this thread to sleep.
 */
#include <sennit.h>

#include <pthread.h>
#include <stdio.h>

struct question {
	sennit_scheduler *scheduler;
	sennit_event      answered;
	int               answer;
};

static void answer(void *argument)
{
	struct question *q = argument;

	q->answer = 6 * 7;
	sennit_event_set(&q->answered);
}

static void *ask(void *argument)
{
	struct question  *q = argument;
	const sennit_task task = { .run = answer, .argument = q };

	/* sennit_scheduler_current() is NULL here, so the call names the
	 * scheduler. */
	if (sennit_schedule_task_on(q->scheduler, &task) ||
	    sennit_event_wait(&q->answered))
		fprintf(stderr, "no answer\n");
	sennit_scheduler_release(q->scheduler);
	return NULL;
}

int main(void)
{
	struct question q = { .answer = 0 };
	pthread_t       thread;

	sennit_event_init(&q.answered, SENNIT_EVENT_MANUAL);
	if (sennit_scheduler_create(&q.scheduler, NULL))
		return 1;
	sennit_scheduler_retain(q.scheduler); /* the thread's reference */
	if (pthread_create(&thread, NULL, ask, &q))
		return 1;
	if (pthread_join(thread, NULL))
		return 1;
	if (sennit_scheduler_shutdown(q.scheduler, SENNIT_NEVER))
		return 1;
	printf("the answer is %d\n", q.answer);
	return q.answer == 42 ? 0 : 1;
}
