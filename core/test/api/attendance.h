/* SPDX-License-Identifier: Apache-2.0 */
/* attendance.h - which worker threads are there, and whether the system
 * refuses more. */
#ifndef SN_TEST_ATTENDANCE_H
#define SN_TEST_ATTENDANCE_H

#include "testing/with_workers.h"
#include "testing/proc_self.h"
#include "testing/next_create.h"

#include <fenv.h>
#include <limits.h>
#include <errno.h>

/* --- attendance -------------------------------------------------------- */

/* Which workers have threads, and which of them run tasks at the
 * same time. */

#define MOST 8

/* --- threads ------------------------------------------------------------ */

static unsigned at_rest = UINT_MAX; /* the minimum that warm_up saw */

/* Counts after ended threads have disappeared: they stay listed for a
 * moment. */
static inline unsigned threads_at_rest(void)
{
	assert_soon(threads_now() <= at_rest);
	return at_rest;
}

/* The thread's worker, now or last; set by thread_init. */
static _Thread_local uint32_t my_index = UINT32_MAX;
static atomic_uint            starts[MOST];
static atomic_int             rounding[MOST];

static inline void note_index(void *context, uint32_t index)
{
	my_index = index;
	atomic_store(&rounding[index], fegetround());
	atomic_fetch_add(&starts[index], 1);
}

/* --- all workers at once ------------------------------------------------ */

/* Tasks that each keep their worker until all are there. */
struct meeting {
	atomic_uint       expected, there;
	atomic_uint       seen; /* a bit per index */
	sennit_wait_group done;
};

static inline void meet(void *argument)
{
	struct meeting   *m = argument;
	const sennit_time give_up = sennit_after(GIVE_UP);

	atomic_fetch_or(&m->seen, 1u << my_index);
	atomic_fetch_add(&m->there, 1);
	while (atomic_load(&m->there) < atomic_load(&m->expected) &&
	       sennit_now() < give_up)
		sched_yield();
	sennit_wait_group_done(&m->done);
}

/* The indices of n workers that run tasks at the same time. */
static inline unsigned workers_at_once(uint32_t n)
{
	struct meeting m = { .expected = n };

	sennit_wait_group_init(&m.done, n);
	for (uint32_t i = 0; i < n; i++)
		must_schedule(meet, &m);
	sennit_wait_group_wait(&m.done);
	EXPECT(atomic_load(&m.there) == n);
	return atomic_load(&m.seen);
}

/* With the first thread, sanitizers start one of their own. */
static inline int warm_up(void)
{
	end_scheduler(start_scheduler(1));
	for (int i = 0; i < 50; i++) {
		at_rest = at_rest < threads_now() ? at_rest : threads_now();
		sennit_sleep(SENNIT_MILLISECOND);
	}
	return 0;
}

/* --- refused threads --------------------------------------------------- */

/* A pthread_create that fails on demand, or takes long, for the one test
 * program that includes this file. */

static atomic_bool threads_are_refused, threads_are_late;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	if (atomic_load(&threads_are_refused))
		return EAGAIN;
	if (atomic_load(&threads_are_late))
		usleep(3000);
	return next_create()(thread, attributes, run, argument);
}

#endif
