/* SPDX-License-Identifier: Apache-2.0 */
/* deadlines.h - deadlines about now, and turns of others. */
#ifndef SN_TEST_DEADLINES_H
#define SN_TEST_DEADLINES_H

#include "testing/random.h"
#include "sennit.h"
#include "testing/with_workers.h"

/* --- deadlines --------------------------------------------------------- */

/* Random deadlines: some have passed, some pass while the waiter
 * begins to wait, some pass later, some never. */

/* A deadline that passes. */
static inline sennit_time soon(uint64_t *random)
{
	static const uint32_t spans[] = { 1, 1000, 20000, 200000 };
	const uint32_t        span = spans[random_below(random, 4)];

	return span == 1 ? 0 : sennit_after(random_below(random, span));
}

/* The same, or one that never passes. */
static inline sennit_time soon_or_never(uint64_t *random)
{
	return random_below(random, 3) ? soon(random) : SENNIT_NEVER;
}

/* --- let others run ---------------------------------------------------- */

/* Gives way to other threads where there may be fewer CPUs
 * than threads. */

/* There may be fewer CPUs than threads. */
static inline void let_others_run(void)
{
	sennit_yield();
	sched_yield();
}

#endif
