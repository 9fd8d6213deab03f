/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.c - blocking calls in every order, while threads are added for those
 * that wait, or such calls fail. The clock may jump at any time, so any call
 * may be the one that takes long. */
#include "explore.h"
#include "testing/told_limit.h"

/* Of so many threads, QUICK start at once; and then what is added. */
enum { ALLOWED = 32, QUICK = 8, MOST = 16 };

enum { ORDERS = SCHEDULES / 3 };

static struct {
	sennit_event      met;
	uint32_t          must; /* so many calls must be there at once */
	uint32_t          here, made, failed;
	sennit_wait_group left;
	sennit_scheduler *s;
} hall;

static void open_hall(uint32_t workers, uint32_t most, uint32_t fail_ms)
{
	atomic_store(&most_threads, ALLOWED);
	memset(&hall, 0, sizeof(hall));
	sennit_event_init(&hall.met, SENNIT_EVENT_MANUAL);
	hall.s = begin_with(SENNIT_CONFIG(.workers = workers,
					  .max_blocking_threads = most,
					  .blocking_fail_ms = fail_ms));
}

static void begin_calls(sennit_task_fn *run, uint32_t calls)
{
	sennit_wait_group_init(&hall.left, calls);
	for (uint32_t i = 0; i < calls; i++)
		spawn(run, NULL);
}

static uint32_t threads_now(void)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(hall.s, &stats);
	return (uint32_t)stats.blocking_threads;
}

static void *meet(void *unused)
{
	if (++hall.here == hall.must)
		sennit_event_set(&hall.met);
	REQUIRE(!sennit_event_wait(&hall.met));
	hall.made++;
	return unused;
}

static void call_meet(void *unused)
{
	(void)sennit_blocking_call(meet, NULL);
	sennit_wait_group_done(&hall.left);
}

/* --- calls that wait for each other --------------------------------------- */

/* The scheduler ends when they have met, while threads may be added. */
static void meet_all(void *unused)
{
	open_hall(2, 0, 0);
	hall.must = QUICK + 3;
	begin_calls(call_meet, QUICK + 4);
	end(hall.s);
	REQUIRE(hall.made == QUICK + 4);
}

TEST(threads_are_added_until_all_have_met)
{
	explore_some(meet_all, NULL, ORDERS);
}

/* --- calls that end ------------------------------------------------------- */

static void *pass(void *unused)
{
	hall.here++;
	sn_deterministic_point();
	hall.made++;
	return unused;
}

static void call_pass(void *unused)
{
	(void)sennit_blocking_call(pass, NULL);
	REQUIRE(threads_now() <= MOST);
	sennit_wait_group_done(&hall.left);
}

static void pass_all(void *unused)
{
	open_hall(2, 0, 0);
	begin_calls(call_pass, 3 * QUICK);
	end(hall.s);
	REQUIRE(hall.made == 3 * QUICK && hall.here == 3 * QUICK);
}

TEST(a_call_is_made_once_whether_threads_are_added_or_not)
{
	explore_some(pass_all, NULL, ORDERS);
}

/* --- calls that fail ------------------------------------------------------ */

static void call_meet_in_time(void *unused)
{
	int err = sennit_blocking_call_until(meet, NULL, NULL, SENNIT_NEVER);

	REQUIRE(!err || err == -EAGAIN);
	hall.failed += err != 0;
	if (err) /* those inside need not wait for it */
		sennit_event_set(&hall.met);
	sennit_wait_group_done(&hall.left);
}

/* Three must meet, and there are two threads. */
static void fail_one(void *unused)
{
	open_hall(2, 2, 5);
	hall.must = 3;
	begin_calls(call_meet_in_time, 3);
	sennit_wait_group_wait(&hall.left);
	end(hall.s);
	REQUIRE(hall.failed == 1 && hall.made == 2);
}

TEST(the_call_that_cannot_begin_fails)
{
	explore_some(fail_one, NULL, ORDERS);
}

static void call_pass_in_time(void *unused)
{
	int err = sennit_blocking_call_until(pass, NULL, NULL, SENNIT_NEVER);

	REQUIRE(!err || err == -EAGAIN);
	hall.failed += err != 0;
	sennit_wait_group_done(&hall.left);
}

static void fail_some(void *unused)
{
	open_hall(2, 2, 5);
	begin_calls(call_pass_in_time, 12);
	end(hall.s);
	REQUIRE(hall.made == hall.here && hall.made + hall.failed == 12);
}

TEST(a_call_is_made_once_or_fails)
{
	explore_some(fail_some, NULL, ORDERS);
}
