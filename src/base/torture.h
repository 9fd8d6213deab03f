/* SPDX-License-Identifier: Apache-2.0 */
/* torture.h - makes rare interleavings common.
 *
 * TORTURE_POINT() stands in each window that a protocol must survive: between
 * a store and the look that depends on it, between a claim and what it is for.
 * It is nothing, but in builds with SENNIT_TORTURE, where it gives the CPU away
 * now and then or keeps the thread there, for some 50 us. Each thread has
 * random numbers of its own, from SENNIT_TORTURE_SEED if the environment has
 * that; the seed is part of what sn_panic prints. It makes a failure likely
 * again, not certain: the system's scheduling stays what it is. Where threads
 * take turns (deterministic.h) each point is one of theirs.
 */
#ifndef SN_TORTURE_H
#define SN_TORTURE_H

#include <stdint.h>

#ifdef SENNIT_DETERMINISTIC
#include "base/deterministic.h"
#define TORTURE_POINT()       sn_deterministic_point()
#define TORTURED(tiny, usual) (tiny)

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#elif defined(SENNIT_TORTURE)
#define TORTURE_POINT()       sn_torture_point()
/* Where a limit is tiny under torture. */
#define TORTURED(tiny, usual) (tiny)

void sn_torture_point(void);

/* What SENNIT_TORTURE_SEED would have to be; never 0. */
uint64_t sn_torture_seed(void);
#else
#define TORTURE_POINT()       ((void)0)
#define TORTURED(tiny, usual) (usual)

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#endif

#endif
