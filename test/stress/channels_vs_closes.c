/* SPDX-License-Identifier: Apache-2.0 */
/* channels_vs_closes.c - fibers, bound and unbound threads send to and receive
 * from the same channels of each kind, directly or by select, with random
 * deadlines and closes. Every value must come out exactly once, in order.
 */
#include "../api/with_workers.h"
#include "../random.h"
#include "deadlines.h"

#include <errno.h>

enum {
	TASKS = 10,
	BOUND = 2,
	UNBOUND = 2,
	ALL = TASKS + BOUND + UNBOUND,
	CHANNELS = 5,
	CASES = 6,
	MOST = 2000 /* values of one trader in a market */
};

/* A value in which a partial or mixed copy is detected. */
struct value {
	uint32_t trader, number;
	uint64_t check[3];
};

struct market {
	sennit_scheduler *s;
	sennit_channel    channels[CHANNELS];
	sennit_wait_group done;
	sennit_event      chimes; /* auto: an event that is sometimes a case */
	atomic_uint       next;
	unsigned          rounds;
	atomic_uint       senders; /* number of traders with values left, in a
				    * relay */
	atomic_uchar      sent[ALL][MOST];
	atomic_uchar      received[ALL][MOST];
};

static struct market market;

struct trader {
	uint32_t     self;
	uint32_t     number; /* of its next value */
	uint64_t     random;
	struct value out[CASES], in[CASES];
	/* 1 + the last number from each trader by each channel. */
	uint32_t seen[CHANNELS][ALL];
};

/* --- values ------------------------------------------------------------- */

static struct value make_value(struct trader *t)
{
	const uint32_t number = t->number++ % MOST;
	const uint64_t id = (uint64_t)t->self << 32 | number;

	return (struct value){ t->self, number, { id, ~id, id * 3 } };
}

static void note_sent(const struct value *v)
{
	EXPECT(!atomic_exchange(&market.sent[v->trader][v->number], 1));
}

static void note_received(struct trader *t, unsigned channel,
			  const struct value *v)
{
	const uint64_t id = (uint64_t)v->trader << 32 | v->number;
	uint32_t      *seen = &t->seen[channel][v->trader];

	EXPECT(v->trader < ALL && v->number < MOST);
	EXPECT(v->check[0] == id && v->check[1] == ~id &&
	       v->check[2] == id * 3);
	EXPECT(!atomic_exchange(&market.received[v->trader][v->number], 1));
	EXPECT(v->number >= *seen);
	*seen = v->number + 1;
}

/* --- acts --------------------------------------------------------------- */

static void expect_result(int result)
{
	EXPECT(result == 0 || result == -EPIPE || result == -ETIMEDOUT);
}

static void send_one(struct trader *t, unsigned channel, sennit_time deadline)
{
	const struct value v = make_value(t);
	int                err;

	err = sennit_channel_send_until(&market.channels[channel], &v,
					deadline);
	expect_result(err);
	if (!err)
		note_sent(&v);
}

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

/* The meaning of each case: a channel to receive from, to send to, or none. */
struct plan {
	unsigned    count;
	unsigned    channel[CASES];
	bool        sends[CASES];
	sennit_case cases[CASES];
};

static void plan_case(struct trader *t, struct plan *p, bool sends)
{
	const unsigned  i = p->count++;
	const unsigned  channel = random_below(&t->random, CHANNELS);
	sennit_channel *c = &market.channels[channel];

	p->channel[i] = channel;
	p->sends[i] = sends;
	if (sends) {
		t->out[i] = make_value(t);
		p->cases[i] = sennit_case_send(c, &t->out[i]);
	} else {
		p->cases[i] = sennit_case_receive(c, &t->in[i]);
	}
}

static void note_plan(struct trader *t, const struct plan *p, size_t which)
{
	if (which == CASES - 1)
		return; /* the event */
	expect_result(p->cases[which].result);
	if (p->cases[which].result)
		return;
	if (p->sends[which])
		note_sent(&t->out[which]);
	else
		note_received(t, p->channel[which], &t->in[which]);
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

static struct trader *make_trader(void)
{
	struct trader *t = calloc(1, sizeof(*t));

	t->self = atomic_fetch_add(&market.next, 1);
	t->random = random_stream(t->self);
	return t;
}

static void trade(void *unused)
{
	struct trader *t = make_trader();
	unsigned       i;

	(void)unused;
	for (i = 0; i < market.rounds && t->number < MOST - CASES; i++)
		act(t);
	sennit_channel_close(
		&market.channels[random_below(&t->random, CHANNELS)]);
	free(t);
	sennit_wait_group_done(&market.done);
}

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
	which = sennit_select(p.cases, 3);
	EXPECT(p.cases[which].result == 0);
	note_plan(t, &p, which);
}

static void close_all(void)
{
	unsigned i;

	for (i = 0; i < CHANNELS; i++)
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
	unsigned    i;

	for (i = 0; i < CHANNELS; i++)
		cases[i] = sennit_case_receive(&market.channels[i], &t->in[i]);
	while (open) {
		size_t which = sennit_select(cases, CHANNELS);

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

	(void)unused;
	if (t->self % 2)
		send_all(t);
	else if (t->self % 4)
		receive_from_one(t);
	else
		receive_all(t);
	free(t);
	sennit_wait_group_done(&market.done);
}

/* --- all traders -------------------------------------------------------- */

static void (*job)(void *unused);

static void *work_unbound(void *unused)
{
	job(unused);
	return NULL;
}

static void *work_bound(void *unused)
{
	EXPECT(sennit_bind(market.s) == 0);
	job(unused);
	sennit_unbind();
	return NULL;
}

static void open_market(sennit_scheduler *s, void (*run)(void *),
			unsigned          rounds)
{
	const size_t capacities[CHANNELS] = { 0, 0, 1, 5,
					      SENNIT_CHANNEL_UNBOUNDED };
	unsigned     i;

	memset(&market, 0, sizeof(market));
	market.s = s;
	market.rounds = rounds;
	atomic_store(&market.senders, ALL / 2);
	for (i = 0; i < CHANNELS; i++)
		assert_int_equal(sennit_channel_init(&market.channels[i],
						     sizeof(struct value),
						     capacities[i], NULL),
				 0);
	sennit_event_init(&market.chimes, SENNIT_EVENT_AUTO, false);
	sennit_wait_group_init(&market.done, ALL);
	job = run;
}

/* Receive the values that no trader has taken. */
static void drain(void)
{
	struct trader *t = calloc(1, sizeof(*t));
	unsigned       i;

	for (i = 0; i < CHANNELS; i++) {
		struct value v;

		sennit_channel_close(&market.channels[i]);
		while (!sennit_channel_receive(&market.channels[i], &v))
			note_received(t, i, &v);
		sennit_channel_destroy(&market.channels[i]);
	}
	free(t);
}

static void check_books(void)
{
	unsigned trader, number;

	for (trader = 0; trader < ALL; trader++)
		for (number = 0; number < MOST; number++)
			if (market.sent[trader][number] !=
			    market.received[trader][number])
				fail_msg("value %u of %u: %d sent, %d received",
					 number, trader,
					 market.sent[trader][number],
					 market.received[trader][number]);
}

static void run_market(sennit_scheduler *s, void (*run)(void *),
		       unsigned          rounds)
{
	pthread_t threads[BOUND + UNBOUND];
	unsigned  i;

	open_market(s, run, rounds);
	for (i = 0; i < BOUND + UNBOUND; i++)
		threads[i] = must_start_thread(
			i < BOUND ? work_bound : work_unbound, NULL);
	for (i = 0; i < TASKS; i++)
		must_schedule(run, NULL);
	sennit_wait_group_wait(&market.done);
	for (i = 0; i < BOUND + UNBOUND; i++)
		pthread_join(threads[i], NULL);
	drain();
	check_books();
}

static void what_is_sent_is_received_once(void **state)
{
	struct world  *w = *state;
	const unsigned markets = (unsigned)scaled(TORTURED(8, 40));
	unsigned       i;

	for (i = 0; i < markets; i++)
		run_market(w->s, trade, i % 2 ? 40 : 150);
}

static void nobody_waits_for_ever(void **state)
{
	struct world  *w = *state;
	const unsigned markets = (unsigned)scaled(TORTURED(8, 40));
	unsigned       i;

	for (i = 0; i < markets; i++)
		run_market(w->s, relay, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(what_is_sent_is_received_once),
		WITH_WORKERS(nobody_waits_for_ever),
	};

	(void)random_stream(0); /* chooses the seed while there is only one
				 * thread */
	return random_report(cmocka_run_group_tests_name(
		"stress/channels_vs_closes", tests, NULL, NULL));
}
