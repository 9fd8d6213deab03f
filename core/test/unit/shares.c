/* SPDX-License-Identifier: Apache-2.0 */
/* shares.c - which claim gets a slot. */
#include "sharers.h"

#include "testing/random.h"

TEST(minimums_beyond_the_budget_are_refused)
{
	begin(4);
	assert_true(join(0, 3, 4, 1));
	assert_false(join(1, 2, 4, 1));
	assert_true(join(1, 1, 4, 1));
	sn_shares_leave(&shares, &sharers[0]);
	assert_true(join(2, 3, 4, 1));
	assert_int_equal(shares.count, 2);
}

TEST(one_alone_gets_all_up_to_its_maximum)
{
	begin(4);
	assert_true(join(0, 0, 3, 1) && join(1, 4, 4, 1));
	for (unsigned i = 0; i < 3; i++)
		assert_true(take(&claims[0][i]));
	assert_false(take(&claims[0][3]));
	assert_ptr_equal(give(&claims[0][1]), &claims[0][3]);
	assert_null(give(&claims[0][3]));
	assert_int_equal(shares.held, 2);
}

TEST(minimums_come_first_and_need_no_slice)
{
	begin(2);
	assert_true(join(0, 0, 2, 1024) && join(1, 1, 2, 1) &&
		    join(2, 0, 2, 1024));
	assert_true(take(&claims[0][0]) && take(&claims[0][1]));
	now += TICK;
	assert_false(take(&claims[2][0]));
	assert_int_equal(a_load_rlx(&shares.urgent), 0); /* there is only one
							  * thread */
	assert_null(yield(&claims[0][0], false));
	assert_false(take(&claims[1][0]));
	assert_int_equal(a_load_rlx(&shares.urgent), 1); /* there is only one
							  * thread */
	assert_ptr_equal(yield(&claims[0][0], false), &claims[1][0]);
	assert_int_equal(a_load_rlx(&shares.urgent), 0); /* there is only one
							  * thread */
	/* It keeps its minimum. The other slot goes to the sharer with less
	 * virtual time. */
	now += 1000 * TICK;
	assert_null(yield(&claims[1][0], true));
	assert_ptr_equal(yield(&claims[0][1], true), &claims[2][0]);
}

TEST(time_is_shared_by_weight)
{
	unsigned ran[SHARERS * CLAIMS] = { 0 };

	begin(1);
	assert_true(join(0, 0, 1, 3) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[1][0]));
	contend(ran, 4000, TICK);
	assert_in_range(sum(ran, 0), 2998, 3002);
	assert_in_range(sum(ran, 1), 998, 1002);
}

/* A slice begins when the thread runs, not when it is notified: on a busy
 * machine the time in between may exceed a slice. If that time were charged, a
 * sharer with long turns would be charged for it less often per slice. */
TEST(the_time_until_a_thread_runs_is_free)
{
	unsigned long worked[2] = { 0 };

	begin(1);
	assert_true(join(0, 0, 1, 3) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[1][0]));
	for (unsigned i = 0; i < 4000; i++) {
		unsigned      holder = claims[1][0].state == CLAIM_HELD;
		struct claim *next;

		now += TICK;
		worked[holder]++;
		if (sn_shares_yield(&shares, &claims[holder][0], true, now,
				    &next)) {
			now += 4 * TICK;
			(void)!begun(next);
		}
	}
	assert_in_range(worked[0], 2990, 3010);
	assert_in_range(worked[1], 990, 1010);
}

TEST(slices_of_any_length_are_paid_for)
{
	unsigned short_ones = 0, long_ones = 0;

	begin(1);
	assert_true(join(0, 0, 1, 1) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[1][0]));
	for (unsigned i = 0; i < 1100; i++) {
		bool is_long = claims[1][0].state == CLAIM_HELD;

		now += is_long ? 10 * TICK : TICK;
		long_ones += is_long;
		short_ones += !is_long;
		(void)!yield(&claims[is_long][0], true);
	}
	assert_in_range(long_ones, 98, 102);
	assert_in_range(short_ones, 998, 1002);
}

TEST(claims_of_one_sharer_take_turns)
{
	unsigned ran[SHARERS * CLAIMS] = { 0 };

	begin(2);
	assert_true(join(0, 0, 2, 1));
	for (unsigned c = 0; c < CLAIMS; c++)
		assert_int_equal(take(&claims[0][c]), c < 2);
	contend(ran, 60, TICK);
	for (unsigned c = 0; c < CLAIMS; c++)
		assert_int_equal(ran[c], 20);
}

TEST(who_was_away_has_saved_nothing)
{
	unsigned ran[SHARERS * CLAIMS] = { 0 };

	begin(1);
	assert_true(join(0, 0, 1, 1) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	now += 3600 * SENNIT_SECOND;
	assert_false(take(&claims[1][0]));
	contend(ran, 200, TICK);
	assert_in_range(sum(ran, 0), 99, 101);
	assert_in_range(sum(ran, 1), 99, 101);
}

TEST(who_used_what_nobody_wanted_owes_little)
{
	unsigned ran[SHARERS * CLAIMS] = { 0 };

	begin(3);
	assert_true(join(0, 0, 3, 1) && join(1, 0, 3, 1));
	assert_true(take(&claims[0][0]) && take(&claims[0][1]));
	assert_true(take(&claims[1][0]));
	now += 3600 * SENNIT_SECOND;
	assert_false(take(&claims[1][1]));
	assert_false(take(&claims[1][2]));
	/* It gets nothing until the other has used 100 ms, on three slots. */
	contend(ran, 400, TICK);
	assert_in_range(sum(ran, 0), 520, 580);
}

TEST(who_waits_no_longer_is_passed_over)
{
	begin(1);
	assert_true(join(0, 0, 1, 1) && join(1, 0, 1, 1));
	assert_true(take(&claims[0][0]));
	assert_false(take(&claims[1][0]));
	assert_false(take(&claims[1][1]));
	assert_ptr_equal(sn_shares_drop(&shares, &sharers[1]), &claims[1][0]);
	assert_ptr_equal(sn_shares_drop(&shares, &sharers[1]), &claims[1][1]);
	assert_null(sn_shares_drop(&shares, &sharers[1]));
	assert_int_equal(waiting(), 0);
	assert_null(give(&claims[0][0]));
	assert_int_equal(shares.held, 0);
}

/* --- random steps ------------------------------------------------------- */

static void assert_invariants(void)
{
	uint32_t held = 0, waits = 0;

	for (unsigned i = 0; i < SHARERS; i++) {
		struct sharer *p = &sharers[i];
		uint32_t       holds = 0, queued = 0;

		for (unsigned c = 0; c < CLAIMS; c++) {
			holds += claims[i][c].state == CLAIM_HELD;
			queued += claims[i][c].state == CLAIM_WAITING;
		}
		assert_int_equal(holds, p->held);
		assert_int_equal(queued, p->waiting);
		assert_true(holds <= p->max);
		assert_int_equal(p->urgent, queued && holds < p->min);
		/* A slot is free only if all waiting claims are at their
		 * sharer's maximum. */
		assert_true(shares.held == slots() || !queued ||
			    holds == p->max);
		held += holds;
		waits += queued;
	}
	assert_true(held <= slots());
	assert_int_equal(held, shares.held);
	assert_int_equal(waits, waiting());
}

TEST(any_steps_keep_the_invariants)
{
	uint64_t random = random_stream(1);

	for (unsigned round = 0; round < 200; round++) {
		begin(1 + random_below(&random, 6));
		for (unsigned i = 0; i < SHARERS; i++) {
			uint32_t max = 1 + random_below(&random, CLAIMS);
			uint32_t min = random_below(&random, max + 1);

			if (!join(i, min, max, 1 + random_below(&random, 9)))
				assert_true(join(i, 0, max, 1));
		}
		for (unsigned step = 0; step < 500; step++) {
			unsigned      i = random_below(&random, SHARERS);
			struct claim *c =
				&claims[i][random_below(&random, CLAIMS)];
			bool over = random_below(&random, 2);

			now += random_below(&random, 3 * TICK);
			if (c->state == CLAIM_NONE)
				(void)!take(c);
			else if (c->state == CLAIM_WAITING)
				(void)!(random_below(&random, 9)
						? NULL
						: sn_shares_drop(&shares,
								 &sharers[i]));
			else if (random_below(&random, 2))
				(void)!give(c);
			else
				(void)!yield(c, over);
			assert_invariants();
		}
	}
}
