/* SPDX-License-Identifier: Apache-2.0 */
/* network_reuse.c - a descriptor is closed after a call on it has begun,
 * wherever that is by then, and the number is used again at once, for something
 * that is ready: the call ends, and transfers nothing from or to that. In the
 * simulated network and in many orders. With the system's: io/test/steps.c. */
#include "network.h"
#include "sennit/deterministic.h"

#include <signal.h>

struct reuse {
	struct operation of;
	int              old[2], next[2];
	atomic_bool      begun; /* nothing is between this and the call */
	ptrdiff_t        result;
};

static int call_it(void *argument)
{
	struct reuse *r = argument;

	atomic_store(&r->begun, true);
	r->result = r->of.call(r->old[0], SENNIT_NEVER);
	return 0;
}

/* Writers find room, readers two bytes or a connection. */
static void open_ready(struct reuse *r)
{
	if (r->of.make_ready == receive_what_is_there)
		pair_up(r->next);
	else
		r->of.open(r->next);
	REQUIRE(r->next[0] == r->old[0]);
	if (r->of.make_ready != receive_what_is_there)
		r->of.make_ready(r->next);
}

static int close_and_use_again(void *argument)
{
	struct reuse *r = argument;

	while (!atomic_load(&r->begun))
		sennit_yield();
	for (uint32_t i = sennit_explore_choose(6); i; i--)
		sennit_yield();
	REQUIRE(!sennit_close(r->old[0]));
	open_ready(r);
	return 0;
}

/* Both bytes, in however many pieces. */
static void expect_both_bytes(int fd)
{
	char bytes[2];

	REQUIRE(receive_all(fd, bytes, 2) == 2);
	REQUIRE(!memcmp(bytes, "ab", 2));
}

static void expect_untouched(const struct reuse *r)
{
	char byte;

	if (r->of.make_ready == receive_what_is_there)
		REQUIRE(sennit_recv(r->next[1], &byte, 1, 0,
				    sennit_after(SETTLING)) == -ETIMEDOUT);
	else if (r->of.call == call_accept)
		REQUIRE(r->of.call(r->next[0], SENNIT_NEVER) == 1);
	else
		expect_both_bytes(r->next[0]);
}

static void reuse_under(const struct operation *o)
{
	struct reuse r = { .of = *o };
	sennit_group g;

	if (!in_network(&r.of) || o->call == call_sendfile)
		return; /* which opens a file first, with the number perhaps */
	r.of.open(r.old);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, call_it, &r));
	REQUIRE(!sennit_group_spawn(&g, close_and_use_again, &r));
	REQUIRE(!sennit_group_wait(&g));
	if (r.result != -ECANCELED && r.result != -EBADF) {
		fprintf(stderr, "%s: %td\n", r.of.name, r.result);
		abort();
	}
	expect_untouched(&r);
	sennit_close(r.next[0]);
	sennit_close(r.next[1]);
	sennit_close(r.old[1]);
}

static void reuse_under_all(void *workers)
{
	sennit_scheduler *s =
		begin_with(SENNIT_CONFIG(.workers = *(uint32_t *)workers));

	REQUIRE(!sennit_simulation_begin(
		SENNIT_SIMULATION_CONFIG(.buffer = SMALL)));
	for (size_t i = 0; i < OPERATIONS; i++)
		reuse_under(&operations[i]);
	REQUIRE(!atomic_load(&broken_claims));
	end(s);
}

static void explore_with(uint32_t workers)
{
	signal(SIGPIPE, SIG_IGN);
	explore_some(reuse_under_all, &workers, SCHEDULES / 15);
}

TEST(the_next_use_of_a_number_is_untouched)
{
	explore_with(SENNIT_WORKERS_NONE);
	explore_with(1);
}

TEST(also_with_several_workers)
{
	explore_with(2);
}
