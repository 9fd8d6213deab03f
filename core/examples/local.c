/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - a buffer for each task, and a name for each request.
 *
 * Functions deep in the call tree need a scratch buffer and the number of their
 * request. To pass both as arguments is tedious. All tasks of a thread would
 * share a C thread-local variable: after each wait another request would have
 * overwritten the buffer. A local value belongs to the task and is freed when
 * the task ends.
 */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 100, SIZE = 256 };

static sennit_local_key  scratch;
static sennit_wait_group open_requests;
static atomic_int        wrong, freed;

static void free_scratch(void *buffer)
{
	free(buffer);
	atomic_fetch_add(&freed, 1);
	sennit_wait_group_done(&open_requests);
}

/* Return the running task's buffer, which is made on first use. */
static char *scratch_buffer(void)
{
	char *buffer = sennit_local_get(scratch);

	if (buffer)
		return buffer;
	buffer = calloc(1, SIZE);
	if (!buffer || sennit_local_set(scratch, buffer))
		abort();
	return buffer;
}

static void append(const char *text)
{
	char *buffer = scratch_buffer();

	strncat(buffer, text, SIZE - strlen(buffer) - 1);
	sennit_sleep(100 * SENNIT_MICROSECOND); /* other tasks run here */
}

static void serve(void *argument)
{
	char name[32], expected[80];

	snprintf(name, sizeof(name), "request %zu", (size_t)argument);
	sennit_task_set_name(name); /* the name in reports */
	append("begin ");
	append(name);
	append(" end");
	snprintf(expected, sizeof(expected), "begin %s end", name);
	if (strcmp(scratch_buffer(), expected) != 0)
		atomic_fetch_add(&wrong, 1);
}

int main(void)
{
	sennit_scheduler *s;

	if (sennit_local_key_create(&scratch, free_scratch) ||
	    sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	sennit_wait_group_init(&open_requests, REQUESTS);
	for (size_t i = 0; i < REQUESTS; i++)
		if (sennit_schedule(serve, (void *)i))
			return 1;
	sennit_wait_group_wait(&open_requests);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	sennit_local_key_destroy(scratch);
	printf("%d buffers freed, %d of them wrong\n", freed, wrong);
	return freed == REQUESTS && !wrong ? 0 : 1;
}
