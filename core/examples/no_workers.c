/* SPDX-License-Identifier: Apache-2.0 */
/* no_workers.c - a scheduler without worker threads: fibers on the caller's
 * thread.
 *
 * Tasks run when the thread waits or unbinds, first in, first out. Nothing runs
 * in parallel, so plain variables need no lock.
 */
#include <sennit.h>

#include <stdio.h>
#include <string.h>

static char         story[16];
static sennit_event told; /* all bytes zero: manual, not set */

static void tell(char letter)
{
	size_t length = strlen(story);

	story[length] = letter;
}

static void first(void *argument)
{
	(void)argument;
	tell('a');
	/* The second task runs meanwhile, on this thread. */
	if (!sennit_event_wait(&told))
		tell('c');
}

static void second(void *argument)
{
	(void)argument;
	tell('b');
	sennit_event_set(&told);
}

int main(void)
{
	sennit_scheduler *s;
	int               error;

	error = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE));
	if (error || sennit_thread_bind(s))
		return 1;
	if (sennit_schedule(first, NULL) || sennit_schedule(second, NULL))
		return 1;
	tell('0');              /* no task has run yet */
	sennit_thread_unbind(); /* runs all tasks */
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%s\n", story);
	return strcmp(story, "0abc") ? 1 : 0;
}
