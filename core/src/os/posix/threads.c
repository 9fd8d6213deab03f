/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - os.h on all systems but Windows: threads and locks. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. */
#include "base/race.h"
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <errno.h>
#include <sched.h>

/* The minimum stack of a thread in bytes: room for the program's functions that
 * run on a worker's own stack. */
#define LEAST_STACK ((size_t)64 * 1024)

/* A thread's stack also holds its thread-local variables. The system refuses
 * (EINVAL) a stack without room for them, and does not report the size it
 * needs. So the loop doubles the size until it succeeds. */
int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack)
{
	pthread_attr_t a;
	size_t         usual;
	void          *outer;
	int            err = pthread_attr_init(&a);

	if (err)
		return -err;
	pthread_attr_getstacksize(&a, &usual);
	if (stack && stack < LEAST_STACK)
		stack = LEAST_STACK;
	do {
		if (!stack || stack > usual)
			stack = usual;
		pthread_attr_setstacksize(&a, stack);
		outer = sn_race_clean();
		err = pthread_create(out, &a, run, argument);
		sn_race_cleaned(outer);
		stack *= 2;
	} while (err == EINVAL && stack / 2 < usual);
	pthread_attr_destroy(&a);
	return -err;
}

int os_thread_join(pthread_t thread)
{
	return -pthread_join(thread, NULL);
}

void os_thread_detach(pthread_t thread)
{
	pthread_detach(thread);
}

void os_thread_yield(void)
{
	sched_yield();
}

void os_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

#endif
