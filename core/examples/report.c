/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - prints why a scheduler does not end.
 *
 * A task waits for an event that nothing inside the scheduler will set. The
 * shutdown times out, and the report shows which task waits for what. After the
 * event is set, the second shutdown succeeds.
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static sennit_event forgotten = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

static void wait_for_it(void *argument)
{
	(void)argument;
	if (sennit_event_wait(&forgotten))
		fprintf(stderr, "only a group ends this wait early\n");
}

static int end_within(sennit_scheduler *s, uint64_t nanoseconds)
{
	return sennit_scheduler_shutdown(s, sennit_after(nanoseconds));
}

int main(void)
{
	const sennit_task task = { .run = wait_for_it };
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_schedule_task_on(s, &task))
		return 1;
	if (end_within(s, 100 * SENNIT_MILLISECOND) != -ETIMEDOUT)
		return 1;
	/* Still alive, and the caller owns the reference again. */
	sennit_report_print(s, STDOUT_FILENO);
	sennit_event_set(&forgotten);
	return end_within(s, 10 * SENNIT_SECOND) ? 1 : 0;
}
