/* SPDX-License-Identifier: Apache-2.0 */
/* bsd_threads.c - os.h on macOS and FreeBSD: threads and locks, by POSIX. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. Not tested on
 * either. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <sched.h>

/* The minimum stack of a thread in bytes, as on the other systems. */
#define LEAST_STACK ((size_t)64 * 1024)

int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack)
{
	pthread_attr_t a;
	size_t         usual;
	int            err = pthread_attr_init(&a);

	if (err)
		return -err;
	pthread_attr_getstacksize(&a, &usual);
	if (stack && stack < LEAST_STACK)
		stack = LEAST_STACK;
	if (stack && stack < usual)
		pthread_attr_setstacksize(&a, stack);
	err = pthread_create(out, &a, run, argument);
	pthread_attr_destroy(&a);
	return -err;
}

int os_thread_join(pthread_t thread)
{
	return -pthread_join(thread, NULL);
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
