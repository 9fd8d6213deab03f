/* SPDX-License-Identifier: Apache-2.0 */
/* no_workers.c - a scheduler without threads: fibers on the caller's own.
 *
 * Tasks run when the thread waits or unbinds, first in, first out; nothing
 * runs at the same time, so plain variables need no lock.
 */
#include <sennit.h>

#include <stdio.h>
#include <string.h>

static char story[16];

static void tell(char letter)
{
	size_t length = strlen(story);

	story[length] = letter;
}

static void first(void *argument)
{
	(void)argument;
	tell('a');
	sennit_yield(); /* the second runs, as this thread's other fiber */
	tell('c');
}

static void second(void *argument)
{
	sennit_wait_group *both = argument;

	tell('b');
	(void)sennit_wait_group_done(both);
}

int main(void)
{
	sennit_scheduler *s;
	sennit_wait_group both = SENNIT_WAIT_GROUP_INIT;
	int               error;

	error = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE));
	if (error || sennit_bind(s))
		return 1;
	sennit_wait_group_add(&both, 1);
	if (sennit_schedule(first, NULL) || sennit_schedule(second, &both))
		return 1;
	tell('0'); /* nothing has run yet */
	sennit_wait_group_wait(&both);
	sennit_unbind(); /* runs what is left */
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%s\n", story);
	return strcmp(story, "0abc") ? 1 : 0;
}
