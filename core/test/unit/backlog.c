/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.c - background tasks: oldest first, none lost, passed on when due. */
#include "base/memory.h"
#include "queue/backlog.h"
#include "testing/test.h"

#include <errno.h>

#define NOW SENNIT_SECOND

static struct task numbered(uintptr_t n)
{
	return (struct task){ .meta = n };
}

static int keep(void *kept, struct task t)
{
	*(uintptr_t *)kept = t.meta;
	return 0;
}

static int refuse(void *kept, struct task t)
{
	*(uintptr_t *)kept = t.meta;
	return -ENOMEM;
}

TEST(the_oldest_is_passed_on_first)
{
	struct backlog b;
	uintptr_t      kept = 0;

	sn_backlog_init(&b, &sn_memory_libc);
	assert_true(sn_backlog_is_empty(&b));
	assert_false(sn_backlog_pass(&b, NOW, keep, &kept));
	for (uintptr_t i = 1; i <= 50; i++)
		assert_int_equal(sn_backlog_push(&b, numbered(i), NOW), 0);
	assert_int_equal(sn_backlog_count(&b), 50);
	for (uintptr_t i = 1; i <= 50; i++) {
		assert_true(sn_backlog_pass(&b, NOW, keep, &kept));
		assert_int_equal(kept, i);
	}
	assert_true(sn_backlog_is_empty(&b));
	sn_backlog_free(&b);
}

static int fill_with_three(void *error, struct task_queue *tasks)
{
	for (uintptr_t i = 1; i <= 3 && !*(int *)error; i++)
		assert_int_equal(sn_task_queue_push_back(tasks, numbered(i)),
				 0);
	return *(int *)error;
}

TEST(several_are_pushed_in_one_step_or_none)
{
	struct backlog b;
	uintptr_t      kept = 0;
	int            error = -ENOMEM;

	sn_backlog_init(&b, &sn_memory_libc);
	assert_int_equal(sn_backlog_fill(&b, fill_with_three, &error, NOW),
			 -ENOMEM);
	assert_true(sn_backlog_is_empty(&b));
	error = 0;
	assert_int_equal(sn_backlog_fill(&b, fill_with_three, &error, NOW), 0);
	assert_int_equal(sn_backlog_count(&b), 3);
	assert_false(sn_backlog_is_due(&b, NOW));
	assert_true(sn_backlog_is_due(&b, NOW + BACKLOG_PATIENCE));
	assert_true(sn_backlog_pass(&b, NOW, keep, &kept));
	assert_int_equal(kept, 1);
	sn_backlog_free(&b);
}

TEST(what_is_refused_stays_first)
{
	struct backlog b;
	uintptr_t      kept = 0;

	sn_backlog_init(&b, &sn_memory_libc);
	assert_int_equal(sn_backlog_push(&b, numbered(1), NOW), 0);
	assert_int_equal(sn_backlog_push(&b, numbered(2), NOW), 0);
	assert_false(sn_backlog_pass(&b, NOW, refuse, &kept));
	assert_int_equal(kept, 1);
	assert_int_equal(sn_backlog_count(&b), 2);
	assert_true(sn_backlog_pass(&b, NOW, keep, &kept));
	assert_int_equal(kept, 1);
	sn_backlog_free(&b);
}

TEST(one_is_due_when_none_was_passed_on_for_long)
{
	const sennit_time later = NOW + BACKLOG_PATIENCE;
	struct backlog    b;
	uintptr_t         kept;

	sn_backlog_init(&b, &sn_memory_libc);
	assert_false(sn_backlog_is_due(&b, SENNIT_NEVER));
	assert_int_equal(sn_backlog_push(&b, numbered(1), NOW), 0);
	assert_int_equal(sn_backlog_push(&b, numbered(2), NOW + 5), 0);
	assert_false(sn_backlog_is_due(&b, later - 1));
	assert_true(sn_backlog_is_due(&b, later));
	assert_true(sn_backlog_pass(&b, later, keep, &kept));
	assert_false(sn_backlog_is_due(&b, later + BACKLOG_PATIENCE - 1));
	assert_true(sn_backlog_is_due(&b, later + BACKLOG_PATIENCE));
	assert_true(sn_backlog_pass(&b, later, keep, &kept));
	assert_false(sn_backlog_is_due(&b, SENNIT_NEVER));
	sn_backlog_free(&b);
}

static void *no_memory(void *context, size_t size, size_t alignment)
{
	return NULL;
}

TEST(without_memory_nothing_is_pushed)
{
	const sennit_allocator none = { no_memory, NULL, NULL };
	struct backlog         b;

	sn_backlog_init(&b, &none);
	assert_int_equal(sn_backlog_push(&b, numbered(1), NOW), -ENOMEM);
	assert_true(sn_backlog_is_empty(&b));
	pthread_mutex_destroy(&b.lock);
}
