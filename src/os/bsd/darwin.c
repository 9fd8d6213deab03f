/* SPDX-License-Identifier: Apache-2.0 */
/* darwin.c - os.h on macOS, where it differs from FreeBSD: the clock of
 * mach_absolute_time(3), os_sync_wait_on_address(3) of macOS 14.4 and later,
 * pthread_setname_np(3), sysctl(3). Not tested.
 */
#include "arch/cpu.h"
#include "os/bsd/faults.h"
#include "os/os.h"
#include "os/quota.h"

#include <dlfcn.h>
#include <errno.h>
#include <mach/mach_time.h>
#include <mach/thread_status.h>
#include <os/os_sync_wait_on_address.h>
#include <sys/sysctl.h>
#include <sys/ucontext.h>
#include <time.h>

/* --- time and sleeping on a word ---------------------------------------- */

#ifndef SENNIT_DETERMINISTIC
/* In units of the timebase, which is constant: 1/1 on Intel, 125/3 on Apple's
 * processors. The quotient and the rest are scaled apart, so that nothing
 * overflows. */
sennit_time os_now(void)
{
	static a_u64              known; /* any; numerator and denominator; 0:
					  * not asked for. Two threads may ask;
					  * both get the same answer. */
	uint64_t                  rate = a_load_rlx(&known);
	mach_timebase_info_data_t base;
	uint64_t                  t, numerator, denominator;

	if (!rate) {
		mach_timebase_info(&base);
		rate = (uint64_t)base.numer << 32 | base.denom;
		a_store_rlx(&known, rate);
	}
	numerator = rate >> 32;
	denominator = (uint32_t)rate;
	t = mach_absolute_time();
	return t / denominator * numerator +
	       t % denominator * numerator / denominator;
}

/* The clock that counts mach_absolute_time() in nanoseconds, as of the last
 * interrupt. */
sennit_time os_now_coarse(void)
{
	return clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX);
}

static int wait_until(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	sennit_time now = os_now();

	if (deadline > INT64_MAX)
		return os_sync_wait_on_address(&word->value_, expected,
					       sizeof(expected),
					       OS_SYNC_WAIT_ON_ADDRESS_NONE);
	return os_sync_wait_on_address_with_timeout(
		&word->value_, expected, sizeof(expected),
		OS_SYNC_WAIT_ON_ADDRESS_NONE, OS_CLOCK_MACH_ABSOLUTE_TIME,
		deadline > now ? deadline - now : 1); /* 0 is an error */
}

bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	int  saved = errno;
	bool in_time;

	in_time = wait_until(word, expected, deadline) >= 0 ||
		  errno != ETIMEDOUT || os_now() < deadline;
	errno = saved;
	return in_time;
}

/* The calls fail if nobody sleeps. */
void os_word_wake_one(a_u32 *word)
{
	int saved = errno;

	os_sync_wake_by_address_any(&word->value_, sizeof(uint32_t),
				    OS_SYNC_WAKE_BY_ADDRESS_NONE);
	errno = saved;
}

void os_word_wake_all(a_u32 *word)
{
	int saved = errno;

	os_sync_wake_by_address_all(&word->value_, sizeof(uint32_t),
				    OS_SYNC_WAKE_BY_ADDRESS_NONE);
	errno = saved;
}
#endif

/* --- threads ------------------------------------------------------------ */

void os_thread_name(const char *name, uint32_t index)
{
	char text[64];

	os_thread_text(text, sizeof(text), name, index);
	pthread_setname_np(text);
}

static _Thread_local uint32_t thread_id; /* 0: not asked for in this process */

uint32_t os_thread_id(void)
{
	uint64_t id;

	if (!thread_id && !pthread_threadid_np(NULL, &id))
		thread_id = (uint32_t)id;
	return thread_id;
}

void os_thread_forked(void)
{
	thread_id = 0;
}

/* The system reports the upper end. */
bool os_thread_has_stack(uintptr_t address)
{
	pthread_t self = pthread_self();
	uintptr_t top = (uintptr_t)pthread_get_stackaddr_np(self);

	return top - address - 1 < pthread_get_stacksize_np(self);
}

void *os_thread_far_end(size_t size)
{
	pthread_t self = pthread_self();
	size_t    whole = pthread_get_stacksize_np(self);

	return whole >= size + OS_STACK_LEFT
		       ? (char *)pthread_get_stackaddr_np(self) - whole
		       : NULL;
}

uintptr_t os_context_sp(const void *context)
{
	return ARCH_DARWIN_SP((const ucontext_t *)context);
}

/* --- CPUs --------------------------------------------------------------- */

/* macOS has no affinity masks. */
size_t os_cpu_list(uint32_t *cpus, size_t max)
{
	int    number = 0;
	size_t size = sizeof(number);
	size_t count;

	if (sysctlbyname("hw.logicalcpu", &number, &size, NULL, 0))
		number = 0;
	count = number > 0 ? (size_t)number : 1;
	for (size_t i = 0; i < count && i < max; i++)
		cpus[i] = (uint32_t)i;
	return count;
}

/* A thread can only be allowed to run on all CPUs, which it is.
 * THREAD_AFFINITY_POLICY is a hint about caches, not a mask, and Apple's
 * processors do not support it. */
int os_thread_affinity(const uint32_t *cpus, size_t count)
{
	(void)cpus;
	return count < os_cpu_list(NULL, 0) ? -ENOTSUP : 0;
}

uint32_t os_thread_limit(void)
{
	return UINT32_MAX;
}

/* --- darwin cxx exceptions ------------------------------------------------ */

/* A weak name that no library defines does not link. */

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */
	struct cxx_globals *(*get)(void);

	*(void **)&get = dlsym(RTLD_DEFAULT, "__cxa_get_globals");
	return get ? get() : &none;
}
