/* SPDX-License-Identifier: Apache-2.0 */
/* set_workers_vs_work.c - several threads and tasks change the number of
 * workers, while tasks come from outside and inside, block and stay on their
 * workers, reports are printed, and the last reference is released. All work
 * must be done, once. */
#include "shared_life.h"

enum { MOST = 6 };

static void spread(void *argument)
{
	make_tasks(argument, run_once, 20);
	run_once(argument);
}

static void stay(void *argument)
{
	struct life    *l = argument;
	const pthread_t here = pthread_self();

	sennit_sleep(10 * SENNIT_MICROSECOND);
	EXPECT(pthread_equal(here, pthread_self()));
	atomic_fetch_add(&l->made, 1);
	must_schedule_here(run_once, l);
	sennit_yield();
	EXPECT(pthread_equal(here, pthread_self()));
	make_task(l, spread);
	run_once(l);
}

static void resize(void *argument)
{
	struct life      *l = argument;
	sennit_scheduler *s = sennit_scheduler_current();
	const uint32_t    n = sennit_scheduler_workers(s);

	EXPECT(sennit_scheduler_set_workers(s, n % MOST + 1) == 0);
	make_task(l, stay);
	run_once(l);
}

static void look_at(void *unused, const sennit_report_entry *e)
{
	EXPECT(e->worker < MOST || e->worker == SENNIT_REPORT_BACKGROUND);
}

static void *keep_changing(void *argument)
{
	static sennit_task_fn *const runs[] = { run_once, spread, stay,
						resize };
	struct hand                 *h = argument;
	struct life                 *l = h->l;
	sennit_scheduler            *s = l->s;

	for (; h->steps; h->steps--) {
		const sennit_task t = {
			.run = runs[random_below(&h->random, 4)], .argument = l
		};
		const uint32_t n = 1 + random_below(&h->random, MOST);

		atomic_fetch_add(&l->made, 1);
		EXPECT(sennit_schedule_task_on(s, &t) == 0);
		if (random_below(&h->random, 3) == 0)
			EXPECT(sennit_scheduler_set_workers(s, n) == 0);
		if (random_below(&h->random, 8) == 0)
			sennit_report_visit(s, look_at, NULL);
		if (random_below(&h->random, 8) == 0)
			usleep(random_below(&h->random, 100));
	}
	sennit_scheduler_release(s);
	return NULL;
}

static void live(uint64_t *random)
{
	const uint32_t first = 1 + random_below(random, MOST);
	const uint32_t start = 1 + random_below(random, 2);
	struct life    l = { .s = NULL };

	l.s = start_with(SENNIT_CONFIG(.workers = first, .max_workers = MOST,
				       .start = start,
				       .placement = random_below(random, 3),
				       .on_shutdown = note_end,
				       .on_shutdown_context = &l));
	live_through(&l, keep_changing, random, 100);
}

TEST_ALONE(all_work_is_done_while_workers_come_and_go)
{
	live_often(live, 400);
}
