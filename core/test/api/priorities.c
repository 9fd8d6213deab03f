/* SPDX-License-Identifier: Apache-2.0 */
/* priorities.c - background tasks run when there is nothing else, but not
 * never. */
#include "rendezvous.h"

#include <errno.h>

/* How often one is started at most while there are other tasks. */
#define PATIENCE (10 * SENNIT_MILLISECOND)

/* --- when --------------------------------------------------------------- */

static void run_late(void *argument)
{
	struct pile *p = argument;

	if (atomic_load(&p->others) < SOME)
		atomic_fetch_add(&p->early, 1);
	run_one(p);
}

static void run_normally(void *argument)
{
	struct pile *p = argument;

	atomic_fetch_add(&p->others, 1);
	run_one(p);
}

static void schedule_mixed(void *argument)
{
	struct pile *p = argument;

	for (int i = 0; i < SOME; i++) {
		must_schedule_late(run_late, p);
		must_schedule(run_normally, p);
	}
	sennit_wait_group_wait(&p->done);
}

TEST_IN_WORLDS(normal_tasks_go_first,
	       WITHOUT(normal_tasks_go_first, open_world, close_world),
	       WITH_ONE(normal_tasks_go_first, open_world, close_world))
{
	const sennit_time begin = sennit_now();
	struct pile       p = { .ran = 0 };

	sennit_wait_group_init(&p.done, 2 * SOME);
	in_a_task(schedule_mixed, &p);
	/* None, unless the test was delayed for so long that some were due. */
	assert_true(atomic_load(&p.early) * PATIENCE <= sennit_now() - begin);
}

static void keep_busy_with_tasks_at_hand(void *argument)
{
	struct pile      *p = argument;
	const sennit_time give_up = sennit_after(GIVE_UP);

	for (int i = 0; i < SOME; i++)
		must_schedule(run_normally, p);
	for (int i = 0; i < SOME; i++)
		must_schedule_late(run_late, p);
	while (atomic_load(&p->ran) < 2 * SOME && sennit_now() < give_up)
		sched_yield();
}

TEST_IN_WORLDS(who_can_steal_does_that_first,
	       IN_WORLD(who_can_steal_does_that_first, "_w2", open_world,
			close_world, 2))
{
	const sennit_time begin = sennit_now();
	struct pile       p = { .ran = 0 };

	sennit_wait_group_init(&p.done, 2 * SOME);
	in_a_task(keep_busy_with_tasks_at_hand, &p);
	sennit_wait_group_wait(&p.done);
	assert_true(atomic_load(&p.early) * PATIENCE <= sennit_now() - begin);
}

static uintptr_t   order[SOME];
static atomic_uint order_count;

struct turn {
	struct pile *p;
	uintptr_t    number;
};

static void note_turn(void *argument)
{
	struct turn *t = argument;

	order[order_count++] = t->number;
	run_one(t->p);
}

static void schedule_in_order(void *argument)
{
	struct turn t = { .p = argument };

	order_count = 0;
	for (t.number = 0; t.number < SOME; t.number++) {
		const sennit_task task = { .run = note_turn,
					   .argument = &t,
					   .copy_size = sizeof(t),
					   .flags = SENNIT_TASK_BACKGROUND };

		EXPECT(sennit_schedule_task(&task) == 0);
	}
	sennit_wait_group_wait(&t.p->done);
}

TEST_IN_WORLDS(among_themselves_the_oldest_goes_first,
	       WITHOUT(among_themselves_the_oldest_goes_first, open_world,
		       close_world),
	       WITH_ONE(among_themselves_the_oldest_goes_first, open_world,
			close_world))
{
	struct pile p = { .ran = 0 };

	sennit_wait_group_init(&p.done, SOME);
	in_a_task(schedule_in_order, &p);
	for (uintptr_t i = 0; i < SOME; i++)
		assert_int_equal(order[i], i);
}

static void run_for_ever(void *argument)
{
	struct pile *p = argument;

	if (atomic_load(&p->found))
		run_one(p);
	else
		must_schedule(run_for_ever, p);
}

static void yield_for_ever(void *argument)
{
	struct pile *p = argument;

	while (!atomic_load(&p->found))
		sennit_yield();
	run_one(p);
}

static void come_at_last(void *argument)
{
	struct pile *p = argument;

	atomic_store(&p->found, true);
	run_one(p);
}

static void starve(const struct world *w, sennit_task_fn *busy)
{
	const unsigned count = 2 * w->threads + 2;
	struct pile    p = { .ran = 0 };

	sennit_wait_group_init(&p.done, count + 1);
	for (unsigned i = 0; i < count; i++)
		must_schedule(busy, &p);
	must_schedule_late(come_at_last, &p);
	sennit_wait_group_wait(&p.done);
}

TEST_WITH_WORKERS(new_tasks_without_end_do_not_starve_them)
{
	starve(w, run_for_ever);
}

TEST_WITH_WORKERS(fibers_that_yield_without_end_do_not_starve_them)
{
	starve(w, yield_for_ever);
}

/* --- reports ------------------------------------------------------------ */

struct search {
	uint32_t worker;
	uint32_t count;
};

static void note_queued(void *context, const sennit_report_entry *e)
{
	struct search *look = context;

	if (e->state != SENNIT_REPORT_QUEUED)
		return;
	look->worker = e->worker;
	look->count += e->count;
}

/* The only thread that can run them is busy here. */
static void report_late_ones(void *argument)
{
	struct pile  *p = argument;
	struct search look = { .count = 0 };

	for (int i = 0; i < 7; i++)
		must_schedule_late(run_one, p);
	sennit_report_visit(p->s, note_queued, &look);
	EXPECT(look.count == 7);
	if (p->found)
		EXPECT(look.worker == SENNIT_REPORT_BACKGROUND);
	else
		EXPECT(look.worker == SENNIT_REPORT_BOUND);
}

TEST_IN_WORLDS(reports_count_them,
	       WITHOUT(reports_count_them, open_world, close_world),
	       WITH_ONE(reports_count_them, open_world, close_world))
{
	struct pile p = { .s = w->s, .found = w->threads > 0 };

	sennit_wait_group_init(&p.done, 7);
	in_a_task(report_late_ones, &p);
	sennit_wait_group_wait(&p.done);
}

/* --- refusals ----------------------------------------------------------- */

TEST_WITH_WORKERS(they_do_not_stay_on_a_thread)
{
	const sennit_task t = { .run = run_one,
				.flags = SENNIT_TASK_BACKGROUND |
					 SENNIT_TASK_SAME_THREAD };

	assert_int_equal(sennit_schedule_task(&t), -EINVAL);
}
