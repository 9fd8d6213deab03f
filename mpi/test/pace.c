/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c - the bounds of mpi/src/lane.h, in a time of its own: no clock, no
 * MPI, no threads. */
#include "testing/with_workers.h"

#include "../src/lane.h"

#define SPIN 200000u
#define NAP  1000000u

/* What a sleep lasts longer than it should, and what a look costs, in ns. */
#define SLACK 60000u
#define LOOK  1000u

/* --- one side that asks --------------------------------------------------- */

/* A lane with one request, as its worker treats it: mpi/src/lane.c. */
struct side {
	struct mpi_pace   pace;
	struct mpi_direct direct;
	sennit_time       now;
	sennit_time       busy; /* in polls that find nothing, and wake-ups */
	sennit_time       longest_nap;
	bool              napped; /* in the last wait */
};

static struct side begin_side(void)
{
	struct side s = { .now = SENNIT_SECOND };

	sn_mpi_pace_init(&s.pace, SPIN, NAP);
	sn_mpi_direct_init(&s.direct, SPIN);
	return s;
}

/* The fiber asks itself. Returns whether the message was there in time. */
static bool ask_directly(struct side *s, sennit_time comes)
{
	const uint32_t time = sn_mpi_direct_time(&s->direct, s->now);

	if (!time)
		return false;
	if (comes <= s->now + time) {
		s->now = comes < s->now ? s->now : comes;
		return true;
	}
	s->now += time;
	s->busy += time;
	sn_mpi_direct_vain(&s->direct);
	return false;
}

static void nap(struct side *s, sennit_time cost)
{
	const sennit_time until = sn_mpi_pace_next(&s->pace, s->now, cost,
						   PACE_WAKE);

	if (until - s->now > s->longest_nap)
		s->longest_nap = until - s->now;
	s->napped = true;
	s->now = until + SLACK;
	s->busy += PACE_WAKE;
}

/* Wait for a message that comes at that time, with looks that cost so much. */
static void wait_until(struct side *s, sennit_time comes, sennit_time cost)
{
	const sennit_time begin = s->now;

	s->napped = false;
	if (ask_directly(s, comes))
		return;
	sn_mpi_pace_added(&s->pace, s->now);
	if (!sn_mpi_pace_is_eager(&s->pace, s->now))
		s->now += PACE_NAP_LEAST;
	for (;;) {
		const sennit_time look = s->now;

		s->now += cost;
		if (comes <= look)
			break;
		s->busy += cost;
		if (!sn_mpi_pace_is_eager(&s->pace, look))
			nap(s, cost);
	}
	sn_mpi_pace_found(&s->pace, s->now);
	sn_mpi_direct_found(&s->direct, s->now - begin);
}

/* --- claims --------------------------------------------------------------- */

/* Messages that come each `pause` ns, for ten seconds: the CPU time of polls
 * that found nothing, in thousandths. */
static uint64_t thousandths(sennit_time pause, sennit_time cost)
{
	struct side       s = begin_side();
	const sennit_time begin = s.now;

	for (sennit_time comes = begin + pause;
	     s.now < begin + 10 * SENNIT_SECOND; comes = s.now + pause)
		wait_until(&s, comes, cost);
	assert_true(s.longest_nap <= NAP ||
		    s.longest_nap <= PACE_SHARE * (cost + PACE_WAKE));
	return 1000 * s.busy / (s.now - begin);
}

/* 1/PACE_SHARE, the probes of both kinds, and looks that are slower than the
 * eager time. */
TEST(messages_that_come_now_and_then_cost_a_twentieth)
{
	const sennit_time pauses[] = { 500000, 1000000, 3000000, 70000000 };
	const sennit_time costs[] = { 300, LOOK, 10000, 100000 };

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			assert_in_range(thousandths(pauses[i], costs[j]), 0,
					50);
}

/* Without debts: a fiber that waits alone. */
TEST(a_message_is_late_by_an_eighth_of_its_wait)
{
	for (sennit_time wait = 300000; wait < 3000000; wait += 10000) {
		struct side       s = begin_side();
		const sennit_time comes = s.now + wait;

		wait_until(&s, comes, LOOK);
		assert_true(s.now <= comes + wait / 8 + SLACK + 2 * LOOK);
	}
}

TEST(naps_end_in_time)
{
	struct side s = begin_side();

	wait_until(&s, s.now + 10 * SENNIT_SECOND, LOOK);
	assert_in_range(s.longest_nap, NAP / 2, NAP);
	s = begin_side();
	wait_until(&s, s.now + 10 * SENNIT_SECOND, 100000);
	assert_in_range(s.longest_nap, NAP, PACE_SHARE * (100000 + PACE_WAKE));
}

TEST(no_look_is_so_slow_that_the_next_one_does_not_come)
{
	struct side s = begin_side();

	wait_until(&s, s.now + 10 * SENNIT_SECOND, 50 * SENNIT_MILLISECOND);
	assert_int_equal(s.longest_nap, NAP * PACE_NAPS_MOST);
}

TEST(a_reply_in_time_is_polled_for)
{
	struct side s = begin_side();

	for (int i = 0; i < 100; i++) {
		wait_until(&s, s.now + SPIN / 2, LOOK);
		assert_false(s.napped);
	}
}

/* Both nap at first. Each side's message comes when the other has got its own,
 * so the waits of both take turns. Returns whether both ask all the time in the
 * end. */
static bool recovers(sennit_time flight, uint32_t probe, sennit_time offset)
{
	struct side       a = begin_side();
	struct side       b = begin_side();
	const sennit_time begin = a.now;

	a.pace.eager = b.pace.eager = 0;
	a.direct.time = b.direct.time = 0;
	a.pace.probed = begin;
	b.pace.probed = begin + offset;
	a.pace.probe = b.pace.probe = probe;
	while (a.now < begin + probe + 3 * SENNIT_MILLISECOND) {
		wait_until(&b, a.now + flight, LOOK);
		wait_until(&a, b.now + flight, LOOK);
	}
	return !a.napped && !b.napped;
}

TEST(two_sides_that_nap_find_out_that_both_answer)
{
	for (sennit_time flight = 500; flight <= 50000; flight *= 10)
		for (uint32_t i = 0; i < 50; i++) {
			assert_true(recovers(flight, PACE_PROBE_FIRST,
					     PACE_PROBE_FIRST / 50 * i));
			assert_true(recovers(flight, PACE_PROBE_LAST,
					     PACE_PROBE_LAST / 50 * i));
		}
}
