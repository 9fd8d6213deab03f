/* SPDX-License-Identifier: Apache-2.0 */
/* give_way.c - os.h on every system: a thread that waits lets others run. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

/* Yields that come before the first sleep, which takes 1 us, and how often that
 * doubles: up to 256 us. */
#define YIELDS          8
#define FIRST_YIELD_NAP SENNIT_MICROSECOND
#define DOUBLINGS       8

/* Sleep on a word that no other thread knows. Unlike nanosleep() this is no
 * cancellation point, and the caller may be in the middle of a protocol. */
void os_thread_give_way(uint32_t times)
{
	uint32_t naps = times < YIELDS ? 0 : times - YIELDS;
	a_u32    own;

	if (times < YIELDS) {
		os_thread_yield();
		return;
	}
	if (naps > DOUBLINGS)
		naps = DOUBLINGS;
	a_init(&own, 0);
	(void)!os_word_wait(&own, 0, os_after(FIRST_YIELD_NAP << naps));
}

#else

/* The seed chooses the next thread, whatever its priority. */
void os_thread_give_way(uint32_t times)
{
	(void)times;
	os_thread_yield();
}

#endif
