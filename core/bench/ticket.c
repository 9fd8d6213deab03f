/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - take a ticket, wait for it, mark it as done. */
#include "harness.h"

#define MANY 100000

static sennit_ticket_queue queue;
static sennit_ticket       tickets[MANY];
static sennit_wait_group   left;
static uint64_t            turns; /* accessed in turn */

static void alone(struct bench_run *r)
{
	sennit_ticket t;
	sennit_time   begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_ticket_queue_take(&queue, &t);
		(void)!sennit_ticket_wait(&t);
		sennit_ticket_done(&t);
	}
	bench_elapsed(r, begin);
}

/* --- all in one row ----------------------------------------------------- */

static void take_turn(void *ticket)
{
	sennit_ticket *t = ticket;

	(void)!sennit_ticket_wait(t);
	turns++;
	sennit_ticket_done(t);
	sennit_wait_group_done(&left);
}

static void wait_in_turn(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	turns = 0;
	sennit_wait_group_init(&left, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		sennit_ticket_queue_take(&queue, &tickets[i]);
		spawn(take_turn, &tickets[i]);
	}
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(turns == MANY, "ticket: lost turns");
}

static void be_called(void *ticket)
{
	turns++;
	sennit_ticket_done(ticket);
	sennit_wait_group_done(&left);
}

static void call_in_turn(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	turns = 0;
	sennit_wait_group_init(&left, MANY);
	sennit_ticket_queue_take_many(&queue, tickets, MANY);
	for (unsigned i = MANY; i-- > 0;)
		bench_check(!sennit_ticket_on_call(&tickets[i], be_called,
						   &tickets[i]),
			    "ticket: no memory");
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(turns == MANY, "ticket: lost calls");
}

/* --- two tasks at one queue --------------------------------------------- */

#define FIBERS 64
#define ROUNDS 10000

static void take_turns(void *unused)
{
	sennit_ticket t;

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		sennit_ticket_queue_take(&queue, &t);
		(void)!sennit_ticket_wait(&t);
		turns++;
		sennit_ticket_done(&t);
	}
	sennit_wait_group_done(&left);
}

static void contend(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	turns = 0;
	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(take_turns, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(turns == r->n, "ticket: lost turns");
}

const struct bench_row bench_ticket[] = {
	{ .names = { "ticket/uncontended" },
	  .n = 10000000,
	  .workers = BENCH_NONE,
	  .place = BENCH_OUTSIDE,
	  .run = alone },
	BENCH_ROW("ticket/64-fibers", FIBERS *ROUNDS, BENCH_EACH, contend),
	BENCH_ROW("ticket/many-waiters", MANY, BENCH_EACH, wait_in_turn),
	BENCH_ROW("ticket/on-call", MANY, BENCH_EACH, call_in_turn),
	{ .run = NULL },
};
