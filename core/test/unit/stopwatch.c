/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.c - the stopwatch runs as the clock does, and a duration is in the
 * right bucket. */
#include "testing/test.h"

#include "observe/histogram.h"
#include "sennit/metrics.h"

/* What the stopwatch shows lies between an interval of the clock inside its
 * own and one outside, but for a thousandth, whatever delays the thread. */
TEST(it_runs_as_the_clock)
{
	sennit_time outer, inner;
	uint64_t    from, to, shown;

	sn_stopwatch_prepare();
	outer = os_now();
	from = sn_stopwatch_read();
	inner = os_now();
	while (os_now() - inner < 20 * SENNIT_MILLISECOND)
		;
	inner = os_now() - inner;
	to = sn_stopwatch_read();
	outer = os_now() - outer;
	shown = sn_stopwatch_between(from, to);
	assert_true(shown >= inner - inner / 1000);
	assert_true(shown <= outer + outer / 1000);
}

TEST(time_does_not_run_backwards)
{
	uint64_t now;

	sn_stopwatch_prepare();
	now = sn_stopwatch_read();
	assert_int_equal(sn_stopwatch_between(now, now - 1000), 0);
	assert_int_equal(sn_stopwatch_between(now, now), 0);
}

TEST(a_duration_becomes_units_and_the_same_duration_again)
{
	uint64_t unit; /* of a slow counter: some ns */

	sn_stopwatch_prepare();
	unit = sn_stopwatch_between(1, 2) + 1;
	for (uint64_t ns = 1000; ns < UINT64_C(1) << 47; ns *= 3) {
		uint64_t units = sn_stopwatch_units(ns);
		uint64_t again = sn_stopwatch_between(1, 1 + units);
		uint64_t off = ns / 1000 + 1 + unit;

		assert_in_range(again, ns - off, ns + off);
	}
	assert_true(sn_stopwatch_units(SENNIT_NEVER) == UINT64_MAX);
}

/* --- buckets ------------------------------------------------------------ */

TEST(a_bucket_begins_after_the_bound_before)
{
	for (uint32_t i = 0; i < SENNIT_HISTOGRAM_BUCKETS - 1; i++) {
		sennit_time bound = sennit_histogram_bound(i);

		assert_int_equal(sn_histogram_bucket(bound), i);
		assert_int_equal(sn_histogram_bucket(bound + 1), i + 1);
	}
	assert_int_equal(sn_histogram_bucket(0), 0);
	assert_int_equal(sn_histogram_bucket(UINT64_MAX),
			 SENNIT_HISTOGRAM_BUCKETS - 1);
	assert_true(sennit_histogram_bound(SENNIT_HISTOGRAM_BUCKETS - 1) ==
		    SENNIT_NEVER);
}

TEST(a_bound_is_at_most_a_quarter_too_high)
{
	for (uint32_t i = 4; i < SENNIT_HISTOGRAM_BUCKETS - 1; i++) {
		uint64_t least = sennit_histogram_bound(i - 1) + 1;

		assert_true(sennit_histogram_bound(i) - least < least / 4);
	}
}

TEST(quantiles_are_bounds_of_buckets)
{
	static struct histogram h;
	sennit_histogram        shown = { .count = 0 };

	assert_int_equal(sennit_histogram_quantile(&shown, 0.5), 0);
	for (uint64_t i = 0; i < 99; i++)
		sn_histogram_record(&h, 100);
	sn_histogram_record(&h, 1000000);
	sn_histogram_add(&shown, &h);
	assert_int_equal(shown.count, 100);
	assert_int_equal(shown.sum, 99 * 100 + 1000000);
	assert_int_equal(sennit_histogram_quantile(&shown, 0), 111);
	assert_int_equal(sennit_histogram_quantile(&shown, 0.5), 111);
	assert_int_equal(sennit_histogram_quantile(&shown, 0.99), 111);
	assert_int_equal(sennit_histogram_quantile(&shown, 1),
			 sennit_histogram_bound(sn_histogram_bucket(1000000)));
	assert_int_equal(sennit_histogram_quantile(&shown, 7),
			 sennit_histogram_quantile(&shown, 1));
}
