/* SPDX-License-Identifier: Apache-2.0 */
/* end_calls.c - calls on a scheduler that has ended, and of which a weak handle
 * keeps the memory. */
#include "with_workers.h"

#include "../counting_allocator.h"
#include "sennit/domain.h"
#include "sennit/end.h"

#include <errno.h>

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

static void never(void *unused)
{
	(void)unused;
	EXPECT(false);
}

/* Whoever has only a weak handle may find that the scheduler has ended. */
TEST_WITH_COUNTS(what_needs_a_living_scheduler_says_that_it_ended)
{
	const sennit_task tasks[] = { { .run = never }, { .run = never } };
	const uint64_t    big[32] = { 0 };
	const sennit_task copied = { .run = never,
				     .argument = (void *)big,
				     .copy_size = sizeof(big) };
	sennit_domain    *d = NULL;
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));
	sennit_weak *weak = sennit_scheduler_weak(s);

	end_scheduler(s);
	assert_int_equal(sennit_schedule_on(s, &tasks[0]), -ESHUTDOWN);
	assert_int_equal(sennit_schedule_on(s, &copied), -ESHUTDOWN);
	assert_int_equal(sennit_schedule_many_on(s, tasks, 2), -ESHUTDOWN);
	assert_int_equal(sennit_scheduler_set_workers(s, 1),
			 w->threads ? -ESHUTDOWN : -EINVAL);
	assert_int_equal(sennit_bind(s), -ESHUTDOWN);
	assert_null(sennit_current());
	assert_int_equal(sennit_domain_create(&d, s, NULL, NULL), -ESHUTDOWN);
	assert_null(d);
	sennit_weak_release(weak);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}
