/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - values of 8 bytes through channels, and selects over them.
 *
 * One operation is one value, sent and received. In the last rows it is one
 * waiter that a close releases.
 */
#include "harness.h"

#include <stdatomic.h>

#define LANES   4
#define BOUND   64
#define TRADERS 4
#define WAITERS 100000

/* What the tasks of a row use. One row runs at a time. */
static struct {
	_Alignas(128) sennit_channel lanes[LANES];
	uint64_t          each; /* values per sender or receiver */
	uint64_t          lane; /* of the next sender */
	sennit_wait_group done;
	atomic_uint       present;
	unsigned          expected; /* number of tasks that must be there to
				     * begin */
	_Atomic(uint64_t) sum;
} market;

/* Prepare a row that sends n values in total. */
static void open_market(uint64_t n, unsigned senders, unsigned receivers,
			size_t capacity)
{
	for (unsigned i = 0; i < LANES; i++)
		bench_check(!sennit_channel_init(&market.lanes[i], capacity,
						 sizeof(uint64_t), NULL),
			    "channel: no memory");
	sennit_wait_group_init(&market.done, senders + receivers);
	market.each = n / senders;
	market.lane = 0;
	market.present = 0;
	market.expected = 0;
	market.sum = 0;
}

static void close_market(struct bench_run *r)
{
	for (unsigned i = 0; i < LANES; i++)
		sennit_channel_destroy(&market.lanes[i]);
	bench_check(market.sum == r->n, "channel: values lost");
}

/* A task that has not blocked keeps its thread. So two tasks that spin until
 * both are there run on two threads. */
static void meet(void)
{
	market.present++;
	while (market.present < market.expected)
		continue;
}

static void send_values(sennit_channel *c)
{
	const uint64_t one = 1;

	for (uint64_t i = 0; i < market.each; i++)
		bench_check(!sennit_channel_send(c, &one), "channel: closed");
	sennit_wait_group_done(&market.done);
}

static void sender(void *lane)
{
	meet();
	send_values(lane);
}

static void receiver(void *lane)
{
	uint64_t sum = 0, v = 0;

	meet();
	for (uint64_t i = 0; i < market.each; i++) {
		bench_check(!sennit_channel_receive(lane, &v),
			    "channel: closed");
		sum += v;
	}
	market.sum += sum;
	sennit_wait_group_done(&market.done);
}

/* One fiber, which finds room and then a value. */
static void alone(struct bench_run *r)
{
	uint64_t    sum = 0, v = 1;
	sennit_time begin;

	open_market(r->n, 1, 0, BOUND);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		bench_check(
			!sennit_channel_send(&market.lanes[0], &v) &&
				!sennit_channel_receive(&market.lanes[0], &v),
			"channel: closed");
		sum += v;
	}
	bench_elapsed(r, begin);
	market.sum = sum;
	close_market(r);
}

static void one_to_one(struct bench_run *r, size_t capacity, unsigned expected)
{
	sennit_time begin = sennit_now();

	open_market(r->n, 1, 1, capacity);
	market.expected = expected;
	if (expected) {
		spawn(sender, &market.lanes[0]);
		spawn(receiver, &market.lanes[0]);
	} else {
		spawn_here(sender, &market.lanes[0]);
		spawn_here(receiver, &market.lanes[0]);
	}
	sennit_wait_group_wait(&market.done);
	bench_elapsed(r, begin);
	close_market(r);
}

static void rendezvous_here(struct bench_run *r)
{
	one_to_one(r, 0, 0);
}

static void rendezvous_across(struct bench_run *r)
{
	one_to_one(r, 0, 2);
}

static void bounded_here(struct bench_run *r)
{
	one_to_one(r, BOUND, 0);
}

static void bounded_across(struct bench_run *r)
{
	one_to_one(r, BOUND, 2);
}

static void unbounded_across(struct bench_run *r)
{
	one_to_one(r, SENNIT_CHANNEL_UNBOUNDED, 2);
}

static void many_to_many(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	open_market(r->n, TRADERS, TRADERS, BOUND);
	for (unsigned i = 0; i < TRADERS; i++) {
		spawn(sender, &market.lanes[0]);
		spawn(receiver, &market.lanes[0]);
	}
	sennit_wait_group_wait(&market.done);
	bench_elapsed(r, begin);
	close_market(r);
}

/* --- select ------------------------------------------------------------- */

static void select_from_lanes(uint64_t n)
{
	sennit_case cases[LANES];
	uint64_t    v[LANES], sum = 0;
	size_t      which;

	for (unsigned i = 0; i < LANES; i++)
		cases[i] = sennit_case_receive(&market.lanes[i], &v[i]);
	for (uint64_t i = 0; i < n; i++)
		if (!sennit_select(cases, LANES, &which))
			sum += v[which];
	market.sum += sum;
}

static void select_of_four(struct bench_run *r, size_t capacity)
{
	sennit_time begin = sennit_now();

	open_market(r->n, LANES, 0, capacity);
	for (unsigned i = 0; i < LANES; i++)
		spawn(sender, &market.lanes[i]);
	select_from_lanes(r->n);
	sennit_wait_group_wait(&market.done);
	bench_elapsed(r, begin);
	close_market(r);
}

static void select_of_rendezvous(struct bench_run *r)
{
	select_of_four(r, 0);
}

static void select_of_bounded(struct bench_run *r)
{
	select_of_four(r, BOUND);
}

/* Each select finds one lane ready, and receives the value that was just
 * sent. */
static void select_alone(struct bench_run *r)
{
	const uint64_t one = 1;
	sennit_time    begin;

	open_market(r->n, 1, 0, BOUND);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		bench_check(
			!sennit_channel_send(&market.lanes[i % LANES], &one),
			"channel: closed");
		select_from_lanes(1);
	}
	bench_elapsed(r, begin);
	close_market(r);
}

/* --- many waiters ------------------------------------------------------- */

static void wait_for_close(void *lane)
{
	uint64_t v;

	market.present++;
	bench_check(sennit_channel_receive(lane, &v) != 0, "channel: a value");
	market.sum++;
	sennit_wait_group_done(&market.done);
}

static void close_many(struct bench_run *r)
{
	sennit_time begin;

	open_market(r->n, (unsigned)r->n, 0, 0);
	for (uint64_t i = 0; i < r->n; i++)
		spawn(wait_for_close, &market.lanes[0]);
	while (market.present < r->n)
		sennit_yield();
	begin = sennit_now();
	sennit_channel_close(&market.lanes[0]);
	sennit_wait_group_wait(&market.done);
	bench_elapsed(r, begin);
	close_market(r);
}

const struct bench_row bench_channel[] = {
	BENCH_ROW("channel/uncontended", 10000000, BENCH_EACH, alone),
	BENCH_ROW("channel/rendezvous-one-worker", 2000000, BENCH_EACH,
		  rendezvous_here),
	BENCH_ROW("channel/rendezvous-two-workers", 400000, BENCH_FROM_TWO,
		  rendezvous_across),
	BENCH_ROW("channel/bounded-64-one-worker", 5000000, BENCH_EACH,
		  bounded_here),
	BENCH_ROW("channel/bounded-64-two-workers", 2000000, BENCH_FROM_TWO,
		  bounded_across),
	BENCH_ROW("channel/unbounded-two-workers", 2000000, BENCH_FROM_TWO,
		  unbounded_across),
	BENCH_ROW("channel/bounded-64-four-to-four", 2000000, BENCH_EACH,
		  many_to_many),
	BENCH_ROW("channel/select-4-uncontended", 2000000, BENCH_EACH,
		  select_alone),
	BENCH_ROW("channel/select-4-rendezvous", 400000, BENCH_EACH,
		  select_of_rendezvous),
	BENCH_ROW("channel/select-4-bounded-64", 1000000, BENCH_EACH,
		  select_of_bounded),
	BENCH_ROW("channel/close-100000-waiters", WAITERS, BENCH_EACH,
		  close_many),
	{ .run = NULL },
};
