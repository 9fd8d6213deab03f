/* SPDX-License-Identifier: Apache-2.0 */
/* fairness.c - new tasks, tasks from outside and timers all get their turn,
 * however busy the worker is. */
#include "testing/with_workers.h"

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

struct contest {
	sennit_scheduler *s;
	sennit_wait_group players;
	atomic_bool       over;
	atomic_uint       turns;
};

static void end_it(void *argument)
{
	struct contest *c = argument;

	atomic_store(&c->over, true);
	sennit_wait_group_done(&c->players);
}

static void sleep_and_end_it(void *argument)
{
	sennit_sleep(2 * SENNIT_MILLISECOND);
	end_it(argument);
}

/* Its worker always has a ready fiber. */
static void yield_until_over(void *argument)
{
	struct contest *c = argument;

	while (!atomic_load(&c->over))
		sennit_yield();
	sennit_wait_group_done(&c->players);
}

/* Its worker always has a task. */
static void reschedule_until_over(void *argument)
{
	struct contest *c = argument;

	if (atomic_load(&c->over))
		sennit_wait_group_done(&c->players);
	else
		must_schedule_here(reschedule_until_over, c);
}

static void reschedule_stealable_until_over(void *argument)
{
	struct contest *c = argument;

	if (atomic_load(&c->over))
		sennit_wait_group_done(&c->players);
	else
		must_schedule(reschedule_stealable_until_over, c);
}

static void yield_at_most_1000_times(void *argument)
{
	struct contest *c = argument;

	must_schedule_here(end_it, c);
	while (!atomic_load(&c->over)) {
		atomic_fetch_add(&c->turns, 1);
		sennit_yield();
	}
	EXPECT(atomic_load(&c->turns) <= 1000);
	sennit_wait_group_done(&c->players);
}

TEST_WITH_WORKERS(a_yielding_fiber_lets_a_new_task_run)
{
	struct contest c = { .turns = 0 };

	sennit_wait_group_init(&c.players, 2);
	in_a_task(yield_at_most_1000_times, &c);
	sennit_wait_group_wait(&c.players);
}

/* Two fibers that yield to each other. */
static void yield_with_a_second(void *argument)
{
	struct contest *c = argument;

	must_schedule_here(yield_until_over, c);
	sennit_yield();
	yield_at_most_1000_times(c);
}

TEST_WITH_WORKERS(fibers_that_yield_to_each_other_let_a_new_task_run)
{
	struct contest c = { .turns = 0 };

	sennit_wait_group_init(&c.players, 3);
	in_a_task(yield_with_a_second, &c);
	sennit_wait_group_wait(&c.players);
}

/* The same with turns of so long at least: within 1 ms, which is a number of
 * turns however slow or busy the machine is, or once the worker has noticed
 * that they take long. This holds for a task that stays with the worker of the
 * fibers. A thief may lose the CPU before it starts the task. */
enum { NOTICE = 16 /* turns */ };

struct long_contest {
	struct contest c;
	sennit_time    takes;
	uint32_t       flags; /* of the new task */
	pthread_t      home;  /* the fibers' thread */
	bool           stolen;
};

static void end_long_contest(void *argument)
{
	struct long_contest *l = argument;

	l->stolen = !pthread_equal(l->home, pthread_self());
	end_it(&l->c);
}

static void take_turns_until_over(void *argument)
{
	struct long_contest *l = argument;

	while (!atomic_load(&l->c.over)) {
		const sennit_time begin = sennit_now();

		while (sennit_now() < begin + l->takes)
			;
		atomic_fetch_add(&l->c.turns, 1);
		sennit_yield();
	}
	sennit_wait_group_done(&l->c.players);
}

static void take_turns_with_a_second(void *argument)
{
	struct long_contest *l = argument;
	const sennit_task    end = { .run = end_long_contest,
				     .argument = l,
				     .flags = l->flags };

	l->home = pthread_self();
	must_schedule_here(take_turns_until_over, l);
	sennit_yield();
	EXPECT(!sennit_schedule_task(&end));
	take_turns_until_over(l);
	EXPECT(!(l->stolen && l->flags & SENNIT_TASK_SAME_THREAD));
	EXPECT(l->stolen || atomic_load(&l->c.turns) <=
				    SENNIT_MILLISECOND / l->takes + NOTICE);
}

static void play_for_long(struct world *w, uint32_t order, sennit_time takes,
			  uint32_t flags)
{
	struct long_contest l = { .takes = takes, .flags = flags };
	sennit_scheduler   *s =
		move_to(SENNIT_CONFIG(.workers = w->workers, .order = order));

	sennit_wait_group_init(&l.c.players, 3);
	in_a_task(take_turns_with_a_second, &l);
	sennit_wait_group_wait(&l.c.players);
	move_back(w, s);
}

TEST_WITH_WORKERS(fibers_that_run_for_long_let_a_new_task_run)
{
	static const sennit_time times[] = { 5 * SENNIT_MICROSECOND,
					     100 * SENNIT_MICROSECOND,
					     SENNIT_MILLISECOND,
					     5 * SENNIT_MILLISECOND };

	for (uint32_t order = SENNIT_ORDER_DEFAULT;
	     order <= SENNIT_ORDER_OLDEST; order++)
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
			play_for_long(w, order, times[i], 0);
			play_for_long(w, order, times[i],
				      SENNIT_TASK_SAME_THREAD);
		}
}

/* Keep every worker busy with `busy` until a task from outside ends it. */
static void end_from_outside(struct world *w, sennit_task_fn *busy)
{
	struct contest    c = { .turns = 0 };
	const sennit_task end = { .run = end_it, .argument = &c };

	sennit_wait_group_init(&c.players, 4 * w->threads + 1);
	for (unsigned i = 0; i < 4 * w->threads; i++)
		must_schedule(busy, &c);
	EXPECT(sennit_schedule_task_on(w->s, &end) == 0);
	sennit_wait_group_wait(&c.players);
}

TEST_WITH_THREADS(yielding_fibers_let_a_task_from_outside_run)
{
	end_from_outside(w, yield_until_over);
}

TEST_WITH_THREADS(same_thread_tasks_let_a_task_from_outside_run)
{
	end_from_outside(w, reschedule_until_over);
}

TEST_WITH_THREADS(own_tasks_let_a_task_from_outside_run)
{
	end_from_outside(w, reschedule_stealable_until_over);
}

/* Keep every worker busy with `busy` until a sleeping fiber wakes. */
static void end_by_timer(struct world *w, sennit_task_fn *busy)
{
	const unsigned count = w->threads ? 4 * w->threads : 1;
	struct contest c = { .turns = 0 };

	sennit_wait_group_init(&c.players, count + 1);
	must_schedule(sleep_and_end_it, &c);
	for (unsigned i = 0; i < count; i++)
		must_schedule(busy, &c);
	sennit_wait_group_wait(&c.players);
}

TEST_WITH_WORKERS(yielding_fibers_do_not_delay_timers_for_ever)
{
	end_by_timer(w, yield_until_over);
}

TEST_WITH_WORKERS(same_thread_tasks_do_not_delay_timers_for_ever)
{
	end_by_timer(w, reschedule_until_over);
}

TEST_WITH_WORKERS(own_tasks_do_not_delay_timers_for_ever)
{
	end_by_timer(w, reschedule_stealable_until_over);
}

static void *enqueue_until_over(void *argument)
{
	struct contest   *c = argument;
	const sennit_task t = { .run = count_one, .argument = &c->turns };
	uintptr_t         sent = 0;

	while (!atomic_load(&c->over) && sent < 5000000) {
		EXPECT(sennit_schedule_task_on(c->s, &t) == 0);
		sent++;
	}
	return (void *)sent;
}

TEST_WITH_THREADS(tasks_from_outside_do_not_delay_timers_for_ever)
{
	struct contest c = { .s = w->s };
	pthread_t      t;
	void          *sent;

	sennit_wait_group_init(&c.players, 1);
	must_schedule(sleep_and_end_it, &c);
	t = must_start_thread(enqueue_until_over, &c);
	sennit_wait_group_wait(&c.players);
	pthread_join(t, &sent);
	assert_soon(atomic_load(&c.turns) == (uintptr_t)sent);
}

TEST_WITH_WORKERS(a_yielding_bound_thread_lets_its_timers_fire)
{
	struct contest c = { .turns = 0 };

	sennit_wait_group_init(&c.players, 1);
	must_schedule_here(sleep_and_end_it, &c);
	assert_soon(atomic_load(&c.over));
	sennit_wait_group_wait(&c.players);
}
