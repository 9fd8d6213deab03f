/* SPDX-License-Identifier: Apache-2.0 */
/* refused_threads.h - a pthread_create that fails on demand, for the one test
 * program that includes this file. */
#ifndef TEST_REFUSED_THREADS_H
#define TEST_REFUSED_THREADS_H

#include "next_create.h"

#include <errno.h>

static atomic_bool threads_are_refused;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	if (atomic_load(&threads_are_refused))
		return EAGAIN;
	return next_create()(thread, attributes, run, argument);
}

#endif
