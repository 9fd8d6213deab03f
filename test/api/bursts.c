/* SPDX-License-Identifier: Apache-2.0 */
/* bursts.c - tasks that all wait at the same time become fibers of all workers.
 *
 * test/explore/bursts.c shows the bound, in orders that a seed chooses. Here
 * the system chooses the order. It may keep a worker from running for any
 * length of time, so that others take its tasks. So at least one round must
 * keep the bound.
 */
#include "with_workers.h"

enum { TASKS = 40, ROUNDS = 40, MOST_WORKERS = 8 };

struct burst {
	sennit_scheduler *s;
	uint32_t          workers;
	bool              at_once;
	atomic_uint       begun[MOST_WORKERS]; /* per worker */
	sennit_event      open;
	sennit_wait_group waiting, done;
};

static _Thread_local uint32_t my_worker;

static void note_worker(void *unused, uint32_t index)
{
	(void)unused;
	my_worker = index;
}

static void wait_at_once(void *burst)
{
	struct burst *b = burst;

	atomic_fetch_add(&b->begun[my_worker], 1);
	sennit_wait_group_done(&b->waiting);
	sennit_event_wait(&b->open);
	sennit_wait_group_done(&b->done);
}

static void send_all(void *burst)
{
	struct burst *b = burst;
	sennit_task   tasks[TASKS];

	for (unsigned i = 0; i < TASKS; i++)
		tasks[i] = (sennit_task){ .run = wait_at_once, .argument = b };
	if (b->at_once)
		EXPECT(!sennit_enqueue_many(b->s, tasks, TASKS));
	for (unsigned i = 0; i < TASKS && !b->at_once; i++)
		EXPECT(!sennit_enqueue(b->s, &tasks[i]));
}

/* The maximum number of tasks that one worker has begun. */
static unsigned burst_by(struct burst *b, void (*in)(sennit_task_fn *, void *))
{
	unsigned most = 0;

	for (uint32_t i = 0; i < b->workers; i++)
		atomic_store(&b->begun[i], 0);
	sennit_event_init(&b->open, SENNIT_EVENT_MANUAL, false);
	sennit_wait_group_init(&b->waiting, TASKS);
	sennit_wait_group_init(&b->done, TASKS);
	in(send_all, b);
	sennit_wait_group_wait(&b->waiting);
	for (uint32_t i = 0; i < b->workers; i++)
		if (atomic_load(&b->begun[i]) > most)
			most = atomic_load(&b->begun[i]);
	sennit_event_set(&b->open);
	sennit_wait_group_wait(&b->done);
	return most;
}

static void run_here(sennit_task_fn *run, void *argument)
{
	run(argument);
}

static void assert_spread(struct world *w, uint32_t placement, bool at_once,
			  void (*in)(sennit_task_fn *, void *))
{
	struct burst b = { .workers = w->workers, .at_once = at_once };
	unsigned     good = 0;

	b.s = move_to(SENNIT_CONFIG(.workers = w->workers,
				    .placement = placement,
				    .thread_init = note_worker));
	for (unsigned round = 0; round < ROUNDS; round++) {
		sennit_sleep(SENNIT_MILLISECOND); /* the workers may be asleep
						   * or not */
		good += burst_by(&b, in) <= TASKS / w->workers + TASKS / 4;
	}
	assert_in_range(good, 1, ROUNDS);
	move_back(w, b.s);
}

static void bursts_spread_over_workers(void **state)
{
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, false, run_here);
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, false, in_a_task);
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, false, in_a_thread);
}

static void batches_spread_over_workers(void **state)
{
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, true, run_here);
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, true, in_a_task);
	assert_spread(*state, SENNIT_PLACEMENT_LOCAL, true, in_a_thread);
}

static void so_do_bursts_and_batches_of_placement_spread(void **state)
{
	assert_spread(*state, SENNIT_PLACEMENT_SPREAD, false, run_here);
	assert_spread(*state, SENNIT_PLACEMENT_SPREAD, false, in_a_task);
	assert_spread(*state, SENNIT_PLACEMENT_SPREAD, true, in_a_task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SEVERAL(bursts_spread_over_workers),
		WITH_SEVERAL(batches_spread_over_workers),
		WITH_SEVERAL(so_do_bursts_and_batches_of_placement_spread),
	};

	return cmocka_run_group_tests_name("api/bursts", tests, NULL, NULL);
}
