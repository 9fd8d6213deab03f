/* SPDX-License-Identifier: Apache-2.0 */
#include "misuse.h"
#include "../counting_allocator.h"

static bool begun;

/* Begin `wait` in a task of this thread, and return when it waits. A thread of
 * its own would need a look at the object that races with the wait. */
static void let_wait(sennit_task_fn *wait, void *object)
{
	begun = false;
	must_schedule_here(wait, object);
	while (!begun)
		sennit_yield();
}

static void task_waits(void *event)
{
	begun = true;
	EXPECT(!sennit_event_wait(event));
}

static void commit_release_while_waited_for(const struct offence *o)
{
	sennit_event *e;

	EXPECT(!sennit_event_create(&e, SENNIT_EVENT_AUTO, false, NULL));
	(void)o;
	let_wait(task_waits, e);
	sennit_event_release(e);
}

TEST_WITH_COUNTS(the_last_release_while_somebody_waits)
{
	assert_misuse(w, "sennit_event_release",
		      commit_release_while_waited_for);
}

static void commit_release_locked(const struct offence *o)
{
	sennit_mutex *m;

	(void)o;
	EXPECT(!sennit_mutex_create(&m, NULL));
	sennit_mutex_lock(m);
	sennit_mutex_release(m);
}

TEST_ALONE(the_last_release_of_a_locked_mutex)
{
	assert_misuse(w, "sennit_mutex_release", commit_release_locked);
}

/* --- of each kind, while it is in use ------------------------------------ */

static void commit_release_held(const struct offence *o)
{
	sennit_rwlock *l;

	(void)o;
	EXPECT(!sennit_rwlock_create(&l, NULL));
	sennit_rwlock_lock_shared(l);
	sennit_rwlock_release(l);
}

static void commit_release_with_a_ticket(const struct offence *o)
{
	sennit_ticket_queue *q;
	sennit_ticket        t;

	(void)o;
	EXPECT(!sennit_ticket_queue_create(&q, NULL));
	sennit_ticket_queue_take(q, &t);
	sennit_ticket_queue_release(q);
}

static void commit_release_with_a_loan(const struct offence *o)
{
	const sennit_pool_config c = { .item_size = 8 };
	sennit_pool             *p;
	void                    *item;

	(void)o;
	EXPECT(!sennit_pool_create(&p, &c));
	EXPECT(!sennit_pool_borrow(p, &item));
	sennit_pool_release(p);
}

static void task_receives(void *channel)
{
	char byte;

	begun = true;
	(void)!sennit_channel_receive(channel, &byte);
}

static void commit_release_received_from(const struct offence *o)
{
	sennit_channel *c;

	(void)o;
	EXPECT(!sennit_channel_create(&c, 1, 1, NULL));
	let_wait(task_receives, c);
	sennit_channel_release(c);
}

static void task_arrives(void *barrier)
{
	begun = true;
	sennit_barrier_wait(barrier);
}

static void commit_release_waited_at(const struct offence *o)
{
	sennit_barrier *b;

	(void)o;
	EXPECT(!sennit_barrier_create(&b, 2, NULL));
	let_wait(task_arrives, b);
	sennit_barrier_release(b);
}

TEST_WITH_COUNTS(the_last_release_of_what_is_in_use)
{
	assert_misuse(w, "sennit_rwlock_release", commit_release_held);
	assert_misuse(w, "sennit_ticket_queue_release",
		      commit_release_with_a_ticket);
	assert_misuse(w, "sennit_pool_release", commit_release_with_a_loan);
	assert_misuse(w, "sennit_channel_release",
		      commit_release_received_from);
	assert_misuse(w, "sennit_barrier_release", commit_release_waited_at);
}

static struct keeping_allocator kept_by_child;

static void commit_release_twice(const struct offence *o)
{
	const sennit_allocator a = keeping(&kept_by_child);
	sennit_semaphore      *s;

	(void)o;
	EXPECT(!sennit_semaphore_create(&s, 1, &a));
	sennit_semaphore_release(s);
	sennit_semaphore_release(s);
}

TEST_ALONE(releasing_what_has_been_freed)
{
	assert_misuse(w, "sennit_semaphore_release", commit_release_twice);
}

static void commit_retain_freed(const struct offence *o)
{
	const sennit_allocator a = keeping(&kept_by_child);
	sennit_cond           *c;

	(void)o;
	EXPECT(!sennit_cond_create(&c, &a));
	sennit_cond_release(c);
	sennit_cond_retain(c);
}

TEST_ALONE(retaining_what_has_been_freed)
{
	assert_misuse(w, "sennit_cond_retain", commit_retain_freed);
}

static void commit_release_of_another_type(const struct offence *o)
{
	sennit_mutex *m;

	(void)o;
	EXPECT(!sennit_mutex_create(&m, NULL));
	sennit_event_release((void *)m);
}

TEST_ALONE(releasing_what_is_of_another_type)
{
	assert_misuse(w, "sennit_event_release",
		      commit_release_of_another_type);
}

static sennit_wait_group not_created[8];

static void commit_release_not_created(const struct offence *o)
{
	(void)o;
	sennit_wait_group_release(&not_created[4]);
}

TEST_ALONE(releasing_what_was_not_created)
{
	assert_misuse(w, "sennit_wait_group_release",
		      commit_release_not_created);
}

static void commit_release_null(const struct offence *o)
{
	(void)o;
	sennit_event_release(NULL);
}

TEST_ALONE(releasing_null)
{
	assert_misuse(w, "sennit_event_release", commit_release_null);
}

static void commit_create_too_many(const struct offence *o)
{
	sennit_semaphore *s;

	(void)o;
	(void)!sennit_semaphore_create(&s, SENNIT_SEMAPHORE_MAX + 1, NULL);
}

TEST_ALONE(creating_with_too_many_permits)
{
	assert_misuse(w, "sennit_semaphore_create", commit_create_too_many);
}
