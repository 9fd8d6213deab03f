/* SPDX-License-Identifier: Apache-2.0 */
/* torture.h - random delays that make rare interleavings common.
 *
 * TORTURE_POINT() stands in each window that a protocol must survive: for
 * example between a store and the load that depends on it. It expands to
 * nothing, except in builds with SENNIT_TORTURE. There it sometimes yields the
 * CPU or delays the thread, for at most about 50 us. Each thread has its own
 * random numbers, derived from the environment variable SENNIT_TORTURE_SEED if
 * it is set. sn_panic prints the seed. The same seed makes the failure likely
 * again, but not certain, because the operating system still schedules the
 * threads. In the deterministic build (determinism.h) each point is a point
 * of that scheduler.
 */
#ifndef SN_TORTURE_H
#define SN_TORTURE_H

#include <stdint.h>

#ifdef SENNIT_DETERMINISTIC
#include "base/determinism.h"
#define TORTURE_POINT() sn_deterministic_point()
#ifdef SENNIT_USUAL_LIMITS /* test/cachelines counts what programs do */
#define TORTURED(tiny, usual) (usual)
#else
#define TORTURED(tiny, usual) (tiny)
#endif

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#elif defined(SENNIT_TORTURE)
#define TORTURE_POINT()       sn_torture_point()
/* Selects a tiny limit under torture, so that tests reach it. */
#define TORTURED(tiny, usual) (tiny)

void sn_torture_point(void);

/* The value for SENNIT_TORTURE_SEED that repeats this run; never 0. */
uint64_t sn_torture_seed(void);
#else
#define TORTURE_POINT()       ((void)0)
#define TORTURED(tiny, usual) (usual)

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#endif

/* --- seeded random -------------------------------------------------------- */

/* Random numbers that a seed determines (xorshift64*). */

struct seeded_random {
	uint64_t state; /* not 0 */
};

static inline void sn_seeded_random_init(struct seeded_random *r, uint64_t seed)
{
	r->state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	if (!r->state)
		r->state = 1;
}

/* A number below `limit`. */
static inline uint32_t sn_seeded_random_below(struct seeded_random *r,
					      uint32_t              limit)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return (uint32_t)(r->state * UINT64_C(0x2545f4914f6cdd1d) >> 32) %
	       limit;
}

#endif
