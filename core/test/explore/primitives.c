/* SPDX-License-Identifier: Apache-2.0 */
/* primitives.c - who has waited may free, and a scheduler whose last reference
 * is released ends, in many orders. The generated programs (../programs) check
 * the other promises of each primitive. */
#include "explore.h"

/* --- freed by a waiter ---------------------------------------------------- */

struct meeting {
	sennit_semaphore come;
	sennit_rwlock    lock;
	sennit_barrier   part;
};

static void serve(void *argument)
{
	struct meeting *m = argument;

	sennit_rwlock_lock_shared(&m->lock);
	sennit_semaphore_release(&m->come, 1);
	sennit_rwlock_unlock_shared(&m->lock);
	(void)sennit_barrier_wait(&m->part);
}

static void wait_and_free(void *done)
{
	struct meeting *m = calloc(1, sizeof(*m));

	REQUIRE(m);
	sennit_barrier_init(&m->part, 3);
	spawn(serve, m);
	spawn(serve, m);
	REQUIRE(!sennit_semaphore_acquire(&m->come, 2));
	sennit_rwlock_lock(&m->lock);
	sennit_rwlock_unlock(&m->lock);
	(void)sennit_barrier_wait(&m->part);
	memset(m, 0xa5, sizeof(*m));
	free(m);
	sennit_wait_group_done(done);
}

TEST_EXPLORED(who_has_waited_may_free)
{
	static sennit_wait_group done;
	sennit_scheduler        *s = begin_with(SENNIT_CONFIG(.workers = 3));

	sennit_wait_group_init(&done, 2);
	spawn(wait_and_free, &done);
	spawn(wait_and_free, &done);
	sennit_wait_group_wait(&done);
	end(s);
}

/* --- the last reference, released from anywhere --------------------------- */

static struct {
	sennit_event go;
	unsigned     ran;
} last;

static void wait_then_count(void *unused)
{
	REQUIRE(!sennit_event_wait(&last.go));
	__atomic_add_fetch(&last.ran, 1, __ATOMIC_RELAXED);
}

static void let_go(void *scheduler)
{
	sennit_event_set(&last.go);
	__atomic_add_fetch(&last.ran, 1, __ATOMIC_RELAXED);
	sennit_scheduler_release(scheduler);
}

static void note_end(void *ended)
{
	sennit_event_set(ended);
}

TEST_EXPLORED(a_scheduler_ends_when_all_has_run)
{
	static sennit_event ended;
	sennit_scheduler   *s = NULL;

	memset(&last, 0, sizeof(last));
	sennit_event_init(&ended, SENNIT_EVENT_MANUAL);
	s = begin_with(SENNIT_CONFIG(.workers = 2, .on_shutdown = note_end,
				     .on_shutdown_context = &ended));
	for (unsigned i = 0; i < 3; i++)
		spawn(wait_then_count, NULL);
	sennit_scheduler_retain(s);
	spawn(let_go, s);
	sennit_scheduler_release(s);
	sennit_thread_unbind();
	REQUIRE(!sennit_event_wait(&ended));
	REQUIRE(last.ran == 4);
}
