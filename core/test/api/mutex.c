/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - a mutex that is free, and one that is held. */
#include "testing/with_workers.h"

#include <errno.h>

TEST_IN_EACH_PLACE(a_free_mutex_is_taken_at_once)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	sennit_mutex zero;

	sennit_mutex_lock(&m);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, 0) == 0);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, 1) == 0);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, SENNIT_NEVER) == 0);
	sennit_mutex_unlock(&m);
	sennit_mutex_destroy(&m);
	memset(&zero, 0, sizeof(zero));
	sennit_mutex_lock(&zero);
	sennit_mutex_unlock(&zero);
	sennit_mutex_init(&zero);
	sennit_mutex_lock(&zero);
	sennit_mutex_unlock(&zero);
}

static void find_it_held(void *argument)
{
	sennit_mutex     *m = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	EXPECT(sennit_mutex_lock_until(m, 0) == -ETIMEDOUT);
	EXPECT(sennit_mutex_lock_until(m, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_mutex_lock_until(m, soon) == -ETIMEDOUT);
}

static void lock_and_unlock(void *argument)
{
	sennit_mutex_lock(argument);
	sennit_mutex_unlock(argument);
}

TEST_WITH_WORKERS(waiting_for_a_held_one_times_out)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	sennit_mutex_lock(&m);
	in_a_task(find_it_held, &m);
	in_a_thread(find_it_held, &m);
	sennit_mutex_unlock(&m);
	in_each_place(lock_and_unlock, &m);
	sennit_mutex_destroy(&m); /* fails if there is a waiter */
}
