/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_spawn.c - tasks tied to a wait group run once and count themselves
 * off. */
#include "wait/wait.h"

#include "domain_record.h"
#include "testing/tied.h"
#include "sennit/domain.h"

#include <errno.h>

/* --- counting ----------------------------------------------------------- */

static void spawn_some(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;
	atomic_uint       ran = 0;

	for (unsigned round = 1; round <= 5; round++) {
		for (int i = 0; i < 100; i++)
			tie(&g, count, &ran);
		sennit_wait_group_wait(&g);
		EXPECT(atomic_load(&ran) == round * 100);
	}
	sennit_wait_group_destroy(&g);
}

TEST_WITH_WORKERS(a_wait_ends_when_all_tasks_have)
{
	in_both_places(spawn_some, NULL);
}

TEST_IN_BOTH_PLACES(an_error_leaves_the_count)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	EXPECT(sennit_wait_group_spawn(&g, NULL, NULL) == -EINVAL);
	EXPECT(sennit_wait_group_wait_until(&g, 0) == 0);
}

struct rest {
	sennit_wait_group g;
	sennit_event      seen;
	atomic_uint       ran;
};

static void finish(void *argument)
{
	struct rest *r = argument;

	EXPECT(!sennit_event_wait(&r->seen));
	atomic_fetch_add(&r->ran, 1);
	sennit_wait_group_done(&r->g);
}

static void go_on(void *argument)
{
	struct rest *r = argument;

	atomic_fetch_add(&r->ran, 1);
	sennit_event_set(&r->seen);
}

/* The count of an ordinary task, which goes on only after the tied one. */
TEST_IN_BOTH_PLACES(the_rest_of_the_count_may_come_from_others)
{
	struct rest r = { .ran = 0 };

	sennit_wait_group_init(&r.g, 1);
	must_schedule(finish, &r);
	tie(&r.g, go_on, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 2);
}

static void spawn_more(void *argument)
{
	struct rest *r = argument;

	if (atomic_fetch_add(&r->ran, 1) < 100)
		tie(&r->g, spawn_more, r);
}

TEST_IN_BOTH_PLACES(tasks_may_spawn_into_their_wait_group)
{
	struct rest r = { .ran = 0 };

	tie(&r.g, spawn_more, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 101);
}

static void wait_and_count_it(void *argument)
{
	struct rest *r = argument;

	sennit_wait_group_wait(&r->g);
	EXPECT(atomic_load(&r->ran) == 300);
	sennit_event_set(&r->seen);
}

TEST_IN_BOTH_PLACES(several_may_wait)
{
	struct rest r = { .ran = 0 };

	sennit_event_init(&r.seen, SENNIT_EVENT_MANUAL);
	for (int i = 0; i < 300; i++)
		tie(&r.g, count, &r.ran);
	must_schedule(wait_and_count_it, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 300);
	EXPECT(!sennit_event_wait(&r.seen));
}

TEST_WITH_WORKERS(tasks_are_counted)
{
	const uint64_t before = stats_of(w->s).tasks;

	in_a_task(spawn_some, NULL);
	assert_soon(stats_of(w->s).tasks == before + 501);
}

/* --- in place ----------------------------------------------------------- */

struct place {
	sennit_fiber *waiter;
	atomic_uint   in_place;
};

static void note_place(void *argument)
{
	struct place *p = argument;

	if (sennit_fiber_current() == p->waiter)
		atomic_fetch_add(&p->in_place, 1);
}

/* Now and then a wait does something else first. */
static void spawn_and_wait(void *argument)
{
	struct place     *p = argument;
	sennit_wait_group g;

	p->waiter = sennit_fiber_current();
	for (unsigned i = 0; i < 10; i++) {
		sennit_wait_group_init(&g, 0);
		tie(&g, note_place, p);
		sennit_wait_group_wait(&g);
	}
}

TEST_WITH_ONE(the_newest_task_runs_in_the_wait)
{
	struct place p = { .waiter = NULL };

	in_a_task(spawn_and_wait, &p);
	assert_true(atomic_load(&p.in_place) > 0);
}

/* --- a locked queue ----------------------------------------------------- */

struct locked {
	sennit_wait_group g;
	atomic_bool       unlocked;
};

static void *unlock_late(void *argument)
{
	struct locked *l = argument;

	sennit_sleep(5 * SENNIT_MILLISECOND);
	atomic_store(&l->unlocked, true);
	a_store_rel(&l->g.state_, 0);
	return NULL;
}

static void do_nothing(void *unused)
{
}

/* The holder of the lock stores the word. It must not lose a task that was
 * counted meanwhile. */
static void spawn_while_locked(void *argument)
{
	struct locked *l = argument;

	tie(&l->g, do_nothing, NULL);
	EXPECT(atomic_load(&l->unlocked));
	sennit_wait_group_wait(&l->g);
}

TEST_WITH_THREADS(a_spawn_waits_for_the_lock_of_the_queue)
{
	struct locked l = { .g = SENNIT_WAIT_GROUP_INIT };
	pthread_t     t;

	a_store_rel(&l.g.state_, WAIT_QUEUE_LOCKED);
	t = must_start_thread(unlock_late, &l);
	in_a_task(spawn_while_locked, &l);
	pthread_join(t, NULL);
}

/* --- domains ------------------------------------------------------------ */

static void note_domain(void *argument)
{
	struct part *p = argument;

	EXPECT(sennit_domain_current() == p->d);
	count_run(p);
}

static void spawn_in_domain(void *argument)
{
	struct part      *p = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	for (int i = 0; i < 100; i++)
		tie(&g, note_domain, p);
	sennit_wait_group_wait(&g);
	EXPECT(atomic_load(&p->ran) == 100);
	count_run(p);
}

TEST_WITH_WORKERS(a_task_is_in_its_spawners_domain)
{
	struct part p;

	begin(&p, w->s);
	atomic_store(&p.due, 100);
	send(&p, spawn_in_domain);
	assert_ends_after(&p, 101);
}
