/* SPDX-License-Identifier: Apache-2.0 */
/* shares_changes.c - the number of slots, or what a sharer may have of them,
 * changes while claims hold slots. */
#include "sharers.h"

TEST(a_larger_budget_is_granted_at_once)
{
	begin(1);
	assert_true(join(0, 0, 4, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[0][1]));
	assert_false(take(&claims[0][2]));
	assert_true(sn_shares_resize(&shares, 2));
	assert_ptr_equal(sn_shares_grant(&shares, now), &claims[0][1]);
	assert_null(sn_shares_grant(&shares, now));
	assert_int_equal(shares.held, 2);
}

TEST(what_is_in_excess_goes_at_the_next_safe_point)
{
	struct claim *next;

	begin(3);
	assert_true(join(0, 1, 4, 1));
	for (unsigned i = 0; i < 3; i++)
		assert_true(take(&claims[0][i]));
	assert_false(sn_shares_resize(&shares, 0));
	assert_int_equal(slots(), 3);
	assert_true(sn_shares_resize(&shares, 2));
	assert_int_equal(a_load_rlx(&shares.wanted), 1); /* one thread */
	assert_true(sn_shares_yield(&shares, &claims[0][2], false, now, &next));
	assert_null(next);
	assert_int_equal(shares.held, 2);
	assert_false(
		sn_shares_yield(&shares, &claims[0][1], false, now, &next));
	assert_true(sn_shares_change(&shares, &sharers[0], 0, 1, 1, now));
	assert_true(sn_shares_yield(&shares, &claims[0][1], false, now, &next));
	assert_null(next);
	assert_int_equal(shares.held, 1);
	assert_ptr_equal(begun(sn_shares_give(&shares, &claims[0][0], now)),
			 &claims[0][2]);
}

TEST(a_new_minimum_must_fit_and_comes_first)
{
	begin(2);
	assert_true(join(0, 1, 2, 1) && join(1, 0, 2, 1));
	assert_false(sn_shares_change(&shares, &sharers[1], 2, 2, 1, now));
	assert_true(take(&claims[0][0]) && take(&claims[0][1]));
	assert_false(take(&claims[1][0]));
	assert_null(yield(&claims[0][0], false));
	assert_true(sn_shares_change(&shares, &sharers[1], 1, 2, 1, now));
	assert_ptr_equal(yield(&claims[0][0], false), &claims[1][0]);
}

TEST(a_new_weight_counts_from_now_on)
{
	unsigned ran[SHARERS * CLAIMS] = { 0 };

	begin(1);
	assert_true(join(0, 0, 1, 1) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[1][0]));
	contend(ran, 1000, TICK);
	assert_in_range(sum(ran, 0), 498, 502);
	memset(ran, 0, sizeof(ran));
	assert_true(sn_shares_change(&shares, &sharers[0], 0, 1, 3, now));
	contend(ran, 4000, TICK);
	assert_in_range(sum(ran, 0), 2998, 3002);
}
