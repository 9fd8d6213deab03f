/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - durations by length: four buckets for each power of two.
 *
 *	bucket   0 1 2 3   4 5 6 7   8    9      ...  159
 *	from     0 1 2 3   4 5 6 7   8   10  12  ...  up to for ever
 *
 * The owner writes, any thread reads.
 */
#ifndef SN_HISTOGRAM_H
#define SN_HISTOGRAM_H

#include "base/atomic.h"
#include "sennit/metrics.h"

struct histogram { /* all: owner writes */
	a_u64 sum;
	a_u64 buckets[SENNIT_HISTOGRAM_BUCKETS];
};

static inline uint32_t sn_histogram_bucket(uint64_t duration)
{
	uint32_t power, bucket;

	if (duration < 4)
		return (uint32_t)duration;
	power = 63 - (uint32_t)__builtin_clzll(duration);
	bucket = power * 4 - 4 + (uint32_t)(duration >> (power - 2) & 3);
	return bucket < SENNIT_HISTOGRAM_BUCKETS ? bucket
						 : SENNIT_HISTOGRAM_BUCKETS - 1;
}

/* Owner only. */
static inline void sn_histogram_record(struct histogram *h, uint64_t duration)
{
	a_u64 *bucket = &h->buckets[sn_histogram_bucket(duration)];

	a_bump_owner(bucket);
	a_store_rlx(&h->sum, a_load_rlx(&h->sum) + duration);
}

/* Add *more, which its owner may be writing, to *sum, which the caller owns. */
static inline void sn_histogram_join(struct histogram       *sum,
				     const struct histogram *more)
{
	a_store_rlx(&sum->sum, a_load_rlx(&sum->sum) + a_load_rlx(&more->sum));
	for (int i = 0; i < SENNIT_HISTOGRAM_BUCKETS; i++)
		a_store_rlx(&sum->buckets[i],
			    a_load_rlx(&sum->buckets[i]) +
				    a_load_rlx(&more->buckets[i]));
}

/* The same for what a reader gets. */
static inline void sn_histogram_add(sennit_histogram       *sum,
				    const struct histogram *more)
{
	sum->sum += a_load_rlx(&more->sum);
	for (int i = 0; i < SENNIT_HISTOGRAM_BUCKETS; i++) {
		uint64_t n = a_load_rlx(&more->buckets[i]);

		sum->buckets[i] += n;
		sum->count += n;
	}
}

#endif
