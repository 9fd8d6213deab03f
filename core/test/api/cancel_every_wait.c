/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_every_wait.c - each wait that returns an int ends in a cancelled group
 * and at the deadline of the group, with a deadline and without one, and leaves
 * nothing behind. With SENNIT_UNCANCELLED it goes on.
 */
#include "cancel_objects.h"
#include "testing/crowd.h"
#include "every_wait.h"
#include "members.h"

#include <errno.h>

/* --- members ------------------------------------------------------------ */

struct attempt {
	const struct wait *wait;
	sennit_time        deadline;
	int                expected;
	sennit_event      *cancelled; /* it begins after this is set, or NULL */
	atomic_uint       *begun;
};

static int attempt(void *argument)
{
	const struct attempt *a = argument;
	struct stage         *s = malloc(sizeof(*s));
	int                   err;

	set_stage(s);
	if (a->cancelled)
		EXPECT(!sennit_event_wait_until(a->cancelled,
						SENNIT_UNCANCELLED));
	atomic_fetch_add(a->begun, 1);
	err = a->wait->until(s, a->deadline);
	if (err != a->expected)
		fprintf(stderr, "%s: %d\n", a->wait->name, err);
	EXPECT(err == a->expected);
	clear_stage(s);
	free(s);
	return err;
}

enum { MEMBERS = 3 * WAITS };

/* Each wait without a deadline, and with two that do not end it. */
static void spawn_all(sennit_group *g, int expected, sennit_event *cancelled,
		      atomic_uint *begun)
{
	const sennit_time later[] = { PLAIN, SENNIT_NEVER,
				      sennit_after(1000 * SENNIT_SECOND) };
	struct attempt    a = { .expected = expected,
				.cancelled = cancelled,
				.begun = begun };

	for (unsigned i = 0; i < MEMBERS; i++) {
		a.wait = &waits[i % WAITS];
		a.deadline = later[i / WAITS];
		assert_int_equal(
			sennit_group_spawn_copy(g, attempt, &a, sizeof(a)), 0);
	}
}

TEST_WITH_WORKERS(a_wait_in_a_cancelled_group_does_not_begin)
{
	sennit_event cancelled = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint  begun = 0;
	sennit_group g;

	open_on(w, &g, 0);
	spawn_all(&g, -ECANCELED, &cancelled, &begun);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&cancelled);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(a_cancel_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	open_on(w, &g, 0);
	spawn_all(&g, -ECANCELED, NULL, &begun);
	assert_soon(atomic_load(&begun) == MEMBERS);
	assert_soon(fibers_of(w->s) >= MEMBERS);
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(the_deadline_of_the_group_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	sennit_group_init_on(&g, w->s, sennit_after(5 * SENNIT_MILLISECOND),
			     SENNIT_GROUP_KEEP_GOING);
	spawn_all(&g, -ETIMEDOUT, NULL, &begun);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_deadline_that_has_passed_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	sennit_group_init_on(&g, w->s, 1, SENNIT_GROUP_KEEP_GOING);
	spawn_all(&g, -ETIMEDOUT, NULL, &begun);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}

/* --- what a group does not end ------------------------------------------ */

struct shielded {
	const struct wait *wait;
	struct stage       stage;
	sennit_time        deadline;
	sennit_event       cancelled;
};

static int attempt_shielded(void *argument)
{
	struct shielded *a = argument;

	EXPECT(!sennit_event_wait_until(&a->cancelled, SENNIT_UNCANCELLED));
	EXPECT(a->wait->until(&a->stage, a->deadline) == 0);
	return 0;
}

static void shield(struct world *w, const struct wait *wait)
{
	struct shielded a = { .wait = wait, .deadline = SENNIT_UNCANCELLED };
	sennit_group    g;

	set_stage(&a.stage);
	sennit_group_init_on(&g, w->s, 1, 0);
	must_spawn(&g, attempt_shielded, &a);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&a.cancelled);
	assert_soon(waiting_for(w->s, (char *)&a.stage + wait->object) == 1);
	wait->come(&a.stage);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	clear_stage(&a.stage);
}

TEST_WITH_WORKERS(an_uncancelled_wait_goes_on)
{
	for (unsigned i = 0; i < WAITS; i++)
		if (waits[i].come)
			shield(w, &waits[i]);
}

TEST_WITH_WORKERS(who_need_not_wait_is_served_in_a_cancelled_group)
{
	for (unsigned i = 0; i < WAITS; i++) {
		struct shielded a = { .wait = &waits[i], .deadline = PLAIN };
		sennit_group    g;

		if (!can_come_first(&waits[i]))
			continue;
		set_stage(&a.stage);
		waits[i].come(&a.stage);
		open_on(w, &g, 0);
		must_spawn(&g, attempt_shielded, &a);
		assert_true(sennit_group_cancel(&g));
		sennit_event_set(&a.cancelled);
		assert_int_equal(sennit_group_wait(&g), -ECANCELED);
		clear_stage(&a.stage);
	}
}

struct free_things {
	sennit_group   group;
	sennit_rwlock  lock;
	sennit_barrier alone;
};

static int use_all(void *argument)
{
	struct free_things *f = argument;

	EXPECT(sennit_group_cancel(&f->group));
	EXPECT(!sennit_rwlock_lock_shared_until(&f->lock, SENNIT_NEVER));
	sennit_rwlock_unlock_shared(&f->lock);
	EXPECT(!sennit_rwlock_lock_until(&f->lock, SENNIT_NEVER));
	sennit_rwlock_unlock(&f->lock);
	EXPECT(sennit_barrier_wait_until(&f->alone, SENNIT_NEVER) == 1);
	return 0;
}

TEST_WITH_WORKERS(so_is_who_locks_or_arrives)
{
	struct free_things f = { .lock = SENNIT_RWLOCK_INIT };

	sennit_barrier_init(&f.alone, 1);
	open_on(w, &f.group, 0);
	must_spawn(&f.group, use_all, &f);
	assert_int_equal(sennit_group_wait(&f.group), -ECANCELED);
}

/* --- reports -------------------------------------------------------------- */

static void count_me(void *count, const sennit_report_entry *e)
{
	const sennit_fiber *self = sennit_fiber_current();

	*(unsigned *)count += e->state == SENNIT_REPORT_RUNNING &&
			      e->thread == (uint32_t)gettid() &&
			      e->fiber == sennit_fiber_number(self);
}

static int wait_and_look(void *cancelled)
{
	struct stage s;

	EXPECT(!sennit_event_wait_until(cancelled, SENNIT_UNCANCELLED));
	for (unsigned i = 0; i < WAITS; i++) {
		unsigned running = 0;

		set_stage(&s);
		EXPECT(waits[i].until(&s, PLAIN) == -ECANCELED);
		sennit_report_visit(sennit_scheduler_current(), count_me,
				    &running);
		EXPECT(running == 1);
		clear_stage(&s);
	}
	return 0;
}

TEST_WITH_WORKERS(a_wait_that_did_not_begin_is_not_reported)
{
	sennit_event cancelled = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	open_on(w, &g, SENNIT_GROUP_OWN_STACKS);
	must_spawn(&g, wait_and_look, &cancelled);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&cancelled);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

/* --- outside of groups -------------------------------------------------- */

struct lone {
	const struct wait *wait;
	struct stage       stage;
	atomic_bool        ended;
};

static void wait_alone(void *argument)
{
	struct lone *l = argument;

	EXPECT(l->wait->until(&l->stage, PLAIN) == 0);
	atomic_store(&l->ended, true);
}

/* A notify could come before the thread waits, so it is repeated. */
TEST_WITH_WORKERS(an_unbound_thread_waits_in_each_way)
{
	for (unsigned i = 0; i < WAITS; i++) {
		struct lone l = { .wait = &waits[i] };
		pthread_t   thread;

		if (!waits[i].come)
			continue;
		set_stage(&l.stage);
		thread = start_on_thread(wait_alone, &l);
		do {
			waits[i].come(&l.stage);
			sched_yield();
		} while (waits[i].come == come_notify &&
			 !atomic_load(&l.ended));
		pthread_join(thread, NULL);
		clear_stage(&l.stage);
	}
}
