/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - os.h on Windows: time, sleeping on a word, threads. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <errno.h>
#include <windows.h>

/* The minimum stack of a thread in bytes, as on the other systems. */
#define LEAST_STACK ((size_t)64 * 1024)

/* --- time --------------------------------------------------------------- */

/* The frequency is fixed while the system runs: 10 MHz on most. */
sennit_time os_now(void)
{
	static a_u64  known; /* any; ticks per second; 0: not asked for. Two
			      * threads may ask; both get the same answer. */
	uint64_t      rate = a_load_rlx(&known);
	LARGE_INTEGER t;
	uint64_t      ticks;

	if (!rate) {
		QueryPerformanceFrequency(&t);
		rate = (uint64_t)t.QuadPart;
		a_store_rlx(&known, rate);
	}
	QueryPerformanceCounter(&t);
	ticks = (uint64_t)t.QuadPart;
	return ticks / rate * SENNIT_SECOND +
	       ticks % rate * SENNIT_SECOND / rate;
}

/* The coarse clock of Windows is up to 16 ms behind, which is too much. */
sennit_time os_now_coarse(void)
{
	return os_now();
}

/* --- sleeping on a word ------------------------------------------------- */

/* Milliseconds until the deadline, rounded up. A long wait is cut and ends as
 * if the word had changed. */
static DWORD until(sennit_time deadline)
{
	const uint64_t longest = UINT64_C(0x7fffffff);
	sennit_time    now = os_now();
	uint64_t       wait;

	if (deadline > INT64_MAX)
		return INFINITE;
	if (deadline <= now)
		return 0;
	wait = (deadline - now - 1) / SENNIT_MILLISECOND + 1;
	return (DWORD)(wait < longest ? wait : longest);
}

/* The caller may run between a failed call and the check of its error, so both
 * kinds of error are preserved. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	int   saved = errno;
	DWORD error = GetLastError();
	bool  in_time;

	in_time = WaitOnAddress(&word->value_, &expected, sizeof(expected),
				until(deadline)) ||
		  GetLastError() != ERROR_TIMEOUT || os_now() < deadline;
	SetLastError(error);
	errno = saved;
	return in_time;
}

void os_word_wake_one(a_u32 *word)
{
	WakeByAddressSingle((void *)&word->value_);
}

void os_word_wake_all(a_u32 *word)
{
	WakeByAddressAll((void *)&word->value_);
}

/* --- threads ------------------------------------------------------------ */

/* The size of a stack is what the system commits at once. It reserves at least
 * as much as the program's header says. */
int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack)
{
	pthread_attr_t a;
	int            err = pthread_attr_init(&a);

	if (err)
		return -err;
	if (stack)
		pthread_attr_setstacksize(&a, stack < LEAST_STACK ? LEAST_STACK
								  : stack);
	err = pthread_create(out, &a, run, argument);
	pthread_attr_destroy(&a);
	return -err;
}

int os_thread_join(pthread_t thread)
{
	return -pthread_join(thread, NULL);
}

/* pthread_detach() of winpthreads 10 frees what describes a thread that has
 * returned from its function. The end of that thread still looks it up, and
 * then calls the destructors of the thread that has got it meanwhile. */
void os_thread_detach(pthread_t thread)
{
	if (pthread_equal(thread, pthread_self()))
		pthread_detach(thread);
	else
		pthread_join(thread, NULL);
}

void os_thread_yield(void)
{
	SwitchToThread();
}

/* --- locks -------------------------------------------------------------- */

void os_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

#endif
