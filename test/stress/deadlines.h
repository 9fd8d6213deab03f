/* SPDX-License-Identifier: Apache-2.0 */
/* deadlines.h - random deadlines: some have passed, some pass while the waiter
 * begins to wait, some pass later, some never. */
#ifndef SN_TEST_DEADLINES_H
#define SN_TEST_DEADLINES_H

#include "../random.h"
#include "sennit.h"

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

#endif
