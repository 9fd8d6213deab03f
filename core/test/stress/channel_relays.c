/* SPDX-License-Identifier: Apache-2.0 */
/* channel_relays.c - fibers, bound and unbound threads pass values on from
 * channel to channel without deadlines, so that a lost wake hangs. */
#include "channel_traders.h"

/* --- a relay: no deadlines, so a lost wake hangs ------------------------ */

static void send_in_relay(struct trader *t)
{
	struct plan p = { .count = 0 };
	size_t      which;

	if (random_below(&t->random, 2)) {
		send_one(t, random_below(&t->random, CHANNELS), SENNIT_NEVER);
		return;
	}
	while (p.count < 3)
		plan_case(t, &p, true);
	EXPECT(!sennit_select(p.cases, 3, &which));
	EXPECT(p.cases[which].result == 0);
	note_plan(t, &p, which);
}

static void close_all(void)
{
	for (unsigned i = 0; i < CHANNELS; i++)
		sennit_channel_close(&market.channels[i]);
}

static void send_all(struct trader *t)
{
	while (t->number < market.rounds)
		send_in_relay(t);
	if (atomic_fetch_sub(&market.senders, 1) == 1)
		close_all();
}

/* Receive from all channels, each until it is closed and empty. */
static void receive_all(struct trader *t)
{
	sennit_case cases[CHANNELS];
	unsigned    open = CHANNELS;

	for (unsigned i = 0; i < CHANNELS; i++)
		cases[i] = sennit_case_receive(&market.channels[i], &t->in[i]);
	while (open) {
		size_t which = 0;

		EXPECT(!sennit_select(cases, CHANNELS, &which));
		if (!cases[which].result) {
			note_received(t, (unsigned)which, &t->in[which]);
			continue;
		}
		EXPECT(cases[which].result == -EPIPE);
		cases[which] = sennit_case_event(NULL);
		open--;
	}
}

static void receive_from_one(struct trader *t)
{
	const unsigned channel = t->self % CHANNELS;
	struct value   v;

	while (!sennit_channel_receive(&market.channels[channel], &v))
		note_received(t, channel, &v);
}

static void relay(void *unused)
{
	struct trader *t = make_trader();

	if (t->self % 2)
		send_all(t);
	else if (t->self % 4)
		receive_from_one(t);
	else
		receive_all(t);
	free(t);
}

/* --- all traders -------------------------------------------------------- */

TEST_WITH_WORKERS(nobody_waits_for_ever)
{
	const unsigned markets = (unsigned)scaled(TORTURED(8, 40));

	for (unsigned i = 0; i < markets; i++)
		run_market(w->s, relay, 300);
}
