/* SPDX-License-Identifier: Apache-2.0 */
/* retire_bursts.c - tasks that a worker leaves to idle workers run, although
 * those have retired or retire meanwhile. */
#include "testing/with_workers.h"

enum { WORKERS = 4, TASKS = 24, ROUNDS = 40 };

struct burst {
	sennit_event open;
	atomic_uint  begun, ended;
};

static void wait_until_open(void *argument)
{
	struct burst *b = argument;

	atomic_fetch_add(&b->begun, 1);
	EXPECT(!sennit_event_wait(&b->open));
	atomic_fetch_add(&b->ended, 1);
}

/* Symptom: the first worker to come began so many tasks that it left the rest
 * to idle workers, and slept. These had no threads, and no thread was started:
 * the tasks never began. */
TEST_ALONE(tasks_left_to_retired_workers_begin)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = WORKERS, .retire_ms = 1));
	struct burst b = { .begun = 0 };
	unsigned     round, i;

	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_event_init(&b.open, SENNIT_EVENT_MANUAL);
	for (round = 0; round < ROUNDS; round++) {
		atomic_store(&b.begun, 0);
		atomic_store(&b.ended, 0);
		for (i = 0; i < TASKS; i++)
			must_schedule(wait_until_open, &b);
		assert_soon(atomic_load(&b.begun) == TASKS);
		sennit_event_set(&b.open);
		assert_soon(atomic_load(&b.ended) == TASKS);
		sennit_event_clear(&b.open);
		sennit_sleep(round * 300 * SENNIT_MICROSECOND);
	}
	sennit_event_destroy(&b.open);
	sennit_thread_unbind();
	end_scheduler(s);
}
