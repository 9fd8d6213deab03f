/* SPDX-License-Identifier: Apache-2.0 */
/* next_create.h - finds the pthread_create that a test's own one replaces. */
#ifndef TEST_NEXT_CREATE_H
#define TEST_NEXT_CREATE_H

#include "with_workers.h"

#include <dlfcn.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		      void *);

/* clang's sanitizers put theirs into the executable under this name. gcc's are
 * in a shared library, as the next definition. */
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

#endif
