/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - histograms of durations, with four buckets for each power of
 * two.
 *
 *	bucket   0 1 2 3   4 5 6 7   8    9      ...  159
 *	from     0 1 2 3   4 5 6 7   8   10  12  ...  up to for ever
 *
 * The owner writes, any thread reads.
 */
#ifndef SN_HISTOGRAM_H
#define SN_HISTOGRAM_H

#include "arch/cpu.h"
#include "base/atomic.h"
#include "os/os.h"
#include "sennit/metrics.h"
#include "sennit/report.h"

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

/* Add *more, to which its owner may be writing, to *sum, which the caller
 * owns. */
static inline void sn_histogram_join(struct histogram       *sum,
				     const struct histogram *more)
{
	a_store_rlx(&sum->sum, a_load_rlx(&sum->sum) + a_load_rlx(&more->sum));
	for (int i = 0; i < SENNIT_HISTOGRAM_BUCKETS; i++)
		a_store_rlx(&sum->buckets[i],
			    a_load_rlx(&sum->buckets[i]) +
				    a_load_rlx(&more->buckets[i]));
}

/* Add *more to *sum, in the form that readers get. */
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

/* Kinds of waits. */
#define OBSERVE_WAITS (SENNIT_WAITS_FOR_MEMBERS + 1)

/* The histograms of one worker. */
struct measures {
	struct histogram run;     /* how long tasks ran */
	struct histogram latency; /* how long fibers were ready */
	struct histogram waits[OBSERVE_WAITS];
};

/* --- stopwatch ------------------------------------------------------------ */

/* Measures short times cheaply: with a counter of the processor, else with the
 * clock.
 *
 * The rate of the counter is measured once in the process, against the clock.
 * The error is below a thousandth, which does not change a histogram.
 */

struct stopwatch {
	bool     ticks; /* whether the counter is used */
	uint64_t rate;  /* nanoseconds for 2^32 units */
};

/* Fixed after sn_stopwatch_prepare. */
extern struct stopwatch sn_stopwatch;

/* Report whether arch_ticks measures time in this process. */
bool sn_stopwatch_has_ticks(void);

/* Measure the rate, unless that has been done. Takes up to a millisecond. The
 * functions below may be called only after this call has returned. */
void sn_stopwatch_prepare(void);

/* Return the time in the stopwatch's units. Never 0. */
static inline uint64_t sn_stopwatch_read(void)
{
	return (likely(sn_stopwatch.ticks) ? arch_ticks() : os_now()) | 1;
}

/* Return the nanoseconds from one reading to a later one. Returns 0 if the
 * second one was taken on another processor whose counter is behind. */
static inline uint64_t sn_stopwatch_between(uint64_t from, uint64_t to)
{
	if (unlikely((int64_t)(to - from) < 0))
		return 0;
	return product_32(to - from, sn_stopwatch.rate);
}

/* Convert nanoseconds to units, with an error below a thousandth. Uses
 * integers, because the running task may have unmasked floating-point
 * exceptions. Returns UINT64_MAX for more than three days. */
static inline uint64_t sn_stopwatch_units(uint64_t ns)
{
	if (ns >> 48)
		return UINT64_MAX;
	return (ns << 16) / (sn_stopwatch.rate >> 16);
}

#endif
