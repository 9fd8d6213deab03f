/* SPDX-License-Identifier: Apache-2.0 */
/* retiring.h - schedulers whose idle workers retire, and counts of the workers
 * that sleep without a deadline and of the barriers of some. It replaces
 * syscall(). */
#ifndef SN_TEST_RETIRING_H
#define SN_TEST_RETIRING_H

#include "attendance.h"
#include "next_syscall.h"

static _Thread_local bool is_worker;
static atomic_uint        endless; /* workers that sleep without a deadline */
static _Thread_local bool is_watched;
static atomic_uint        barriers; /* process barriers of watched threads */

long syscall(long number, ...)
{
	struct call c;
	bool        sleeps;
	long        result;
	va_list     arguments;

	va_start(arguments, number);
	c = call_of(number, arguments);
	va_end(arguments);
	atomic_fetch_add(&barriers, is_watched && number == SYS_membarrier);
	sleeps = is_worker && is_endless(&c);
	atomic_fetch_add(&endless, sleeps);
	result = make_call(&c);
	atomic_fetch_sub(&endless, sleeps);
	return result;
}

static inline void note_worker(void *unused, uint32_t index)
{
	is_worker = true;
	note_index(unused, index);
}

#define CONFIG(...)                                                  \
	SENNIT_CONFIG(.workers = MOST, .trim_ms = SENNIT_TRIM_NEVER, \
		      .thread_init = note_worker, __VA_ARGS__)

/* After the shortest time that can be configured. */
#define RETIRING(...) CONFIG(.retire_ms = 1, __VA_ARGS__)

static inline sennit_scheduler *begin(const sennit_config *config)
{
	sennit_scheduler *s;

	for (uint32_t i = 0; i < MOST; i++)
		atomic_store(&starts[i], 0);
	atomic_store(&endless, 0);
	s = start_with(config);
	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static inline void end(sennit_scheduler *s)
{
	atomic_store(&threads_are_refused, false);
	sennit_thread_unbind();
	end_scheduler(s);
}

static inline uint64_t threads_of(sennit_scheduler *s)
{
	return stats_of(s).threads;
}

/* Wait until only this many threads are left and none of them will wake by
 * itself. */
static inline void assert_settles(sennit_scheduler *s, unsigned before,
				  unsigned left)
{
	assert_soon(threads_of(s) == left && atomic_load(&endless) == left);
	assert_soon(threads_now() == before + left);
}

struct load {
	atomic_uint ran;
	sennit_time give_up;
};

static inline void count_run(void *argument)
{
	atomic_fetch_add(&((struct load *)argument)->ran, 1);
}

#endif
