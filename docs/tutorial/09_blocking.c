/* SPDX-License-Identifier: Apache-2.0 */
/* 09_blocking.c - a function that blocks its thread is called on a helper
 * thread; the one worker runs other tasks meanwhile. */
#include <sennit.h>

#include <stdio.h>
#include <unistd.h>

static int pipe_[2];

/* Blocks its thread until a byte comes: a library that knows of no fibers. */
static void *read_byte(void *byte)
{
	return (void *)(intptr_t)read(pipe_[0], byte, 1);
}

static void feed(void *unused)
{
	(void)unused;
	for (int i = 1; i <= 3; i++) {
		sennit_sleep(SENNIT_MILLISECOND);
		printf("tick %d\n", i);
	}
	if (write(pipe_[1], "!", 1) != 1)
		perror("write");
}

struct answer {
	sennit_event there;
	char         byte;
	intptr_t     size;
};

static void fetch(void *argument)
{
	struct answer *a = argument;

	a->size = (intptr_t)sennit_blocking_call(read_byte, &a->byte);
	sennit_event_set(&a->there);
}

static int program(void *unused)
{
	struct answer a = { .there = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };

	(void)unused;
	if (pipe(pipe_))
		return 1;
	if (sennit_schedule(fetch, &a) || sennit_schedule(feed, NULL))
		return 1;
	if (sennit_event_wait(&a.there))
		return 1;
	printf("read: %c\n", a.byte);
	return a.size == 1 && a.byte == '!' ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, SENNIT_CONFIG(.workers = 1),
			  &result) ||
	       result;
}
