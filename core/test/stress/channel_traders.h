/* SPDX-License-Identifier: Apache-2.0 */
/* channel_traders.h - fibers, bound and unbound threads that send to and
 * receive from the same channels of each kind, directly or by select, and
 * books of the values. */
#ifndef SN_TEST_CHANNEL_TRADERS_H
#define SN_TEST_CHANNEL_TRADERS_H

#include "testing/crowd.h"
#include "testing/random.h"

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
	sennit_channel channels[CHANNELS];
	sennit_event   chimes; /* auto: an event that is sometimes a case */
	atomic_uint    next;
	unsigned       rounds;
	atomic_uint    senders; /* number of traders with values left, in a
				    * relay */
	atomic_uchar   sent[ALL][MOST];
	atomic_uchar   received[ALL][MOST];
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

static inline struct value make_value(struct trader *t)
{
	const uint32_t number = t->number++ % MOST;
	const uint64_t id = (uint64_t)t->self << 32 | number;

	return (struct value){ t->self, number, { id, ~id, id * 3 } };
}

static inline void note_sent(const struct value *v)
{
	EXPECT(!atomic_exchange(&market.sent[v->trader][v->number], 1));
}

static inline void note_received(struct trader *t, unsigned channel,
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

static inline void expect_result(int result)
{
	EXPECT(result == 0 || result == -EPIPE || result == -ETIMEDOUT);
}

static inline void send_one(struct trader *t, unsigned channel,
			    sennit_time deadline)
{
	const struct value v = make_value(t);
	int                err;

	err = sennit_channel_send_until(&market.channels[channel], &v,
					deadline);
	expect_result(err);
	if (!err)
		note_sent(&v);
}

/* The meaning of each case: a channel to receive from, to send to, or none. */
struct plan {
	unsigned    count;
	unsigned    channel[CASES];
	bool        sends[CASES];
	sennit_case cases[CASES];
};

static inline void plan_case(struct trader *t, struct plan *p, bool sends)
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

static inline void note_plan(struct trader *t, const struct plan *p,
			     size_t which)
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

static inline struct trader *make_trader(void)
{
	struct trader *t = calloc(1, sizeof(*t));

	t->self = atomic_fetch_add(&market.next, 1);
	t->random = random_stream(t->self);
	return t;
}

static inline void open_market(unsigned rounds)
{
	const size_t capacities[CHANNELS] = { 0, 0, 1, 5,
					      SENNIT_CHANNEL_UNBOUNDED };

	memset(&market, 0, sizeof(market));
	market.rounds = rounds;
	atomic_store(&market.senders, ALL / 2);
	for (unsigned i = 0; i < CHANNELS; i++)
		assert_int_equal(
			sennit_channel_init(&market.channels[i], capacities[i],
					    sizeof(struct value), NULL),
			0);
	sennit_event_init(&market.chimes, SENNIT_EVENT_AUTO);
}

/* Receive the values that no trader has taken. */
static inline void drain(void)
{
	struct trader *t = calloc(1, sizeof(*t));

	for (unsigned i = 0; i < CHANNELS; i++) {
		struct value v;

		sennit_channel_close(&market.channels[i]);
		while (!sennit_channel_receive(&market.channels[i], &v))
			note_received(t, i, &v);
		sennit_channel_destroy(&market.channels[i]);
	}
	free(t);
}

static inline void check_books(void)
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

static inline void run_market(sennit_scheduler *s, void (*run)(void *),
			      unsigned          rounds)
{
	open_market(rounds);
	run_crowd((struct crowd){ .s = s,
				  .run = run,
				  .tasks = TASKS,
				  .bound = BOUND,
				  .unbound = UNBOUND });
	drain();
	check_books();
}

#endif
