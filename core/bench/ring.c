/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - 503 fibers pass one token around. Each waits on its own event. */
#include "harness.h"

#define FIBERS 503
#define ROUNDS 2000

/* A place in the ring, on a cache line of its own. */
struct place {
	_Alignas(128) sennit_event token;
};

static struct place      ring[FIBERS];
static sennit_wait_group left;

static void pass(void *argument)
{
	struct place *mine = argument;
	struct place *next = mine == &ring[FIBERS - 1] ? ring : mine + 1;

	for (unsigned i = 0; i < ROUNDS; i++) {
		(void)!sennit_event_wait(&mine->token);
		sennit_event_set(&next->token);
	}
	sennit_wait_group_done(&left);
}

static void rounds(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		sennit_event_init(&ring[i].token, SENNIT_EVENT_AUTO);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(pass, &ring[i]);
	sennit_event_set(&ring[0].token);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

const struct bench_row bench_ring[] = {
	BENCH_ROW("W5-ring/events", FIBERS *ROUNDS, BENCH_EACH, rounds),
	{ .run = NULL },
};
