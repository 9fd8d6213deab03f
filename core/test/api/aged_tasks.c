/* SPDX-License-Identifier: Apache-2.0 */
/* aged_tasks.c - whatever newer tasks do, and however long they take, those
 * that are older all start: n of them within n * 1 ms.
 *
 * Time is counted in steps of the newer work. Each step lasts for so long at
 * least, so that the bound in steps holds however slow or busy the machine is.
 * With several workers it does not: one that has stolen old tasks may lose the
 * CPU while another one steps. There the old tasks need only start at all.
 */
#include "testing/with_workers.h"

#include "sennit/domain.h"
#include "sennit/fork_join.h"
#include "sennit/group.h"

static const sennit_time step_times[] = {
	5 * SENNIT_MICROSECOND, 20 * SENNIT_MICROSECOND,
	100 * SENNIT_MICROSECOND, SENNIT_MILLISECOND, 5 * SENNIT_MILLISECOND
};

enum {
	OLD = 100,  /* tasks */
	NOTICE = 16 /* steps until a worker has noticed that they take long */
};

struct scene {
	sennit_scheduler *s;
	sennit_domain    *domain;
	sennit_task_fn   *newer; /* begins the newer work */
	sennit_time       takes; /* each step of it */
	unsigned          bound; /* in steps */
	uint32_t          flags; /* of the older tasks */
	atomic_uint       steps;
	atomic_uint       started; /* of the older tasks */
	sennit_wait_group old, done;
};

/* Do one step. Returns whether to go on. */
static bool step(struct scene *c)
{
	const sennit_time begin = sennit_now();

	while (sennit_now() < begin + c->takes)
		;
	return atomic_fetch_add(&c->steps, 1) < c->bound &&
	       atomic_load(&c->started) < OLD;
}

static void finish(struct scene *c)
{
	EXPECT(atomic_load(&c->started) == OLD);
	(void)sennit_wait_group_done(&c->done);
}

/* --- newer work ----------------------------------------------------------- */

static void reschedule(void *scene)
{
	if (step(scene))
		must_schedule(reschedule, scene);
	else
		finish(scene);
}

static void reschedule_in_domain(void *scene)
{
	struct scene *c = scene;

	if (step(c))
		EXPECT(!sennit_domain_schedule(c->domain, reschedule_in_domain,
					       c));
	else
		finish(c);
}

/* Its worker always has a fiber that is ready, too. */
static void reschedule_and_yield(void *scene)
{
	sennit_yield();
	if (step(scene))
		must_schedule(reschedule_and_yield, scene);
	else
		finish(scene);
}

SENNIT_FORK(bool, step_in_a_call, struct scene *, c)
{
	(void)sennit_me_;
	return step(c);
}

SENNIT_FORK(int, fork_and_join, struct scene *, c)
{
	bool goes_on = true;

	while (goes_on) {
		SENNIT_FORK_SPAWN(step_in_a_call, child, c);
		goes_on = SENNIT_FORK_SYNC(step_in_a_call, child);
	}
	return 0;
}

static void join_calls(void *scene)
{
	EXPECT(!SENNIT_FORK_RUN(fork_and_join, (struct scene *)scene));
	finish(scene);
}

struct member {
	struct scene *scene;
	bool          goes_on;
};

static int step_as_member(void *member)
{
	struct member *m = member;

	m->goes_on = step(m->scene);
	return 0;
}

static void join_members(void *scene)
{
	struct member m = { .scene = scene, .goes_on = true };

	while (m.goes_on) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		EXPECT(!sennit_group_spawn(&g, step_as_member, &m));
		EXPECT(!sennit_group_wait(&g));
	}
	finish(scene);
}

static void *send_steps(void *scene)
{
	struct scene *c = scene;

	while (atomic_load(&c->steps) < c->bound &&
	       atomic_load(&c->started) < OLD) {
		const sennit_task t = { .run = reschedule, .argument = c };
		const unsigned    before = atomic_load(&c->steps);

		(void)sennit_wait_group_add(&c->done, 1);
		EXPECT(!sennit_schedule_task_on(c->s, &t));
		while (atomic_load(&c->steps) < before + 2 &&
		       atomic_load(&c->started) < OLD &&
		       atomic_load(&c->steps) < c->bound)
			sched_yield();
	}
	finish(c);
	return NULL;
}

/* More and more tasks that reschedule themselves. */
static void send_from_outside(void *scene)
{
	pthread_detach(must_start_thread(send_steps, scene));
}

/* --- older tasks ---------------------------------------------------------- */

static void start_old(void *scene)
{
	struct scene *c = scene;

	atomic_fetch_add(&c->started, 1);
	(void)sennit_wait_group_done(&c->old);
}

static void schedule_old(struct scene *c)
{
	const sennit_task t = { .run = start_old,
				.argument = c,
				.flags = c->flags };

	for (int i = 0; i < OLD; i++)
		EXPECT(!sennit_schedule_task(&t));
	must_schedule(c->newer, c);
}

static void schedule_singly(void *scene)
{
	schedule_old(scene);
}

/* These take turns with the others. */
static void schedule_same_thread(void *scene)
{
	struct scene *c = scene;

	c->flags = SENNIT_TASK_SAME_THREAD;
	if (c->bound < OLD + NOTICE)
		c->bound = OLD + NOTICE;
	schedule_old(c);
}

static void schedule_batch(void *scene)
{
	struct scene *c = scene;
	sennit_task   t[OLD];

	for (int i = 0; i < OLD; i++)
		t[i] = (sennit_task){ .run = start_old, .argument = c };
	EXPECT(!sennit_schedule_many_on(c->s, t, OLD));
	must_schedule(c->newer, c);
}

static void schedule_in_domain(void *scene)
{
	struct scene *c = scene;

	for (int i = 0; i < OLD; i++)
		EXPECT(!sennit_domain_schedule(c->domain, start_old, c));
	must_schedule(c->newer, c);
}

/* Each is counted off twice: by itself, and as a tied task. */
static void spawn_tied(void *scene)
{
	struct scene *c = scene;

	for (int i = 0; i < OLD; i++)
		EXPECT(!sennit_wait_group_spawn(&c->old, start_old, c));
	must_schedule(c->newer, c);
}

/* --- all of them ---------------------------------------------------------- */

static void play(const struct world *w, sennit_task_fn *older,
		 sennit_task_fn *newer, sennit_time takes)
{
	const sennit_time limit = w->threads > 1 ? GIVE_UP
						 : OLD * SENNIT_MILLISECOND;
	struct scene      c = {
		     .s = w->s,
		     .newer = newer,
		     .takes = takes,
		     .bound = (unsigned)(limit / takes) + NOTICE,
	};

	sennit_wait_group_init(&c.old, OLD);
	sennit_wait_group_init(&c.done, 1);
	assert_int_equal(sennit_domain_create(&c.domain, w->s, NULL, NULL), 0);
	must_schedule(older, &c);
	sennit_wait_group_wait(&c.done);
	sennit_wait_group_wait(&c.old);
	sennit_domain_release(c.domain);
}

/* With short steps in each way; with the others in one, because that takes
 * long. */
static void older_tasks_start(const struct world *w, sennit_task_fn *newer)
{
	static sennit_task_fn *const older[] = { schedule_singly,
						 schedule_batch,
						 schedule_in_domain, spawn_tied,
						 schedule_same_thread };
	const size_t                 ways = sizeof(older) / sizeof(*older);
	const size_t times = sizeof(step_times) / sizeof(*step_times);

	for (size_t t = 0; t < times; t++)
		for (size_t i = 0; i < ways; i++)
			if (i == 0 || step_times[t] < SENNIT_MILLISECOND)
				play(w, older[i], newer, step_times[t]);
}

TEST_WITH_WORKERS(though_one_reschedules_itself)
{
	older_tasks_start(w, reschedule);
}

TEST_WITH_WORKERS(though_one_reschedules_itself_in_a_domain)
{
	older_tasks_start(w, reschedule_in_domain);
}

TEST_WITH_WORKERS(though_fibers_are_ready_as_well)
{
	older_tasks_start(w, reschedule_and_yield);
}

TEST_WITH_WORKERS(though_calls_are_spawned_and_joined)
{
	older_tasks_start(w, join_calls);
}

TEST_WITH_WORKERS(though_members_of_groups_are_awaited)
{
	older_tasks_start(w, join_members);
}

TEST_WITH_THREADS(though_more_come_from_outside)
{
	older_tasks_start(w, send_from_outside);
}

/* Where the newest goes first without workers, too. */
TEST_WITH_WORKERS(so_they_do_by_order_newest)
{
	sennit_scheduler *s = w->s;

	w->s = move_to(SENNIT_CONFIG(.workers = w->workers,
				     .order = SENNIT_ORDER_NEWEST));
	older_tasks_start(w, reschedule);
	older_tasks_start(w, join_members);
	sennit_thread_unbind();
	end_scheduler(w->s);
	w->s = s;
	assert_int_equal(sennit_thread_bind(s), 0);
}
