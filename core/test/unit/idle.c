/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - idle times, and whether a worker that was woken is on its way. */
#include "sched/loop.h"
#include "sched/idle.h"

#include "testing/test.h"

static struct idle_state one, other;
static struct woken      woken;

static void begin(void)
{
	sn_idle_init(&one, 0);
	sn_idle_init(&other, 0);
	woken = (struct woken){ NULL, 0 };
}

TEST(idle_times_add_up)
{
	begin();
	sn_idle_begin(&one, 100);
	assert_true(sn_idle_is_idle(&one));
	assert_int_equal(sn_idle_time(&one, 130), 30);
	sn_idle_begin(&one, 140); /* goes on */
	sn_idle_end(&one, 150);
	assert_false(sn_idle_is_idle(&one));
	sn_idle_begin(&one, 200);
	assert_int_equal(sn_idle_time(&one, 207), 57);
}

TEST(who_was_woken_is_on_its_way_until_it_runs)
{
	begin();
	assert_false(sn_woken_is_coming(&woken));
	sn_idle_begin(&other, 100);
	sn_woken_set(&woken, &other);
	assert_true(sn_woken_is_coming(&woken));
	sn_idle_end(&other, 160);
	assert_false(sn_woken_is_coming(&woken));
}

/* It ran between two looks. */
TEST(who_is_idle_again_has_come)
{
	begin();
	sn_idle_begin(&other, 100);
	sn_woken_set(&woken, &other);
	sn_idle_end(&other, 160);
	sn_idle_begin(&other, 170);
	assert_false(sn_woken_is_coming(&woken));
}

TEST(who_runs_before_the_waker_looks_has_come)
{
	begin();
	sn_idle_begin(&other, 100);
	sn_idle_end(&other, 160);
	sn_woken_set(&woken, &other);
	assert_false(sn_woken_is_coming(&woken));
}
