/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - many tasks by one call, an argument that is made in place, a
 * function that runs as a task while the caller waits, and the name of one.
 */
#include "calls.h"

#include <stdatomic.h>
#include <string.h>

struct order {
	uint32_t number;
	char     text[28];
};

static atomic_uint       sum;
static sennit_wait_group done;

static void add(void *number)
{
	atomic_fetch_add(&sum, *(const unsigned *)number);
	(void)sennit_wait_group_done(&done);
}

static void serve(void *argument)
{
	struct order *o = argument;

	printf("order %u: %s\n", (unsigned int)o->number, o->text);
	sennit_argument_free(NULL, o, sizeof(*o)); /* of this scheduler */
	(void)sennit_wait_group_done(&done);
}

static void be_main(void *shown)
{
	*(bool *)shown = sennit_fiber_current() != NULL; /* it may wait */
}

static void show(sennit_scheduler *s)
{
	static unsigned numbers[] = { 1, 2, 3, 4 };
	sennit_task     tasks[4] = { { .run = NULL } };
	struct order   *o;
	bool            shown = false;

	/* All four tasks or none. */
	for (int i = 0; i < 4; i++)
		tasks[i] = (sennit_task){ .run = add, .argument = &numbers[i] };
	sennit_wait_group_init(&done, 4);
	CHECK(sennit_schedule_many(tasks, 4) == 0);
	sennit_wait_group_wait(&done);
	CHECK(atomic_load(&sum) == 10);

	CHECK(sennit_scheduler_run(s, be_main, &shown) == 0);
	CHECK(shown);

	/* The task owns the memory and frees it. */
	o = sennit_argument_alloc(s, sizeof(*o));
	CHECK(o);
	o->number = 7;
	strcpy(o->text, "two coffees");
	sennit_wait_group_add(&done, 1);
	CHECK(sennit_schedule(serve, o) == 0);
	sennit_wait_group_wait(&done);

	/* The forms that name the scheduler are for any thread. */
	sennit_wait_group_init(&done, 2);
	CHECK(sennit_schedule_on(s, add, &numbers[0]) == 0);
	CHECK(sennit_schedule_copy_on(s, add, &numbers[1],
				      sizeof(numbers[1])) == 0);
	sennit_wait_group_wait(&done);

	/* Reports show this name. */
	CHECK(sennit_function_set_name(serve, "serve an order") == 0);
	CHECK(strcmp(sennit_function_name(serve), "serve an order") == 0);
	CHECK(sennit_function_name(add) == NULL);
}

int main(void)
{
	return run(show);
}
