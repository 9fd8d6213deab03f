/* SPDX-License-Identifier: Apache-2.0 */
/* all_of_a_request.c - is notified when all tasks that a request has started
 * have ended, without a wait for them. */
#include <sennit.h>
#include <sennit/domain.h>

#include <stdatomic.h>
#include <stdio.h>

static atomic_int   tasks;
static sennit_event ended = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

/* Starts two more, and keeps no record of them. They belong to the same
 * domain. */
static void work(void *argument)
{
	intptr_t depth = (intptr_t)argument;

	atomic_fetch_add(&tasks, 1);
	for (int i = 0; i < 2 && depth > 1; i++)
		if (sennit_schedule(work, (void *)(depth - 1)))
			fprintf(stderr, "no memory for a task\n");
}

static void on_end(void *event)
{
	sennit_event_set(event);
}

static int run(sennit_scheduler *s)
{
	sennit_domain *request;
	int            err;

	if (sennit_domain_create(&request, s, on_end, &ended))
		return -1;
	err = sennit_domain_schedule(request, work, (void *)(intptr_t)3);
	sennit_domain_release(request); /* no more from here */
	if (sennit_event_wait(&ended))
		return -1;
	return err;
}

int main(void)
{
	sennit_scheduler *s;
	int               err;

	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(s);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER) || err)
		return 1;
	printf("%d tasks, then the end of the request\n", tasks);
	return tasks == 7 ? 0 : 1;
}
