/* SPDX-License-Identifier: Apache-2.0 */
#include "crowd.h"
#include "../counting_allocator.h"

#include <errno.h>

/* --- creating ----------------------------------------------------------- */

TEST_ALONE(created_objects_are_as_asked_for)
{
	sennit_event      *e;
	sennit_wait_group *g;
	sennit_semaphore  *s;

	assert_int_equal(sennit_event_create(&e, SENNIT_EVENT_AUTO, true, NULL),
			 0);
	assert_int_equal(sennit_event_wait_until(e, 0), 0);
	assert_int_equal(sennit_event_wait_until(e, 0), -ETIMEDOUT);
	sennit_event_release(e);
	assert_int_equal(sennit_wait_group_create(&g, 2, NULL), 0);
	assert_false(sennit_wait_group_done(g));
	assert_true(sennit_wait_group_done(g));
	sennit_wait_group_release(g);
	assert_int_equal(sennit_semaphore_create(&s, 3, NULL), 0);
	assert_int_equal(sennit_semaphore_take_until(s, 4, 0), -ETIMEDOUT);
	assert_int_equal(sennit_semaphore_take_until(s, 3, 0), 0);
	sennit_semaphore_release(s);
}

TEST_ALONE(an_object_ends_with_its_last_reference)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	sennit_event            *e;
	sennit_wait_group       *g;
	sennit_semaphore        *s;
	sennit_cond             *c;
	sennit_mutex            *m;

	assert_int_equal(sennit_event_create(&e, SENNIT_EVENT_AUTO, false, &a),
			 0);
	assert_ptr_equal(sennit_event_retain(e), e);
	sennit_event_release(e);
	assert_int_equal(atomic_load(&kept.given), 0);
	sennit_event_release(e);
	assert_true(is_given_back(&kept, 1));

	assert_int_equal(sennit_wait_group_create(&g, 1, &a), 0);
	assert_ptr_equal(sennit_wait_group_retain(g), g);
	sennit_wait_group_release(g);
	assert_int_equal(atomic_load(&kept.given), 1);
	sennit_wait_group_release(g);
	assert_true(is_given_back(&kept, 2));

	assert_int_equal(sennit_semaphore_create(&s, 1, &a), 0);
	assert_ptr_equal(sennit_semaphore_retain(s), s);
	sennit_semaphore_release(s);
	assert_int_equal(atomic_load(&kept.given), 2);
	sennit_semaphore_release(s);
	assert_true(is_given_back(&kept, 3));

	assert_int_equal(sennit_cond_create(&c, &a), 0);
	assert_ptr_equal(sennit_cond_retain(c), c);
	sennit_cond_release(c);
	assert_int_equal(atomic_load(&kept.given), 3);
	sennit_cond_release(c);
	assert_true(is_given_back(&kept, 4));

	assert_int_equal(sennit_mutex_create(&m, &a), 0);
	assert_ptr_equal(sennit_mutex_retain(m), m);
	sennit_mutex_release(m);
	assert_int_equal(atomic_load(&kept.given), 4);
	sennit_mutex_release(m);
	assert_true(is_given_back(&kept, 5));
}

TEST_ALONE(the_allocator_is_copied)
{
	struct keeping_allocator kept = { .taken = 0 };
	sennit_allocator         a = keeping(&kept);
	sennit_mutex            *m;

	assert_int_equal(sennit_mutex_create(&m, &a), 0);
	memset(&a, 0, sizeof(a));
	sennit_mutex_release(m);
	assert_true(is_given_back(&kept, 1));
}

static void creating_fails_and_changes_nothing(const sennit_allocator *a,
					       int                     err)
{
	sennit_event      *e = NULL;
	sennit_wait_group *g = NULL;
	sennit_semaphore  *s = NULL;
	sennit_cond       *c = NULL;
	sennit_mutex      *m = NULL;

	assert_int_equal(sennit_event_create(&e, SENNIT_EVENT_AUTO, false, a),
			 err);
	assert_int_equal(sennit_wait_group_create(&g, 1, a), err);
	assert_int_equal(sennit_semaphore_create(&s, 1, a), err);
	assert_int_equal(sennit_cond_create(&c, a), err);
	assert_int_equal(sennit_mutex_create(&m, a), err);
	assert_true(!e && !g && !s && !c && !m);
}

TEST_ALONE(half_an_allocator_is_refused)
{
	const sennit_allocator none = { NULL, NULL, NULL };
	const sennit_allocator no_take = { NULL, keeping_give, NULL };
	const sennit_allocator no_give = { keeping_take, NULL, NULL };

	creating_fails_and_changes_nothing(&none, -EINVAL);
	creating_fails_and_changes_nothing(&no_take, -EINVAL);
	creating_fails_and_changes_nothing(&no_give, -EINVAL);
}

TEST_ALONE(no_memory_is_an_error)
{
	struct keeping_allocator kept = { .empty = true };
	const sennit_allocator   a = keeping(&kept);

	creating_fails_and_changes_nothing(&a, -ENOMEM);
}

/* --- sharing ------------------------------------------------------------ */

static void wait_and_release(void *event)
{
	EXPECT(!sennit_event_wait(event));
	sennit_event_release(event);
}

/* The signaller releases its reference while others wait through theirs. */
TEST_WITH_WORKERS(who_waits_by_its_own_reference_may_be_the_last)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	sennit_event            *e;
	int                      i;

	assert_int_equal(
		sennit_event_create(&e, SENNIT_EVENT_MANUAL, false, &a), 0);
	for (i = 0; i < 3; i++)
		must_schedule(wait_and_release, sennit_event_retain(e));
	assert_soon(waiting_for(w->s, e) == 3);
	assert_int_equal(atomic_load(&kept.given), 0);
	sennit_event_set(e);
	sennit_event_release(e);
	assert_soon(is_given_back(&kept, 1));
}

/* What two tasks share without waiting for each other. */
struct box {
	sennit_mutex *lock;
	sennit_cond  *changed;
	bool          full;
};

static void fill(void *argument)
{
	struct box   *b = argument;
	sennit_mutex *lock = b->lock;
	sennit_cond  *changed = b->changed;

	sennit_mutex_lock(lock);
	b->full = true;
	sennit_cond_notify_one(changed);
	sennit_mutex_unlock(lock); /* *b may be gone */
	sennit_mutex_release(lock);
	sennit_cond_release(changed);
}

TEST_WITH_WORKERS(a_lock_and_its_condition_are_shared)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	struct box               b = { .full = false };

	assert_int_equal(sennit_mutex_create(&b.lock, &a), 0);
	assert_int_equal(sennit_cond_create(&b.changed, NULL), 0);
	sennit_mutex_retain(b.lock);
	sennit_cond_retain(b.changed);
	must_schedule(fill, &b);
	sennit_mutex_lock(b.lock);
	while (!b.full)
		EXPECT(!sennit_cond_wait(b.changed, b.lock));
	sennit_mutex_unlock(b.lock);
	sennit_mutex_release(b.lock);
	sennit_cond_release(b.changed);
	assert_soon(is_given_back(&kept, 1));
}
