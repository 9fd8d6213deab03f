/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - channels, selects and waits for several events, in many orders. */
#include "explore.h"

#include <unistd.h>

static sennit_channel    a, b;
static sennit_event      e, f;
static sennit_wait_group done;

static unsigned sent, received, refused, late;

/* One thread runs at a time, so plain counters suffice. */
static void note(int err, bool is_send)
{
	if (!err && is_send)
		sent++;
	else if (!err)
		received++;
	else if (err == -EPIPE)
		refused++;
	else
		late++;
}

static void set_scene(unsigned parties)
{
	const sennit_channel empty = SENNIT_CHANNEL_INIT(sizeof(unsigned));

	a = empty;
	b = empty;
	sennit_event_init(&e, SENNIT_EVENT_AUTO, false);
	sennit_event_init(&f, SENNIT_EVENT_AUTO, false);
	sennit_wait_group_init(&done, parties);
	sent = received = refused = late = 0;
}

static void end_scene(sennit_scheduler *s, unsigned parties)
{
	sennit_wait_group_wait(&done);
	end(s);
	REQUIRE(sent == received);
	REQUIRE(sent + received + refused + late == parties);
	sennit_channel_destroy(&a);
	sennit_channel_destroy(&b);
	sennit_event_destroy(&e);
	sennit_event_destroy(&f);
}

/* --- participants -------------------------------------------------------- */

/* Send to one channel and receive from the other, with a deadline if *soon is
 * set. */
static void select_both(sennit_channel *out, sennit_channel *in,
			sennit_time deadline)
{
	unsigned    v = 1, got = 0;
	size_t      which = 0;
	sennit_case cases[2];
	int         err;

	cases[0] = sennit_case_send(out, &v);
	cases[1] = sennit_case_receive(in, &got);
	err = sennit_select_until(cases, 2, &which, deadline);
	note(err ? err : cases[which].result, which == 0);
	REQUIRE(err || cases[which].result || which == 0 || got == 1);
	sennit_wait_group_done(&done);
}

static void send_a_receive_b(void *deadline)
{
	select_both(&a, &b, *(sennit_time *)deadline);
}

static void send_b_receive_a(void *deadline)
{
	select_both(&b, &a, *(sennit_time *)deadline);
}

static void send_and_receive_a(void *deadline)
{
	select_both(&a, &a, *(sennit_time *)deadline);
}

static void send_a(void *deadline)
{
	const unsigned v = 1;

	note(sennit_channel_send_until(&a, &v, *(sennit_time *)deadline), true);
	sennit_wait_group_done(&done);
}

static void receive_a(void *deadline)
{
	unsigned v = 0;
	int      err;

	err = sennit_channel_receive_until(&a, &v, *(sennit_time *)deadline);
	note(err, false);
	REQUIRE(err || v == 1);
	sennit_wait_group_done(&done);
}

static void close_both(void *unused)
{
	(void)unused;
	sennit_channel_close(&a);
	sennit_channel_close(&b);
	sennit_wait_group_done(&done);
}

static sennit_time never = SENNIT_NEVER;
static sennit_time soon; /* in the scenario's virtual time */

/* --- channels ------------------------------------------------------------ */

static void two_selects(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	set_scene(4);
	spawn(send_a_receive_b, &never);
	spawn(send_b_receive_a, &never);
	spawn(send_and_receive_a, &never);
	send_and_receive_a(&never);
	end_scene(s, 4);
	REQUIRE(sent == 2);
}

static void selects_and_a_close(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	set_scene(4);
	spawn(send_a_receive_b, &never);
	spawn(send_b_receive_a, &never);
	spawn(receive_a, &never);
	spawn(close_both, NULL);
	end_scene(s, 3);
}

static void deadlines_on_both_sides(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	set_scene(4);
	soon = sennit_after(100 * SENNIT_MICROSECOND);
	spawn(send_a, &soon);
	spawn(send_a_receive_b, &soon);
	spawn(receive_a, &soon);
	spawn(send_b_receive_a, &soon);
	end_scene(s, 4);
}

/* Values of 1 in a row: first those in the buffer, then those of the waiting
 * senders. */
static void a_bounded_channel(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	unsigned          i;

	(void)unused;
	set_scene(6);
	REQUIRE(!sennit_channel_init(&a, sizeof(unsigned), 1, NULL));
	for (i = 0; i < 3; i++)
		spawn(send_a, &never);
	for (i = 0; i < 3; i++)
		spawn(receive_a, &never);
	end_scene(s, 6);
	REQUIRE(sent == 3);
}

/* --- events -------------------------------------------------------------- */

static void set_e(void *unused)
{
	(void)unused;
	sennit_event_set(&e);
	sennit_wait_group_done(&done);
}

static void set_f(void *unused)
{
	(void)unused;
	sennit_event_set(&f);
	sennit_wait_group_done(&done);
}

/* Count the caller if the report shows it as running. */
static void count_running(void *count, const sennit_report_entry *entry)
{
	const sennit_fiber *self = sennit_fiber_current();

	*(unsigned *)count += entry->state == SENNIT_REPORT_RUNNING &&
			      entry->thread == (uint32_t)gettid() &&
			      entry->fiber == sennit_fiber_id(self);
}

static void wait_for_either(void *unused)
{
	sennit_event *const both[] = { &e, &f };
	unsigned            running = 0;

	(void)unused;
	REQUIRE(sennit_event_wait_any(both, 2) >= 0);
	sennit_scheduler_report(sennit_current(), count_running, &running);
	REQUIRE(running == 1);
	received++;
	sennit_wait_group_done(&done);
}

/* Two sets release two waiters. A set counts even if it happens while they join
 * the queue. */
static void either_of_two(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	set_scene(4);
	spawn(wait_for_either, NULL);
	spawn(set_f, NULL);
	spawn(set_e, NULL);
	spawn(wait_for_either, NULL);
	sent = 2;
	end_scene(s, 4);
	REQUIRE(!sennit_event_is_set(&e) && !sennit_event_is_set(&f));
}

static void wait_for_all(void *reversed)
{
	sennit_event *const both[] = { &e, &f };
	sennit_event *const turned[] = { &f, &e };

	REQUIRE(!sennit_event_wait_all(reversed ? turned : both, 2));
	sennit_event_set(&e);
	sennit_event_set(&f);
	sennit_wait_group_done(&done);
}

static void all_of_two_in_both_orders(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	set_scene(4);
	spawn(wait_for_all, NULL);
	spawn(wait_for_all, &never);
	spawn(set_e, NULL);
	spawn(set_f, NULL);
	end_scene(s, 0);
	REQUIRE(sennit_event_is_set(&e) && sennit_event_is_set(&f));
}

/* --- test cases ---------------------------------------------------------- */

TEST(selects_find_each_other)
{
	explore(two_selects, NULL);
}

TEST(a_close_ends_selects)
{
	explore(selects_and_a_close, NULL);
}

TEST(a_value_is_received_if_its_send_was_in_time)
{
	explore(deadlines_on_both_sides, NULL);
}

TEST(a_bounded_channel_passes_everything_on)
{
	explore(a_bounded_channel, NULL);
}

TEST(two_sets_release_two_who_wait_for_either)
{
	explore(either_of_two, NULL);
}

TEST(all_of_two_events_are_taken_in_any_order)
{
	explore(all_of_two_in_both_orders, NULL);
}
