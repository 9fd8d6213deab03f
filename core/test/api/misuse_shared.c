/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_shared.c - misuse of reference-counted objects. */
#include "testing/misuse.h"
#include "testing/counting_allocator.h"

/* --- the last release of what is in use --------------------------------- */

static bool has_begun;

/* Begin `wait` in a task of this thread, and return when it waits. A thread of
 * its own would need a look at the object that races with the wait. */
static void let_wait_here(sennit_task_fn *wait, void *object)
{
	has_begun = false;
	must_schedule_here(wait, object);
	while (!has_begun)
		sennit_yield();
}

static void task_waits(void *event)
{
	has_begun = true;
	EXPECT(!sennit_event_wait(event));
}

static sennit_event *event;
static sennit_mutex *mutex;
static char          not_created[256];

static void end_event(void *object)
{
	sennit_event_destroy(object);
}

static void end_mutex(void *object)
{
	sennit_mutex_destroy(object);
}

MISUSE_BY(the_last_release_of_an_event_that_is_waited_for,
	  "sennit_event_destroy",
	  event = sennit_shared_create(sizeof(*event), end_event, NULL),
	  let_wait_here(task_waits, event), sennit_shared_release(event));
MISUSE_ALONE_BY(the_last_release_of_a_locked_mutex, "sennit_mutex_destroy",
		mutex = sennit_shared_create(sizeof(*mutex), end_mutex, NULL),
		sennit_mutex_lock(mutex), sennit_shared_release(mutex));

/* --- what cannot be released or retained -------------------------------- */

static struct keeping_allocator kept_by_child;

MISUSE_ALONE(releasing_what_has_been_freed, "sennit_shared_release")
{
	const sennit_allocator a = keeping(&kept_by_child);
	char                  *object = sennit_shared_create(1, NULL, &a);

	sennit_shared_release(object);
	sennit_shared_release(object);
}

MISUSE_ALONE(retaining_what_has_been_freed, "sennit_shared_retain")
{
	const sennit_allocator a = keeping(&kept_by_child);
	char                  *object = sennit_shared_create(1, NULL, &a);

	sennit_shared_release(object);
	sennit_shared_retain(object);
}

MISUSE_ALONE_BY(releasing_what_was_not_created, "sennit_shared_release",
		sennit_shared_release(&not_created[128]));
MISUSE_ALONE_BY(releasing_null, "sennit_shared_release",
		sennit_shared_release(NULL));
