/* SPDX-License-Identifier: Apache-2.0 */
/* channels_vs_closes.c - fibers, bound and unbound threads send to and
 * receive from the same channels of each kind, directly or by select, with
 * random deadlines and closes. Every value must come out exactly once, in
 * order. */
#include "channel_traders.h"
#include "deadlines.h"

/* --- acts --------------------------------------------------------------- */

static void receive_one(struct trader *t, unsigned channel,
			sennit_time deadline)
{
	struct value v = { .trader = 0 };
	int          err;

	err = sennit_channel_receive_until(&market.channels[channel], &v,
					   deadline);
	expect_result(err);
	if (!err)
		note_received(t, channel, &v);
}

static void select_some(struct trader *t, sennit_time deadline)
{
	const unsigned n = 1 + random_below(&t->random, CASES - 1);
	struct plan    p = { .count = 0 };
	size_t         which;
	int            err;

	while (p.count < n)
		plan_case(t, &p, random_below(&t->random, 2));
	while (p.count < CASES - 1)
		p.cases[p.count++] = sennit_case_event(NULL);
	p.cases[CASES - 1] = sennit_case_event(&market.chimes);
	err = sennit_select_until(p.cases, CASES, &which, deadline);
	expect_result(err);
	if (!err)
		note_plan(t, &p, which);
}

/* --- a market: any operation, always with a deadline -------------------- */

static void act(struct trader *t)
{
	const unsigned    channel = random_below(&t->random, CHANNELS);
	const sennit_time deadline = soon(&t->random);

	switch (random_below(&t->random, 8)) {
	case 0:
	case 1:
		send_one(t, channel, deadline);
		break;
	case 2:
	case 3:
		receive_one(t, channel, deadline);
		break;
	case 4:
		sennit_event_set(&market.chimes);
		break;
	default:
		select_some(t, deadline);
	}
}

static void trade(void *unused)
{
	struct trader *t = make_trader();

	for (unsigned i = 0; i < market.rounds && t->number < MOST - CASES; i++)
		act(t);
	sennit_channel_close(
		&market.channels[random_below(&t->random, CHANNELS)]);
	free(t);
}

/* --- all traders -------------------------------------------------------- */

TEST_WITH_WORKERS(what_is_sent_is_received_once)
{
	const unsigned markets = (unsigned)scaled(TORTURED(8, 40));

	for (unsigned i = 0; i < markets; i++)
		run_market(w->s, trade, i % 2 ? 40 : 150);
}
