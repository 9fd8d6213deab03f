/* SPDX-License-Identifier: Apache-2.0 */
/* fiber_handles.c - handles of fibers that have ended may be used, while their
 * stacks go to others. */
#include "testing/with_workers.h"

struct traffic {
	_Atomic(sennit_fiber *) last;
	sennit_wait_group       left;
	atomic_bool             over;
};

static void wait_a_little(void *argument)
{
	struct traffic *t = argument;

	atomic_store(&t->last, sennit_fiber_current());
	sennit_sleep(SENNIT_MICROSECOND);
	sennit_wait_group_done(&t->left);
}

static void *notify_all_the_time(void *argument)
{
	struct traffic *t = argument;

	while (!atomic_load(&t->over)) {
		sennit_fiber *f = atomic_load(&t->last);

		if (f)
			sennit_fiber_notify(f);
		sched_yield();
	}
	return NULL;
}

/* With max_fibers a stack goes from worker to worker. ThreadSanitizer finds an
 * access that is not atomic. */
TEST_WITH_COUNTS(a_notify_while_the_stack_gets_another_fiber)
{
	struct traffic    t = { .over = false };
	pthread_t         notifier;
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .max_fibers = 8));

	assert_int_equal(sennit_thread_bind(s), 0);
	notifier = must_start_thread(notify_all_the_time, &t);
	for (unsigned round = 0; round < 300; round++) {
		sennit_wait_group_init(&t.left, 4);
		for (unsigned i = 0; i < 4; i++)
			must_schedule(wait_a_little, &t);
		sennit_wait_group_wait(&t.left);
	}
	atomic_store(&t.over, true);
	pthread_join(notifier, NULL);
	sennit_thread_unbind();
	end_scheduler(s);
}
