/* SPDX-License-Identifier: Apache-2.0 */
/* main_loop.c - a program keeps its own main loop: tasks hand it results by a
 * channel and wake it by a descriptor. */
#include <sennit.h>

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TASKS = 10 };

static sennit_channel results; /* of int */
static int            wake;    /* an eventfd */

static void compute(void *number)
{
	const uint64_t one = 1;
	int            square = *(const int *)number;

	square *= square;
	if (sennit_channel_send(&results, &square) ||
	    write(wake, &one, sizeof(one)) != sizeof(one))
		fprintf(stderr, "a result is lost\n");
}

static int start_tasks(sennit_scheduler *s)
{
	for (int i = 1; i <= TASKS; i++) {
		const sennit_task task = { .run = compute,
					   .argument = &i,
					   .copy_size = sizeof(i) };

		if (sennit_schedule_task_on(s, &task))
			return -1;
	}
	return 0;
}

/* Stands for the loop of a window system or a game. Its thread is not bound,
 * and never waits in sennit. */
static int loop(void)
{
	struct pollfd p = { .fd = wake, .events = POLLIN };
	uint64_t      count;
	int           result, seen = 0, sum = 0;

	while (seen < TASKS && poll(&p, 1, 60000) == 1) {
		if (read(wake, &count, sizeof(count)) != sizeof(count))
			break;
		while (!sennit_channel_receive_until(&results, &result, 0)) {
			sum += result;
			seen++;
		}
	}
	return sum;
}

int main(void)
{
	sennit_scheduler *s;
	int               sum;

	wake = eventfd(0, EFD_CLOEXEC);
	if (wake < 0 ||
	    sennit_channel_init(&results, SENNIT_CHANNEL_UNBOUNDED, sizeof(int),
				NULL) ||
	    sennit_scheduler_create(&s, NULL) || start_tasks(s))
		return 1;
	sum = loop();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	sennit_channel_destroy(&results);
	printf("the loop has added up %d\n", sum);
	return sum == 385 ? 0 : 1;
}
