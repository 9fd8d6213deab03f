/* SPDX-License-Identifier: Apache-2.0 */
/* real.c - writes traces of what the library really does, to the file that is
 * named on the command line. diag/test/trace_tool/real_programs.py says what
 * must be in it. */
#include <sennit.h>
#include <sennit/trace.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 50, CALLS = 10 };

static sennit_wait_group all;
static sennit_channel    numbers; /* without room: each send meets a receive */

static void require(int error)
{
	if (!error)
		return;
	fprintf(stderr, "real: error %d\n", error);
	exit(1);
}

static void send(void *argument)
{
	uintptr_t number = (uintptr_t)argument;

	sennit_trace_begin("send a number");
	require(sennit_channel_send(&numbers, &number));
	sennit_trace_end();
	sennit_trace_value("sent", (int64_t)number);
	sennit_wait_group_done(&all);
}

static void receive(void *argument)
{
	uintptr_t number;

	(void)argument;
	sennit_yield();
	require(sennit_channel_receive(&numbers, &number));
	sennit_wait_group_done(&all);
}

static void *block(void *argument)
{
	const struct timespec time = { 0, 1000000 };

	nanosleep(&time, NULL);
	return argument;
}

static void call(void *argument)
{
	(void)argument;
	(void)sennit_blocking_call(block, NULL);
	sennit_task_set_name("has called");
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_wait_group_done(&all);
}

static void name_all(void)
{
	require(sennit_function_set_name(send, "send"));
	require(sennit_function_set_name(receive, "receive"));
	require(sennit_function_set_name(call, "call"));
}

static void schedule_all(void)
{
	sennit_wait_group_add(&all, 2 * PAIRS + CALLS);
	for (uintptr_t i = 0; i < PAIRS; i++) {
		require(sennit_schedule(receive, (void *)i));
		require(sennit_schedule(send, (void *)i));
	}
	for (uintptr_t i = 0; i < CALLS; i++)
		require(sennit_schedule(call, (void *)i));
	sennit_wait_group_wait(&all);
}

int main(int argc, char **argv)
{
	sennit_config     config = { .size = sizeof(config), .workers = 2 };
	sennit_scheduler *s;
	int               fd;

	fd = argc == 2 ? open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
	if (fd < 0)
		return 2;
	name_all();
	require(sennit_channel_init(&numbers, 0, sizeof(uintptr_t), NULL));
	require(sennit_scheduler_create(&s, &config));
	require(sennit_trace_start(s, NULL));
	require(sennit_thread_bind(s));
	schedule_all();
	sennit_thread_unbind();
	require(sennit_trace_write(s, fd));
	require(sennit_scheduler_shutdown(s, SENNIT_NEVER));
	return close(fd) ? 1 : 0;
}
