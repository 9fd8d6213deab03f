/* SPDX-License-Identifier: Apache-2.0 */
/* emscripten_futex.c - os.h with emscripten: time, sleeping on a word. With
 * SENNIT_DETERMINISTIC deterministic_threads.c implements these. */
#include "os/os.h"

#ifndef SENNIT_DETERMINISTIC

#include <emscripten/em_js.h>
#include <emscripten/threading.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <time.h>

/* --- time --------------------------------------------------------------- */

/* Milliseconds; in node, where all threads have one clock, a negative number.
 * In a browser each thread has a clock of its own, which began with the thread.
 * What emscripten takes for the difference between two includes the time that a
 * message took. */
/* clang-format off */
EM_JS(double, clock_of_browser, (void), {
	return ENVIRONMENT_IS_NODE ? -1 :
		performance.timeOrigin + performance.now();
});
/* clang-format on */

/* The browser makes each of these clocks coarse by some microseconds, not at
 * the same moments. So no thread returns a time before one that another thread
 * has returned. */
static sennit_time not_before_others(sennit_time now)
{
	static a_u64 latest;
	uint64_t     seen = a_load_rlx(&latest);

	while (seen < now)
		if (a_cas_rlx(&latest, &seen, now))
			return now;
	return seen;
}

sennit_time os_now(void)
{
	const double    ms = clock_of_browser();
	struct timespec t;

	if (ms >= 0)
		return not_before_others(
			(sennit_time)(ms * (double)SENNIT_MILLISECOND));
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
