/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - merges sorted runs by fork and join. */
#include "merge.h"
#include "sennit/fork_join.h"

SENNIT_FORK(int, merge_ranges, const struct ranges *, m)
{
	struct ranges half[2];

	if (merge_is_short(m)) {
		merge_serially(m);
		return 0;
	}
	merge_divide(m, half);
	SENNIT_FORK_SPAWN(merge_ranges, first, &half[0]);
	SENNIT_FORK_CALL(merge_ranges, &half[1]);
	return SENNIT_FORK_SYNC(merge_ranges, first);
}

SENNIT_FORK(int, merge_runs, size_t, first, size_t, runs)
{
	struct ranges m;

	if (runs == 1)
		return 0;
	SENNIT_FORK_SPAWN(merge_runs, left, first, runs / 2);
	SENNIT_FORK_CALL(merge_runs, first + runs / 2, runs / 2);
	SENNIT_FORK_SYNC(merge_runs, left);
	m = merge_last(first, runs);
	return SENNIT_FORK_CALL(merge_ranges, &m);
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin;

	merge_make_data();
	begin = sennit_now();
	SENNIT_FORK_RUN(merge_runs, 0, MERGE_RUNS);
	bench_elapsed(r, begin);
	merge_check();
}

static void serially(size_t first, size_t runs)
{
	struct ranges m;

	if (runs == 1)
		return;
	serially(first, runs / 2);
	serially(first + runs / 2, runs / 2);
	m = merge_last(first, runs);
	merge_serially(&m);
}

static void serial(struct bench_run *r)
{
	sennit_time begin;

	merge_make_data();
	begin = sennit_now();
	serially(0, MERGE_RUNS);
	bench_elapsed(r, begin);
	merge_check();
}

const struct bench_row bench_merge[] = {
	{ .names = { "R3-merge/serial" }, .n = MERGE_COUNT, .run = serial },
	BENCH_ROW("R3-merge/fork", MERGE_COUNT, BENCH_EACH, fork_join),
	{ .run = NULL },
};
