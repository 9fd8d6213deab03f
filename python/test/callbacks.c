/* SPDX-License-Identifier: Apache-2.0 */
/* callbacks.c - a library with functions that the tests of the binding run as
 * tasks. It knows nothing of Python. Preloaded, it can refuse threads. */
#include "callbacks.h"

#include <sennit.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static atomic_int counter;
static atomic_int refuse;

int counted(void)
{
	return atomic_load(&counter);
}

void count(void *unused)
{
	(void)unused;
	sennit_yield();
	atomic_fetch_add(&counter, 1);
}

int square(void *number)
{
	int n = *(int *)number;

	return n * n;
}

int fail(void *unused)
{
	(void)unused;
	return -EIO;
}

int text(void *unused, void **value)
{
	static char line[] = "from C";

	(void)unused;
	*value = line;
	return 0;
}

int on_fiber(void *unused)
{
	(void)unused;
	return sennit_fiber_current() != NULL;
}

int unbound(void)
{
	return sennit_scheduler_current() == NULL;
}

int wait_for(void *wait_group)
{
	return sennit_wait_group_wait_until(wait_group, SENNIT_NEVER);
}

int stay(void *unused)
{
	(void)unused;
	return sennit_sleep_until(SENNIT_NEVER);
}

int send_ten(void *channel)
{
	for (int i = 0; i < 10; i++)
		if (sennit_channel_send(channel, &i))
			return -EPIPE;
	sennit_channel_close(channel);
	return 0;
}

void refuse_threads(int how)
{
	atomic_store(&refuse, how);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*run)(void *), void              *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		    void *);

	if (atomic_load(&refuse))
		return EAGAIN;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attr, run, argument);
}
