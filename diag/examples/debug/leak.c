/* SPDX-License-Identifier: Apache-2.0 */
/* leak.c - fibers that wait for ever, a few more each minute.
 *
 * A request asks the database by a task of its own, which sends the answer on a
 * channel. A request whose client has gone does not wait for it. Then no task
 * receives, and the query's fiber waits in its send for the rest of the
 * process, with its stack and the answer. The program writes its stacks when a
 * signal asks for them, and ends by itself after a minute.
 *
 * Cure: a channel with room for the one answer (capacity 1), or a group: its
 * cancellation ends the send.
 */
#include <sennit.h>
#include <sennit/dump.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REQUESTS 100

struct answer {
	sennit_channel channel; /* the fault: a rendezvous */
	atomic_int     users;
};

/* Not static: the backtraces show their names. */
void query(void *answer);
void request(void *number);

static atomic_int answered, gone;

static void release(struct answer *a)
{
	if (atomic_fetch_sub(&a->users, 1) == 1) {
		sennit_channel_destroy(&a->channel);
		free(a);
	}
}

void query(void *argument)
{
	struct answer *a = argument;
	int            value = 42;

	if (!sennit_channel_send(&a->channel, &value))
		release(a);
}

void request(void *number)
{
	struct answer *a = malloc(sizeof(*a));
	int            value;

	if (!a)
		return;
	if (sennit_channel_init(&a->channel, 0, sizeof(value), NULL))
		abort();
	atomic_init(&a->users, 2);
	if (sennit_schedule(query, a))
		abort();
	if ((long)number % 4 == 0) /* the client has gone */
		atomic_fetch_add(&gone, 1);
	else if (!sennit_channel_receive(&a->channel, &value))
		atomic_fetch_add(&answered, 1);
	release(a);
}

static void count_senders(void *count, const sennit_report_entry *e)
{
	*(int *)count += e->state == SENNIT_REPORT_BLOCKED &&
			 e->waits_for == SENNIT_WAITS_FOR_CHANNEL;
}

/* Wait, for at most five seconds, until all requests have ended. */
static void await_requests(sennit_scheduler *s)
{
	int senders = 0;

	for (int i = 0;
	     i < 500 && (senders != atomic_load(&gone) ||
			 atomic_load(&answered) + senders < REQUESTS);
	     i++) {
		usleep(10000);
		senders = 0;
		sennit_report_visit(s, count_senders, &senders);
	}
}

int main(void)
{
	sennit_scheduler *s;

	if (sennit_dump_start(SENNIT_DUMP_ENVIRONMENT, STDERR_FILENO,
			      SENNIT_STACKS_TEXT) ||
	    sennit_scheduler_create(&s,
				    SENNIT_CONFIG(.workers = 1, .name = "web")))
		return 1;
	for (long i = 0; i < REQUESTS; i++)
		if (sennit_schedule_task_on(
			    s, &(sennit_task){ .run = request,
					       .argument = (void *)i }))
			return 1;
	await_requests(s);
	printf("%d requests answered, %d clients gone\n",
	       atomic_load(&answered), atomic_load(&gone));
	fflush(stdout);
	for (unsigned left = 60; left;)
		left = sleep(left); /* a signal ends it early */
	_exit(0);                   /* the queries have not ended */
}
