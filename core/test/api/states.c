/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - what calls say of the library, the worker, groups and channels;
 * and the forms of calls that name a scheduler, a worker or no wait. */
#include "testing/with_workers.h"

#include <errno.h>

TEST_ALONE(the_library_says_its_version)
{
	assert_int_equal(sennit_version(), SENNIT_VERSION);
	assert_int_equal(SENNIT_VERSION / 1000000, SENNIT_VERSION_MAJOR);
	assert_int_equal(SENNIT_VERSION / 1000 % 1000, SENNIT_VERSION_MINOR);
	assert_int_equal(SENNIT_VERSION % 1000, SENNIT_VERSION_PATCH);
	assert_int_equal(strncmp(sennit_build(), "sennit ", 7), 0);
}

/* --- on a scheduler ---------------------------------------------------------
 * */

struct pair {
	unsigned          number;
	atomic_uint      *sum;
	sennit_wait_group *done;
};

static void add_pair(void *copy)
{
	const struct pair *p = copy;

	atomic_fetch_add(p->sum, p->number);
	(void)sennit_wait_group_done(p->done);
}

TEST_WITH_WORKERS(functions_and_copies_go_to_a_scheduler)
{
	atomic_uint       sum = 0;
	sennit_wait_group done;
	struct pair       p = { 3, &sum, &done };
	struct pair       copied = { 4, &sum, &done };

	sennit_wait_group_init(&done, 2);
	assert_int_equal(sennit_schedule_on(w->s, add_pair, &p), 0);
	assert_int_equal(sennit_schedule_copy_on(w->s, add_pair, &copied,
						 sizeof(copied)),
			 0);
	copied.number = 100;
	assert_int_equal(sennit_schedule_on(w->s, NULL, NULL), -EINVAL);
	assert_int_equal(sennit_schedule_copy_on(w->s, NULL, &p, sizeof(p)),
			 -EINVAL);
	sennit_wait_group_wait(&done);
	assert_int_equal(atomic_load(&sum), 7);
}

static int answer(void *argument, void **value)
{
	*value = argument;
	return argument ? 0 : -EIO;
}

TEST_WITH_WORKERS(a_future_is_set_by_a_task_of_a_scheduler)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = NULL;

	assert_int_equal(sennit_future_spawn_on(&f, w->s, NULL, &f), -EINVAL);
	assert_int_equal(sennit_future_spawn_on(&f, w->s, answer, &f), 0);
	assert_int_equal(sennit_future_get(&f, &value), 0);
	assert_ptr_equal(value, &f);
	sennit_future_init(&f);
	assert_int_equal(sennit_future_spawn_on(&f, w->s, answer, NULL), 0);
	assert_int_equal(sennit_future_get(&f, &value), -EIO);
}

/* --- workers and groups -----------------------------------------------------
 * */

struct seen {
	sennit_time deadline;
	uint32_t    worker;
	int         cancelled;
};

static int look(void *seen)
{
	struct seen *s = seen;

	s->deadline = sennit_deadline();
	s->worker = sennit_worker_current();
	s->cancelled = sennit_group_is_cancelled(sennit_group_current());
	return 0;
}

TEST_WITH_WORKERS(a_member_knows_its_deadline_and_its_worker)
{
	const sennit_time soon = sennit_after(3600 * SENNIT_SECOND);
	struct seen       seen = { 0, 77, -1 };
	sennit_group      g;

	assert_true(sennit_deadline() == SENNIT_NEVER);
	assert_true(sennit_worker_current() == SENNIT_WORKER_NONE);
	sennit_group_init(&g, soon, 0);
	assert_false(sennit_group_is_cancelled(&g));
	assert_int_equal(sennit_group_spawn(&g, look, &seen), 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_true(seen.deadline == soon);
	assert_true(w->workers == SENNIT_WORKERS_NONE
			    ? seen.worker == SENNIT_WORKER_NONE
			    : seen.worker < w->workers);
	assert_int_equal(seen.cancelled, 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	sennit_group_cancel(&g);
	assert_true(sennit_group_is_cancelled(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(members_with_flags_that_exclude_each_other_are_refused)
{
	struct seen  seen = { 0, 77, -1 };
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = look, .argument = &seen,
					  .flags = SENNIT_MEMBER_SAME_THREAD |
						   SENNIT_MEMBER_ON_WORKER)),
		-EINVAL);
	assert_int_equal(sennit_group_spawn_task(
				 &g, SENNIT_MEMBER(.run = look, .flags = 4)),
			 -EINVAL);
	assert_int_equal(sennit_group_spawn_task(
				 &g, SENNIT_MEMBER(.run = look, .worker = 1)),
			 -EINVAL);
	assert_int_equal(sennit_group_spawn_task(&g,
						 SENNIT_MEMBER(.run = NULL)),
			 -EINVAL);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = look, .argument = &seen)),
		0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(seen.cancelled, 0);
}

/* --- channels ----------------------------------------------------------------
 * */

TEST_ALONE(a_channel_says_its_capacity_and_whether_it_is_closed)
{
	uint64_t       room[3], value = 5;
	sennit_channel c = SENNIT_CHANNEL_INIT(sizeof(value));

	assert_int_equal(sennit_channel_capacity(&c), 0);
	assert_false(sennit_channel_is_closed(&c));
	sennit_channel_close(&c);
	assert_true(sennit_channel_is_closed(&c));
	assert_int_equal(sennit_channel_init_in(&c, room, 3, sizeof(value)), 0);
	assert_int_equal(sennit_channel_capacity(&c), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sennit_channel_send_until(&c, &value, 0), 0);
	assert_int_equal(sennit_channel_send_until(&c, &value, 0), -ETIMEDOUT);
	assert_int_equal(room[2], 5);
	sennit_channel_destroy(&c);
	assert_int_equal(sennit_channel_init_in(&c, room, 0, 8), -EINVAL);
	assert_int_equal(
		sennit_channel_init_in(&c, room, SENNIT_CHANNEL_UNBOUNDED, 8),
		-EINVAL);
	assert_int_equal(
		sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED, 8, NULL), 0);
	assert_true(sennit_channel_capacity(&c) == SENNIT_CHANNEL_UNBOUNDED);
	sennit_channel_destroy(&c);
	if (SIZE_MAX > UINT32_MAX)
		assert_int_equal(
			sennit_channel_init(&c, 1, SIZE_MAX / 2, NULL),
			-EINVAL);
}

/* --- without a wait ----------------------------------------------------------
 * */

TEST_ALONE(locks_and_permits_are_tried)
{
	sennit_mutex     m = SENNIT_MUTEX_INIT;
	sennit_rwlock    l = SENNIT_RWLOCK_INIT;
	sennit_semaphore s = SENNIT_SEMAPHORE_INIT;

	assert_true(sennit_mutex_try_lock(&m));
	sennit_mutex_unlock(&m);
	assert_true(sennit_rwlock_try_lock_shared(&l));
	assert_true(sennit_rwlock_try_lock_shared(&l));
	assert_false(sennit_rwlock_try_lock(&l));
	sennit_rwlock_unlock_shared(&l);
	sennit_rwlock_unlock_shared(&l);
	assert_true(sennit_rwlock_try_lock(&l));
	sennit_rwlock_unlock(&l);
	assert_false(sennit_semaphore_try_acquire(&s, 1));
	sennit_semaphore_release(&s, 2);
	assert_false(sennit_semaphore_try_acquire(&s, 3));
	assert_true(sennit_semaphore_try_acquire(&s, 2));
}

static sennit_once once;
static unsigned    made;

static void make(void *unused)
{
	(void)unused;
	made++;
	assert_int_equal(sennit_once_is_done(&once), false);
}

TEST_ALONE(a_once_is_called_until_a_deadline)
{
	made = 0;
	sennit_once_init(&once);
	assert_int_equal(sennit_once_call_until(&once, make, NULL, 0), 0);
	assert_int_equal(sennit_once_call_until(&once, make, NULL, 0), 0);
	assert_int_equal(made, 1);
}

struct slow {
	sennit_once  once;
	sennit_event begun, go;
};

static void make_slowly(void *slow)
{
	struct slow *s = slow;

	sennit_event_set(&s->begun);
	EXPECT(!sennit_event_wait(&s->go));
}

static void call_slow(void *slow)
{
	sennit_once_call(&((struct slow *)slow)->once, make_slowly, slow);
}

TEST_WITH_WORKERS(a_wait_for_a_once_ends_at_the_deadline)
{
	struct slow s;

	memset(&s, 0, sizeof(s));
	must_schedule(call_slow, &s);
	assert_int_equal(sennit_event_wait(&s.begun), 0);
	assert_int_equal(sennit_once_call_until(
				 &s.once, make_slowly, &s,
				 sennit_after(SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	assert_int_equal(sennit_once_call_until(&s.once, make_slowly, &s, 0),
			 -ETIMEDOUT);
	sennit_event_set(&s.go);
	assert_int_equal(sennit_once_call_until(&s.once, make_slowly, &s,
						SENNIT_NEVER),
			 0);
}
