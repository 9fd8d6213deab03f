/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - the wall clock is stepped: no deadline moves, because the library
 * never reads that clock. The test replaces clock_gettime; its wall clock
 * jumps. */
#include "testing/with_workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <time.h>

static atomic_uint asked_wall, asked_monotonic;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*next)(clockid_t, struct timespec *);
	int err;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	err = next(clock, t);
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) {
		atomic_fetch_add(&asked_monotonic, 1);
	} else {
		atomic_fetch_add(&asked_wall, 1);
		t->tv_sec += atomic_load(&asked_wall) % 2 ? 1000000 : -1000000;
	}
	return err;
}

static void wait_in_vain(void *done)
{
	sennit_event      never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const sennit_time due = sennit_after(SENNIT_MILLISECOND);

	EXPECT(sennit_event_wait_until(&never, due) == -ETIMEDOUT);
	EXPECT(sennit_now() >= due);
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_wait_group_done(done);
}

TEST_WITH_WORKERS(deadlines_do_not_know_the_wall_clock)
{
	static sennit_wait_group done;
	const sennit_time        begin = sennit_now();
	const unsigned           asked = atomic_load(&asked_wall); /* cmocka
								    * reads it,
								    * too */

	sennit_wait_group_init(&done, 50);
	for (unsigned i = 0; i < 50; i++)
		must_schedule(wait_in_vain, &done);
	sennit_wait_group_wait(&done);
	wait_in_vain((sennit_wait_group_init(&done, 1), &done));
	assert_true(sennit_now() - begin < GIVE_UP);
	assert_true(atomic_load(&asked_monotonic) > 0);
	assert_int_equal(atomic_load(&asked_wall), asked);
}
