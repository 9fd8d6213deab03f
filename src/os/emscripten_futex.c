/* SPDX-License-Identifier: Apache-2.0 */
/* emscripten_futex.c - os.h with emscripten: time, sleeping on a word. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <emscripten/threading.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <time.h>

/* --- time --------------------------------------------------------------- */

/* Two threads of a browser may differ by 0.1 ms. */
sennit_time os_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

sennit_time os_now_coarse(void)
{
	return os_now();
}

/* --- sleeping on a word ------------------------------------------------- */

/* Milliseconds until the deadline. */
static double until(sennit_time deadline)
{
	sennit_time now = os_now();

	if (deadline > INT64_MAX)
		return INFINITY;
	return deadline > now
		       ? (double)(deadline - now) / (double)SENNIT_MILLISECOND
		       : 0;
}

/* The clock says whether the time has passed, because the wait counts in
 * another one. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	int  saved = errno;
	bool in_time;

	in_time = emscripten_futex_wait(&word->value_, expected,
					until(deadline)) != -ETIMEDOUT ||
		  os_now() < deadline;
	errno = saved;
	return in_time;
}

void os_word_wake_one(a_u32 *word)
{
	emscripten_futex_wake(&word->value_, 1);
}

void os_word_wake_all(a_u32 *word)
{
	emscripten_futex_wake(&word->value_, INT_MAX);
}

#endif
