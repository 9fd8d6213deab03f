/* SPDX-License-Identifier: Apache-2.0 */
/* sharers.h - sharers and their claims, with a clock that the test sets. */
#ifndef SN_TEST_SHARERS_H
#define SN_TEST_SHARERS_H

#include "cpus/shares.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "testing/test.h"

enum { SHARERS = 4, CLAIMS = 6 };

#define TICK SENNIT_MILLISECOND

static struct shares shares;
static struct sharer sharers[SHARERS];
static struct claim  claims[SHARERS][CLAIMS];
static sennit_time   now;

static inline bool join(unsigned i, uint32_t min, uint32_t max, uint32_t weight)
{
	sharers[i] =
		(struct sharer){ .min = min, .max = max, .weight = weight };
	for (unsigned c = 0; c < CLAIMS; c++)
		claims[i][c] = (struct claim){ .sharer = &sharers[i] };
	return sn_shares_join(&shares, &sharers[i]);
}

static inline void begin(uint32_t slots)
{
	now = 5 * SENNIT_SECOND;
	memset(claims, 0, sizeof(claims));
	sn_shares_init(&shares, slots);
}

static inline bool take(struct claim *c)
{
	return sn_shares_take(&shares, c, now);
}

/* Its thread runs at once. */
static inline struct claim *begun(struct claim *c)
{
	if (c)
		sn_shares_begin(&shares, c, now);
	return c;
}

static inline struct claim *give(struct claim *c)
{
	return begun(sn_shares_give(&shares, c, now));
}

static inline struct claim *yield(struct claim *c, bool over)
{
	struct claim *next;

	(void)!sn_shares_yield(&shares, c, over, now, &next);
	return begun(next);
}

static inline uint32_t slots(void)
{
	return a_load_rlx(&shares.slots); /* there is only one thread */
}

static inline uint32_t waiting(void)
{
	return shares.waiting;
}

/* Each holder keeps its slot for a slice and then asks whether to yield. ran[i]
 * counts the slices of claim i. */
static inline void contend(unsigned ran[], unsigned steps, sennit_time slice)
{
	for (unsigned step = 0; step < steps; step++) {
		struct claim *held[SHARERS * CLAIMS];
		unsigned      n = 0;

		now += slice;
		for (unsigned i = 0; i < SHARERS * CLAIMS; i++) {
			struct claim *c = &claims[i / CLAIMS][i % CLAIMS];

			if (c->state != CLAIM_HELD)
				continue;
			ran[i]++;
			held[n++] = c;
		}
		while (n-- > 0)
			(void)!yield(held[n], true);
	}
}

/* The number of slices of all claims of a sharer. */
static inline unsigned sum(const unsigned ran[], unsigned i)
{
	unsigned all = 0;

	for (unsigned c = 0; c < CLAIMS; c++)
		all += ran[i * CLAIMS + c];
	return all;
}

#endif
