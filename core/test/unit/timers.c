/* SPDX-License-Identifier: Apache-2.0 */
/* timers.c - the timing wheel with clocks that stand still, tick and jump. */
#include "queue/timers.h"

#include "testing/random.h"

#include "testing/test.h"

enum { MANY = 512 };

#define TICK (UINT64_C(1) << TIMERS_TICK_BITS)
#define YEAR (UINT64_C(365) * 24 * 3600 * SENNIT_SECOND)

/* A time long after boot, in the middle of a tick. */
#define NOW (12345 * SENNIT_SECOND + 77)

static struct timers wheel;

static int start_at_now(void **state)
{
	sn_timers_init(&wheel, NOW);
	return 0;
}

static void assert_fires(sennit_time now, const struct timer *only)
{
	struct timer *fired;

	assert_int_equal(sn_timers_expire(&wheel, now, &fired), only ? 1 : 0);
	assert_ptr_equal(fired, only);
	if (only)
		assert_null(fired->next);
}

TEST_BETWEEN(an_empty_wheel_waits_for_ever, start_at_now, NULL)
{
	assert_true(sn_timers_is_empty(&wheel));
	assert_true(sn_timers_next(&wheel) == SENNIT_NEVER);
	assert_fires(NOW + 100 * YEAR, NULL);
}

TEST_BETWEEN(a_timer_never_fires_early_and_at_most_a_tick_late, start_at_now,
	     NULL)
{
	struct timer t = { 0 };

	for (uint64_t wait = 1; wait < 400 * YEAR; wait *= 3) {
		sn_timers_init(&wheel, NOW);
		sn_timers_arm(&wheel, &t, NOW + wait);
		assert_fires(NOW + wait - 1, NULL);
		assert_true(sn_timer_is_armed(&t));
		assert_fires(NOW + wait + TICK - 1, &t);
		assert_false(sn_timer_is_armed(&t));
		assert_true(sn_timers_is_empty(&wheel));
	}
}

TEST_BETWEEN(a_deadline_in_the_past_fires_at_the_next_look, start_at_now, NULL)
{
	struct timer t = { 0 };

	sn_timers_arm(&wheel, &t, NOW - SENNIT_SECOND);
	assert_true(sn_timers_next(&wheel) <= NOW);
	assert_fires(NOW, &t);
	sn_timers_arm(&wheel, &t, 0);
	assert_fires(NOW, &t);
}

TEST_BETWEEN(never_never_fires, start_at_now, NULL)
{
	struct timer t = { 0 };

	sn_timers_arm(&wheel, &t, SENNIT_NEVER);
	assert_true(sn_timers_next(&wheel) == SENNIT_NEVER);
	assert_fires(SENNIT_NEVER, NULL);
	sn_timers_cancel(&wheel, &t);
	assert_true(sn_timers_is_empty(&wheel));
}

TEST_BETWEEN(a_cancelled_timer_does_not_fire, start_at_now, NULL)
{
	struct timer t[3] = { 0 };

	for (int gone = 0; gone < 3; gone++) {
		struct timer *fired;

		sn_timers_init(&wheel, NOW);
		for (int i = 0; i < 3; i++)
			sn_timers_arm(&wheel, &t[i], NOW + SENNIT_SECOND);
		sn_timers_cancel(&wheel, &t[gone]);
		assert_false(sn_timer_is_armed(&t[gone]));
		assert_int_equal(wheel.count, 2);
		assert_int_equal(sn_timers_expire(&wheel, NOW + YEAR, &fired),
				 2);
		for (; fired; fired = fired->next)
			assert_ptr_not_equal(fired, &t[gone]);
	}
}

TEST_BETWEEN(the_last_cancel_leaves_nothing_to_wait_for, start_at_now, NULL)
{
	struct timer t[2] = { 0 };

	sn_timers_arm(&wheel, &t[0], NOW + SENNIT_SECOND);
	sn_timers_arm(&wheel, &t[1], NOW + YEAR);
	sn_timers_cancel(&wheel, &t[0]);
	assert_true(sn_timers_next(&wheel) > NOW + YEAR - SENNIT_SECOND);
	sn_timers_cancel(&wheel, &t[1]);
	assert_true(sn_timers_next(&wheel) == SENNIT_NEVER);
}

TEST_BETWEEN(a_lone_deadline_needs_one_look, start_at_now, NULL)
{
	struct timer t = { 0 };
	sennit_time  next;

	sn_timers_arm(&wheel, &t, NOW + YEAR);
	next = sn_timers_next(&wheel);
	assert_true(next >= NOW + YEAR && next < NOW + YEAR + TICK);
	assert_fires(next, &t);
}

/* Arm n timers at equal distances. Returns the time of the owner's next
 * look. */
static sennit_time look_with(struct timer t[], int n, sennit_time first,
			     uint64_t apart)
{
	sn_timers_init(&wheel, NOW);
	for (int i = 0; i < n; i++)
		sn_timers_arm(&wheel, &t[i], first + (uint64_t)i * apart);
	return sn_timers_next_batch(&wheel);
}

TEST_BETWEEN(a_few_deadlines_are_looked_for_in_time, start_at_now, NULL)
{
	struct timer t[TIMERS_WAIT] = { 0 };
	sennit_time  first = (NOW / TICK + 10) * TICK;

	assert_true(look_with(t, 0, first, TICK) == SENNIT_NEVER);
	assert_true(look_with(t, 1, first, TICK) == first);
	assert_true(look_with(t, 2, first, TICK) == first);
	assert_true(look_with(t, TIMERS_WAIT, first, 0) == first);
	assert_true(look_with(t, TIMERS_WAIT, first, TIMERS_WAIT * TICK) ==
		    first);
}

TEST_BETWEEN(close_deadlines_are_looked_for_together, start_at_now, NULL)
{
	struct timer t[TIMERS_WAIT] = { 0 };

	/* For every position of the first timer in its level. */
	for (uint64_t away = 1; away < TIMERS_SLOTS - TIMERS_WAIT; away++) {
		sennit_time   first = (NOW / TICK + away) * TICK;
		sennit_time   look = look_with(t, TIMERS_WAIT, first, TICK);
		struct timer *fired;

		assert_true(look == first + (TIMERS_WAIT - 1) * TICK);
		assert_int_equal(sn_timers_expire(&wheel, look, &fired),
				 TIMERS_WAIT);
	}
}

/* Time passes a slot boundary of all levels at once. */
TEST_BETWEEN(slots_that_begin_together_are_all_reached, start_at_now, NULL)
{
	static const unsigned ahead[] = { 1, 300, 70000, 20000000 };
	struct timer          t[4] = { 0 };
	uint64_t              edge = UINT64_C(1) << 32;

	for (uint64_t before = 0; before < 600; before++) {
		sn_timers_init(&wheel, (edge - before) * TICK);
		for (int i = 0; i < 4; i++)
			sn_timers_arm(&wheel, &t[i], (edge + ahead[i]) * TICK);
		assert_fires(edge * TICK, NULL);
		for (int i = 0; i < 4; i++) {
			assert_fires((edge + ahead[i]) * TICK - 1, NULL);
			assert_fires((edge + ahead[i]) * TICK, &t[i]);
		}
	}
}

TEST_BETWEEN(time_that_falls_back_does_no_harm, start_at_now, NULL)
{
	struct timer t = { 0 };

	assert_fires(NOW + SENNIT_SECOND, NULL);
	assert_fires(NOW, NULL);
	sn_timers_arm(&wheel, &t, NOW + 2 * SENNIT_SECOND);
	assert_fires(NOW, NULL);
	assert_fires(NOW + 3 * SENNIT_SECOND, &t);
}

/* Checks that each bit agrees with its slot, and that each timer lies in the
 * right slot. */
static bool is_valid(const struct timers *w)
{
	size_t count = 0;

	for (unsigned s = 0; s < TIMERS_ALL; s++) {
		struct timer *const *link = &w->slots[s];

		if ((*link != NULL) != (w->used[s / 64] >> s % 64 & 1))
			return false;
		for (; *link; link = &(*link)->next, count++)
			if ((*link)->pprev != link)
				return false;
	}
	return count == w->count;
}

/* A random time span; all magnitudes are equally likely. */
static uint64_t random_span(uint64_t *random)
{
	return random_from(random) >> (8 + random_below(random, 56));
}

/* Check which timers have fired by `now`, and which have not. */
static void check_fired(struct timer *fired, uint32_t count, bool armed[MANY],
			const struct timer t[MANY], sennit_time now,
			uint64_t tick_before)
{
	uint64_t before = 0;

	for (; fired; fired = fired->next, count--) {
		uint64_t tick = sn_timers_tick(fired->expiry);

		assert_true(armed[fired - t]);
		assert_true(fired->expiry <= now);
		armed[fired - t] = false;
		if (tick < tick_before)
			tick = tick_before;
		assert_true(before <= tick);
		before = tick;
	}
	assert_int_equal(count, 0);
	for (int i = 0; i < MANY; i++)
		if (armed[i])
			assert_true(t[i].expiry + TICK > now);
}

/* The first time at which one of the armed timers may fire. */
static sennit_time earliest(const bool armed[MANY], const struct timer t[MANY])
{
	sennit_time first = SENNIT_NEVER;

	for (int i = 0; i < MANY; i++)
		if (armed[i] && t[i].expiry < first)
			first = t[i].expiry;
	return first;
}

TEST_BETWEEN(any_mix_of_calls_matches_an_array, start_at_now, NULL)
{
	static struct timer t[MANY];
	static bool         armed[MANY];
	uint64_t            random = random_stream(0);
	sennit_time now = random_from(&random) >> random_below(&random, 64) >>
			  2;

	sn_timers_init(&wheel, now);
	for (uint64_t round = scaled(20000); round; round--) {
		uint64_t      tick = wheel.tick;
		struct timer *fired;
		sennit_time   next;
		uint32_t      count;

		for (int changes = 10; changes; changes--) {
			uint32_t    i = random_below(&random, MANY);
			sennit_time span = random_span(&random);
			bool        late = random_below(&random, 8) == 0;

			if (armed[i])
				sn_timers_cancel(&wheel, &t[i]);
			else
				sn_timers_arm(&wheel, &t[i],
					      late ? now - now % (span + 1)
						   : now + span);
			armed[i] = !armed[i];
		}
		next = sn_timers_next(&wheel);
		assert_true(next / TICK <= sn_timers_tick(earliest(armed, t)) ||
			    next / TICK <= tick);
		assert_true(sn_timers_next_batch(&wheel) - next <
			    TIMERS_WAIT * TICK);
		if (random_below(&random, 2) && next != SENNIT_NEVER)
			now = next > now ? next : now;
		else if (now < SENNIT_NEVER / 2)
			now += random_span(&random);
		count = sn_timers_expire(&wheel, now, &fired);
		check_fired(fired, count, armed, t, now, tick);
		if (round % 64 == 0)
			assert_true(is_valid(&wheel));
	}
	for (int i = 0; i < MANY; i++)
		armed[i] = false, t[i] = (struct timer){ 0 };
}

/* Repeatedly advance to `next`: each look comes closer to the timer, and none
 * is too late. */
TEST_BETWEEN(following_next_reaches_every_timer, start_at_now, NULL)
{
	static struct timer t[MANY];
	uint64_t            random = random_stream(1);
	uint32_t            looks = 0;
	uint32_t            left = MANY;
	sennit_time         next;

	for (int i = 0; i < MANY; i++) {
		t[i] = (struct timer){ 0 };
		sn_timers_arm(&wheel, &t[i], NOW + random_span(&random));
	}
	while ((next = sn_timers_next(&wheel)) != SENNIT_NEVER) {
		struct timer *fired;

		left -= sn_timers_expire(&wheel, next, &fired);
		for (; fired; fired = fired->next)
			assert_true(fired->expiry + TICK > next || next <= NOW);
		looks++;
	}
	assert_int_equal(left, 0);
	assert_true(looks <= MANY * TIMERS_LEVELS);
}
