/* SPDX-License-Identifier: Apache-2.0 */
/* refused_threads.h - a pthread_create that fails when told to, in place of
 * libc's, for the one test program that includes this. */
#ifndef TEST_REFUSED_THREADS_H
#define TEST_REFUSED_THREADS_H

#include "with_workers.h"

#include <dlfcn.h>
#include <errno.h>

static atomic_bool threads_are_refused;

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		      void *);

/* clang's sanitizers put theirs into the executable, under this name; gcc's
 * come as a shared library, where the next definition is found. */
#if defined(__clang__) && (defined(SN_ASAN) || defined(SN_TSAN))
create_fn __interceptor_pthread_create;

static create_fn *next_create(void)
{
	return __interceptor_pthread_create;
}
#else
static create_fn *next_create(void)
{
	create_fn *next;

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next;
}
#endif

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	if (atomic_load(&threads_are_refused))
		return EAGAIN;
	return next_create()(thread, attributes, run, argument);
}

#endif
