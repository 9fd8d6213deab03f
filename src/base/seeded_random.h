/* SPDX-License-Identifier: Apache-2.0 */
/* seeded_random.h - random numbers that a seed determines (xorshift64*). */
#ifndef SN_SEEDED_RANDOM_H
#define SN_SEEDED_RANDOM_H

#include <stdint.h>

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
