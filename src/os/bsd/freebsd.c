/* SPDX-License-Identifier: Apache-2.0 */
/* freebsd.c - os.h on FreeBSD, where it differs from macOS: _umtx_op(2),
 * pthread_set_name_np(3), cpuset_setaffinity(2), sysctl(3). Not tested.
 */
#include "os/bsd/faults.h"
#include "os/os.h"
#include "os/quota.h"
#include "arch/cpu.h"

#include <errno.h>
#include <limits.h>
#include <pthread_np.h>
#include <sys/cpuset.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#include <sys/types.h>
#include <sys/ucontext.h>
#include <sys/umtx.h>
#include <time.h>

/* --- time and sleeping on a word ---------------------------------------- */

#ifndef SENNIT_DETERMINISTIC
static sennit_time time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

sennit_time os_now(void)
{
	return time_of(CLOCK_MONOTONIC);
}

sennit_time os_now_coarse(void)
{
	return time_of(CLOCK_MONOTONIC_FAST);
}

/* A wait that a signal interrupts and the caller repeats ends at the same
 * deadline. */
static int wait_until(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	struct _umtx_time t = {
		._timeout = {
			.tv_sec = (time_t)(deadline / SENNIT_SECOND),
			.tv_nsec = (long)(deadline % SENNIT_SECOND),
		},
		._flags = UMTX_ABSTIME,
		._clockid = CLOCK_MONOTONIC,
	};

	if (deadline > INT64_MAX)
		return _umtx_op(&word->value_, UMTX_OP_WAIT_UINT_PRIVATE,
				expected, NULL, NULL);
	return _umtx_op(&word->value_, UMTX_OP_WAIT_UINT_PRIVATE, expected,
			(void *)sizeof(t), &t);
}

bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	int  saved = errno;
	bool in_time;

	in_time = !wait_until(word, expected, deadline) || errno != ETIMEDOUT;
	errno = saved;
	return in_time;
}

static void wake(a_u32 *word, unsigned long count)
{
	int saved = errno;

	_umtx_op(&word->value_, UMTX_OP_WAKE_PRIVATE, count, NULL, NULL);
	errno = saved;
}

void os_word_wake_one(a_u32 *word)
{
	wake(word, 1);
}

void os_word_wake_all(a_u32 *word)
{
	wake(word, INT_MAX);
}
#endif

/* --- threads ------------------------------------------------------------ */

void os_thread_name(const char *name, uint32_t index)
{
	char text[20]; /* MAXCOMLEN and a zero */

	os_thread_text(text, sizeof(text), name, index);
	pthread_set_name_np(pthread_self(), text);
}

uint32_t os_thread_id(void)
{
	return (uint32_t)pthread_getthreadid_np();
}

/* The C library knows the id, also in a child. */
void os_thread_forked(void)
{
}

struct extent {
	char  *low;
	size_t size;
};

static struct extent own_stack(void)
{
	static _Thread_local struct extent own;
	void                              *low;
	pthread_attr_t                     a;

	if (own.size || pthread_attr_init(&a))
		return own;
	if (!pthread_attr_get_np(pthread_self(), &a) &&
	    !pthread_attr_getstack(&a, &low, &own.size))
		own.low = low;
	pthread_attr_destroy(&a);
	return own;
}

bool os_thread_has_stack(uintptr_t address)
{
	struct extent own = own_stack();

	return address - (uintptr_t)own.low < own.size;
}

void *os_thread_far_end(size_t size)
{
	struct extent own = own_stack();

	return own.size >= size + OS_STACK_LEFT ? own.low : NULL;
}

uintptr_t os_context_sp(const void *context)
{
	return ARCH_FREEBSD_SP((const ucontext_t *)context);
}

/* --- CPUs --------------------------------------------------------------- */

/* If the system reports no mask, assume CPU 0: the process runs on at least one
 * CPU. */
size_t os_cpu_list(uint32_t *cpus, size_t max)
{
	cpuset_t mask;
	size_t   count = 0;

	CPU_ZERO(&mask);
	if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof(mask),
			       &mask))
		CPU_SET(0, &mask);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mask))
			continue;
		if (count < max)
			cpus[count] = cpu;
		count++;
	}
	return count;
}

int os_thread_affinity(const uint32_t *cpus, size_t count)
{
	cpuset_t mask;

	CPU_ZERO(&mask);
	for (size_t i = 0; i < count; i++) {
		if (cpus[i] >= CPU_SETSIZE)
			return -EINVAL;
		CPU_SET(cpus[i], &mask);
	}
	return cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1,
				  sizeof(mask), &mask)
		       ? -errno
		       : 0;
}

uint32_t os_thread_limit(void)
{
	int    most = 0;
	size_t size = sizeof(most);

	if (sysctlbyname("kern.threads.max_threads_per_proc", &most, &size,
			 NULL, 0) ||
	    most <= 0)
		return UINT32_MAX;
	return (uint32_t)most;
}
