/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.c - identity of the running fiber, waits for a predicate, notify. */
#include "testing/with_workers.h"

#include <errno.h>

/* A fiber that waits for `open`. Plain fields are under lock. */
struct door {
	sennit_mutex            lock;
	sennit_wait_group       done;
	_Atomic(sennit_fiber *) waiter;
	sennit_time             deadline;
	bool                    open;
	bool                    passed;
	unsigned                looks, rounds;
};

static bool is_open(void *argument)
{
	struct door *d = argument;

	d->looks++;
	return d->open;
}

static void pass_door(void *argument)
{
	struct door *d = argument;
	bool         passed;

	sennit_mutex_lock(&d->lock);
	atomic_store(&d->waiter, sennit_fiber_current());
	passed = sennit_fiber_wait(&d->lock, is_open, d, d->deadline);
	EXPECT(passed == d->open);
	d->passed = passed;
	sennit_mutex_unlock(&d->lock);
	sennit_wait_group_done(&d->done);
}

static void make_door(struct door *d, sennit_time deadline)
{
	memset(d, 0, sizeof(*d));
	sennit_wait_group_init(&d->done, 1);
	d->deadline = deadline;
}

static unsigned looks_at(struct door *d)
{
	unsigned looks;

	sennit_mutex_lock(&d->lock);
	looks = d->looks;
	sennit_mutex_unlock(&d->lock);
	return looks;
}

static void open_door(void *argument)
{
	struct door *d = argument;

	EXPECT_SOON(atomic_load(&d->waiter) != NULL);
	sennit_mutex_lock(&d->lock);
	d->open = true;
	sennit_mutex_unlock(&d->lock);
	sennit_fiber_notify(atomic_load(&d->waiter));
}

/* --- identity ----------------------------------------------------------- */

struct census {
	sennit_wait_group in;
	sennit_wait_group out;
	sennit_wait_group gone;
	struct {
		pthread_t     thread;
		uint32_t      id;
		sennit_fiber *fiber;
	} seen[50];
	atomic_uint count;
};

static void be_counted(void *argument)
{
	struct census *c = argument;
	const unsigned i = atomic_fetch_add(&c->count, 1);

	sennit_wait_group_done(&c->in);
	sennit_wait_group_wait(&c->in);
	c->seen[i].thread = pthread_self();
	c->seen[i].fiber = sennit_fiber_current();
	c->seen[i].id = sennit_fiber_number(sennit_fiber_current());
	sennit_wait_group_done(&c->out);
	sennit_wait_group_wait(&c->out);
	EXPECT(c->seen[i].fiber == sennit_fiber_current());
	EXPECT(c->seen[i].id == sennit_fiber_number(sennit_fiber_current()));
	sennit_wait_group_done(&c->gone);
}

/* All fibers exist at once, so no handle and no number can be reused. */
TEST_WITH_WORKERS(ids_are_unique_on_a_worker)
{
	struct census c = { .count = 0 };
	unsigned      i, k;

	sennit_wait_group_init(&c.in, 50);
	sennit_wait_group_init(&c.out, 50);
	sennit_wait_group_init(&c.gone, 50);
	for (i = 0; i < 49; i++)
		must_schedule(be_counted, &c);
	be_counted(&c);
	sennit_wait_group_wait(&c.gone);
	for (i = 0; i < 50; i++)
		for (k = 0; k < i; k++) {
			assert_ptr_not_equal(c.seen[i].fiber, c.seen[k].fiber);
			if (pthread_equal(c.seen[i].thread, c.seen[k].thread))
				assert_int_not_equal(c.seen[i].id,
						     c.seen[k].id);
		}
}

static void expect_no_fiber(void *argument)
{
	EXPECT(sennit_fiber_current() == NULL);
}

TEST_WITH_WORKERS(a_bound_thread_is_fiber_0_and_an_unbound_one_none)
{
	assert_non_null(sennit_fiber_current());
	assert_int_equal(sennit_fiber_number(sennit_fiber_current()), 0);
	in_a_thread(expect_no_fiber, NULL);
}

/* --- wait --------------------------------------------------------------- */

static void wait_without_need(void *argument)
{
	struct door d;

	make_door(&d, SENNIT_NEVER);
	d.open = true;
	pass_door(&d);
	EXPECT(d.passed);
	EXPECT(d.looks == 1);
	make_door(&d, 0);
	pass_door(&d);
	EXPECT(!d.passed);
}

TEST_WITH_WORKERS(a_predicate_that_holds_needs_no_wait)
{
	wait_without_need(NULL);
	in_a_task(wait_without_need, NULL);
}

static void wait_in_vain(void *argument)
{
	struct door d;

	make_door(&d, sennit_after(2 * SENNIT_MILLISECOND));
	pass_door(&d);
	EXPECT(!d.passed);
	EXPECT(sennit_now() >= d.deadline);
}

TEST_WITH_WORKERS(at_the_deadline_the_predicate_has_the_last_word)
{
	wait_in_vain(NULL);
	in_a_task(wait_in_vain, NULL);
}

TEST_WITH_WORKERS(a_notify_makes_it_look_again)
{
	struct door d;

	make_door(&d, SENNIT_NEVER);
	must_schedule(pass_door, &d);
	assert_soon(looks_at(&d) == 1);
	sennit_fiber_notify(atomic_load(&d.waiter));
	assert_soon(looks_at(&d) > 1);
	sennit_mutex_lock(&d.lock);
	assert_false(d.passed);
	sennit_mutex_unlock(&d.lock);
	open_door(&d);
	sennit_wait_group_wait(&d.done);
	assert_true(d.passed);
}

static void notify_in_each_way(sennit_time deadline)
{
	struct door d;

	make_door(&d, deadline);
	must_schedule(pass_door, &d);
	open_door(&d);
	sennit_wait_group_wait(&d.done);
	make_door(&d, deadline);
	must_schedule(pass_door, &d);
	in_a_task(open_door, &d);
	sennit_wait_group_wait(&d.done);
	make_door(&d, deadline);
	must_schedule(pass_door, &d);
	in_a_thread(open_door, &d);
	sennit_wait_group_wait(&d.done);
	assert_true(d.passed);
}

TEST_WITH_WORKERS(anyone_may_notify)
{
	notify_in_each_way(SENNIT_NEVER);
}

TEST_WITH_WORKERS(a_notify_in_time_beats_the_deadline)
{
	notify_in_each_way(sennit_after(100 * SENNIT_SECOND));
}

TEST_WITH_WORKERS(a_bound_thread_waits_as_a_fiber_does)
{
	struct door d;

	make_door(&d, SENNIT_NEVER);
	must_schedule(open_door, &d);
	pass_door(&d);
	assert_true(d.passed);
}

/* --- none lost ---------------------------------------------------------- */

static void pass_often(void *argument)
{
	struct door *d = argument;

	for (unsigned i = 0; i < d->rounds; i++) {
		sennit_mutex_lock(&d->lock);
		atomic_store(&d->waiter, sennit_fiber_current());
		EXPECT(sennit_fiber_wait(&d->lock, is_open, d, SENNIT_NEVER));
		d->open = false;
		sennit_mutex_unlock(&d->lock);
	}
	sennit_wait_group_done(&d->done);
}

/* Notifies once per pass: if one is lost, both wait for ever. */
static void open_often(void *argument)
{
	struct door *d = argument;
	bool         was_open;

	EXPECT_SOON(atomic_load(&d->waiter) != NULL);
	for (unsigned i = 0; i < d->rounds; i += !was_open) {
		sennit_mutex_lock(&d->lock);
		was_open = d->open;
		d->open = true;
		sennit_mutex_unlock(&d->lock);
		if (was_open)
			sennit_yield();
		else
			sennit_fiber_notify(atomic_load(&d->waiter));
	}
}

TEST_WITH_WORKERS(no_notify_after_the_unlock_is_lost)
{
	struct door d;

	make_door(&d, SENNIT_NEVER);
	d.rounds = 2000;
	must_schedule(pass_often, &d);
	in_a_thread(open_often, &d);
	sennit_wait_group_wait(&d.done);
	make_door(&d, SENNIT_NEVER);
	d.rounds = 2000;
	must_schedule(pass_often, &d);
	in_a_task(open_often, &d);
	sennit_wait_group_wait(&d.done);
}

/* --- notify without a wait ---------------------------------------------- */

static void notify_myself_first(void *argument)
{
	struct door d;

	sennit_fiber_notify(sennit_fiber_current());
	make_door(&d, sennit_after(SENNIT_MILLISECOND));
	pass_door(&d);
	EXPECT(!d.passed);
	EXPECT(sennit_now() >= d.deadline);
}

TEST_WITH_WORKERS(a_notify_of_a_running_fiber_is_not_remembered)
{
	notify_myself_first(NULL);
	in_a_task(notify_myself_first, NULL);
}

struct disturbed {
	_Atomic(sennit_fiber *) sleeper;
	sennit_event            event;
	atomic_bool             over;
};

static void wait_for_other_things(void *argument)
{
	struct disturbed *d = argument;
	sennit_time       t;

	for (unsigned i = 0; i < 20; i++) {
		t = sennit_after(200 * SENNIT_MICROSECOND);
		EXPECT(sennit_event_wait_until(&d->event, t) == -ETIMEDOUT);
		EXPECT(sennit_now() >= t);
		t = sennit_after(200 * SENNIT_MICROSECOND);
		atomic_store(&d->sleeper, sennit_fiber_current());
		sennit_sleep_until(t);
		EXPECT(sennit_now() >= t);
		sennit_yield();
	}
	atomic_store(&d->over, true);
}

static void disturb(void *argument)
{
	struct disturbed *d = argument;

	EXPECT_SOON(atomic_load(&d->sleeper) != NULL);
	while (!atomic_load(&d->over)) {
		sennit_fiber_notify(atomic_load(&d->sleeper));
		sennit_yield();
	}
	sennit_fiber_notify(atomic_load(&d->sleeper)); /* it may have ended */
}

TEST_WITH_WORKERS(a_notify_ends_no_wait_of_another_kind)
{
	struct disturbed d = { .sleeper = NULL };

	must_schedule(wait_for_other_things, &d);
	disturb(&d);
	atomic_store(&d.over, false);
	atomic_store(&d.sleeper, NULL);
	must_schedule(wait_for_other_things, &d);
	in_a_thread(disturb, &d);
}

static void remember_and_end(void *argument)
{
	atomic_store((_Atomic(sennit_fiber *) *)argument,
		     sennit_fiber_current());
}

TEST_WITH_WORKERS(a_notify_of_an_ended_fiber_is_harmless)
{
	_Atomic(sennit_fiber *) gone = NULL;

	in_a_task(remember_and_end, &gone);
	for (unsigned i = 0; i < 100; i++) {
		sennit_fiber_notify(atomic_load(&gone));
		sennit_yield();
	}
}
