/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic_threads.c - os.h in the deterministic build: time, sleeping on
 * a word, threads. */
#include "base/torture.h"
#include "os/os.h"

#ifdef SENNIT_DETERMINISTIC

sennit_time os_now(void)
{
	return sn_deterministic_now();
}

sennit_time os_now_coarse(void)
{
	return sn_deterministic_now();
}

bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	return sn_deterministic_wait((const uint32_t *)&word->value_, expected,
				     deadline);
}

void os_word_wake_one(a_u32 *word)
{
	sn_deterministic_wake((const uint32_t *)&word->value_, false);
}

void os_word_wake_all(a_u32 *word)
{
	sn_deterministic_wake((const uint32_t *)&word->value_, true);
}

int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack)
{
	(void)stack; /* the thread gets the system's default stack */
	return -sn_deterministic_start(out, run, argument);
}

int os_thread_join(pthread_t thread)
{
	return -sn_deterministic_join(thread);
}

void os_thread_detach(pthread_t thread)
{
	pthread_detach(thread);
}

void os_thread_yield(void)
{
	sn_deterministic_point();
}

void os_lock(pthread_mutex_t *lock)
{
	sn_deterministic_lock(lock);
}

#endif
