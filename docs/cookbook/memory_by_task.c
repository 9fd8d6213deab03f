/* SPDX-License-Identifier: Apache-2.0 */
/* memory_by_task.c - a hook counts the bytes that each task asks for. */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 16 };

static struct use {
	_Atomic(const char *) task;
	atomic_size_t         bytes;
} uses[NAMES];

/* The hook runs inside malloc(): it takes no lock and allocates nothing. */
static void count(size_t bytes)
{
	sennit_running r = { .size = sizeof(r) };
	const char    *task = "no task";

	if (sennit_fiber_running(&r) && r.function)
		task = r.function; /* a string of the program */
	for (int i = 0; i < NAMES; i++) {
		const char *there = NULL;

		if (atomic_compare_exchange_strong(&uses[i].task, &there,
						   task) ||
		    there == task) {
			atomic_fetch_add(&uses[i].bytes, bytes);
			return;
		}
	}
}

/* In place of malloc(), or what an allocator calls for each allocation. */
static void *hooked_malloc(size_t bytes)
{
	count(bytes);
	return malloc(bytes);
}

static void *make_page(void *unused)
{
	(void)unused;
	return hooked_malloc(4096);
}

static void load(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++)
		free(hooked_malloc(1000));
}

static void render(void *unused)
{
	(void)unused;
	/* On another thread, for this task. */
	free(sennit_blocking_call(make_page, NULL));
}

static size_t bytes_of(const char *task)
{
	for (int i = 0; i < NAMES; i++)
		if (uses[i].task && !strcmp(uses[i].task, task))
			return uses[i].bytes;
	return 0;
}

int main(void)
{
	const sennit_task first = { .run = load };
	const sennit_task second = { .run = render };
	sennit_scheduler *s;

	if (sennit_function_set_name(load, "load") ||
	    sennit_function_set_name(render, "render") ||
	    sennit_scheduler_create(&s, NULL))
		return 1;
	free(hooked_malloc(10));
	if (sennit_schedule_task_on(s, &first) ||
	    sennit_schedule_task_on(s, &second) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("load %zu, render %zu, no task %zu\n", bytes_of("load"),
	       bytes_of("render"), bytes_of("no task"));
	return 0;
}
