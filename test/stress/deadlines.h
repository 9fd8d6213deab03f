/* SPDX-License-Identifier: Apache-2.0 */
/* deadlines.h - deadlines at random: some have passed, some pass while whoever
 * waits is on its way, some later, some never. */
#ifndef SN_TEST_DEADLINES_H
#define SN_TEST_DEADLINES_H

#include "../random.h"
#include "sennit.h"

/* One that comes. */
static inline sennit_time soon(uint64_t *random)
{
	static const uint32_t spans[] = { 1, 1000, 20000, 200000 };
	const uint32_t        span = spans[random_below(random, 4)];

	return span == 1 ? 0 : sennit_after(random_below(random, span));
}

/* Or one that does not. */
static inline sennit_time soon_or_never(uint64_t *random)
{
	return random_below(random, 3) ? soon(random) : SENNIT_NEVER;
}

#endif
