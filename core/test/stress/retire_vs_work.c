/* SPDX-License-Identifier: Apache-2.0 */
/* retire_vs_work.c - workers retire while tasks come from outside and inside
 * and wait on their workers, the number of workers changes, and the last
 * reference is released. All work must be done once, and the scheduler must
 * end.
 *
 * Pauses last about as long as a worker may be idle, so that most tasks meet
 * workers that are about to retire. */
#include "shared_life.h"

enum { MOST = 5, PAUSE = 1500 };

static void spread(void *argument)
{
	make_tasks(argument, run_once, 10);
	run_once(argument);
}

/* Longer than its worker may be idle. */
static void stay(void *argument)
{
	struct life    *l = argument;
	const pthread_t here = pthread_self();

	sennit_sleep(1200 * SENNIT_MICROSECOND);
	EXPECT(pthread_equal(here, pthread_self()));
	make_task(l, spread);
	run_once(l);
}

static void *send_now_and_then(void *argument)
{
	static sennit_task_fn *const runs[] = { run_once, spread, stay };
	struct hand                 *h = argument;

	send_tasks(h, runs, h->l, PAUSE, MOST, 6);
	return NULL;
}

static void live(uint64_t *random)
{
	struct life l = { .s = NULL };

	l.s = start_with(
		SENNIT_CONFIG(.workers = 1 + random_below(random, MOST),
			      .max_workers = MOST,
			      .start = 1 + random_below(random, 2),
			      .retire_ms = 1,
			      .min_workers = random_below(random, 3),
			      .on_shutdown = note_end,
			      .on_shutdown_context = &l));
	live_through(&l, send_now_and_then, random, 30);
}

TEST_ALONE(all_work_is_done_while_workers_retire)
{
	live_often(live, 200);
}
