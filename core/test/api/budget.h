/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - schedulers that share CPUs, and tasks that keep them busy. */
#ifndef SN_TEST_BUDGET_H
#define SN_TEST_BUDGET_H

#include "testing/with_workers.h"

enum { EACH = 4, MOST = 10 };

static inline sennit_resources *resources_of(uint32_t cpus)
{
	sennit_resources *r;

	assert_int_equal(sennit_resources_create(&r, cpus, NULL), 0);
	return r;
}

static inline sennit_resources_stats told_by(sennit_resources *r)
{
	sennit_resources_stats stats = { .size = sizeof(stats) };

	sennit_resources_get_stats(r, &stats);
	return stats;
}

#define SHARING(r, ...) \
	SENNIT_CONFIG(.workers = EACH, .resources = (r), __VA_ARGS__)

static inline void send(sennit_scheduler *s, sennit_task_fn *run,
			void *argument)
{
	const sennit_task t = { .run = run, .argument = argument };

	EXPECT(sennit_schedule_task_on(s, &t) == 0);
}

/* Release the last reference, once all of its schedulers have ended. */
static inline void give_back(sennit_resources *r)
{
	const sennit_resources_stats stats = told_by(r);

	assert_int_equal(stats.schedulers, 0);
	assert_int_equal(stats.promised, 0);
	assert_int_equal(stats.active, 0);
	assert_int_equal(stats.waiting, 0);
	assert_true(stats.active_peak <= stats.cpus);
	sennit_resources_release(r);
}

static atomic_uint active, most;

static inline void be_active(void)
{
	unsigned n = atomic_fetch_add(&active, 1) + 1;
	unsigned seen = atomic_load(&most);

	while (n > seen && !atomic_compare_exchange_weak(&most, &seen, n))
		;
	for (volatile int i = 0; i < 100; i++)
		;
	atomic_fetch_sub(&active, 1);
}

struct flood {
	sennit_wait_group left;
	atomic_uint       ran;
};

static inline void leaf(void *argument)
{
	struct flood *f = argument;

	be_active();
	sennit_yield();
	be_active();
	atomic_fetch_add(&f->ran, 1);
	sennit_wait_group_done(&f->left);
}

static inline void branch(void *argument)
{
	be_active();
	for (int i = 0; i < 50; i++)
		must_schedule(leaf, argument);
	sennit_sleep(50 * SENNIT_MICROSECOND);
	leaf(argument);
}

enum { BRANCHES = 8 };

static inline void flood(sennit_scheduler *s, struct flood *f)
{
	atomic_init(&f->ran, 0);
	sennit_wait_group_init(&f->left, BRANCHES * 51);
	for (int i = 0; i < BRANCHES; i++)
		send(s, branch, f);
}

/* Tasks that each keep a worker's CPU until they are released. */
struct grip {
	atomic_uint       there;
	atomic_bool       over;
	sennit_wait_group gone;
};

static inline void hold(void *argument)
{
	struct grip *g = argument;

	atomic_fetch_add(&g->there, 1);
	while (!atomic_load(&g->over))
		sched_yield();
	sennit_wait_group_done(&g->gone);
}

static inline void grip(struct grip *g, sennit_scheduler *s, uint32_t n)
{
	atomic_init(&g->there, 0);
	atomic_init(&g->over, false);
	sennit_wait_group_init(&g->gone, n);
	while (n-- > 0)
		send(s, hold, g);
}

static inline void let_go(struct grip *g)
{
	atomic_store(&g->over, true);
	sennit_wait_group_wait(&g->gone);
}

/* Endless work with safe points, as tasks or as a fiber. */
struct mill {
	atomic_bool       stop;
	atomic_uint       turns;
	sennit_wait_group gone;
};

static inline void turn(void *argument)
{
	struct mill *m = argument;

	atomic_fetch_add(&m->turns, 1);
	if (atomic_load(&m->stop))
		sennit_wait_group_done(&m->gone);
	else
		must_schedule(turn, m);
}

static inline void turn_here(void *argument)
{
	struct mill *m = argument;

	while (!atomic_load(&m->stop)) {
		atomic_fetch_add(&m->turns, 1);
		sennit_yield();
	}
	sennit_wait_group_done(&m->gone);
}

static inline void start_mill(struct mill *m, sennit_scheduler *s,
			      sennit_task_fn *run, uint32_t n)
{
	atomic_init(&m->stop, false);
	atomic_init(&m->turns, 0);
	sennit_wait_group_init(&m->gone, n);
	while (n-- > 0)
		send(s, run, m);
}

static inline void stop_mill(struct mill *m)
{
	atomic_store(&m->stop, true);
	sennit_wait_group_wait(&m->gone);
}

static inline void count_run(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

#endif
