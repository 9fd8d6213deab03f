/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_rounds.c - several wait for one wait group, round after round. The
 * first one that returns from a round begins the next at once, while others
 * have not returned yet. */
#include "testing/crowd.h"
#include "testing/random.h"

enum { WORK = 3 };

struct relay {
	sennit_wait_group group;
	unsigned          rounds;
	atomic_uint       next;
	atomic_uint       taken;  /* rounds that some waiter has claimed to
				   * begin */
	atomic_uint       begun;  /* rounds begun, counted after the add */
	atomic_uint       offers; /* work items not taken yet */
	atomic_uint       worked; /* WORK per round */
};

/* --- workers ------------------------------------------------------------ */

static bool take_offer(struct relay *r)
{
	unsigned n = atomic_load(&r->offers);

	while (n)
		if (atomic_compare_exchange_weak(&r->offers, &n, n - 1))
			return true;
	return false;
}

static void work(void *argument)
{
	struct relay *r = argument;

	while (atomic_load(&r->worked) < WORK * r->rounds) {
		if (!take_offer(r)) {
			sennit_yield();
			continue;
		}
		atomic_fetch_add(&r->worked, 1);
		(void)sennit_wait_group_done(&r->group);
	}
}

/* --- waiters ------------------------------------------------------------ */

/* Whether the caller is the one waiter that begins this round. */
static bool undertake(struct relay *r, unsigned round)
{
	return atomic_compare_exchange_strong(&r->taken, &round, round + 1);
}

/* The previous round is over, and only the caller begins this one. */
static void begin_round(struct relay *r, unsigned round)
{
	sennit_wait_group_add(&r->group, WORK);
	atomic_store(&r->begun, round);
	atomic_fetch_add(&r->offers, WORK);
}

static bool wait_for_round(struct relay *r, uint64_t *random)
{
	if (random_below(random, 2)) {
		sennit_wait_group_wait(&r->group);
		return true;
	}
	return !sennit_wait_group_wait_until(
		&r->group, sennit_after(random_below(random, 20000)));
}

static void wait_for_rounds(void *argument)
{
	struct relay *r = argument;
	uint64_t      random = random_stream(atomic_fetch_add(&r->next, 1));
	unsigned      round;

	do {
		round = atomic_load(&r->begun);
		if (!wait_for_round(r, &random))
			continue;
		EXPECT(atomic_load(&r->worked) >= WORK * round);
		if (round < r->rounds && undertake(r, round))
			begin_round(r, round + 1);
		else
			sennit_yield();
	} while (round < r->rounds);
	sennit_wait_group_wait(&r->group);
}

TEST_WITH_WORKERS(the_next_round_may_begin_when_one_returned)
{
	const uint64_t rounds = LOAD(TORTURED(500, 30000));
	struct relay   r = { .rounds = (unsigned)scaled(rounds) };
	struct crowd   doers = { .s = w->s,
				 .run = work,
				 .argument = &r,
				 .tasks = 2,
				 .bound = 1,
				 .unbound = 1 };
	struct crowd   waiters = { .s = w->s,
				   .run = wait_for_rounds,
				   .argument = &r,
				   .tasks = 4,
				   .bound = 1,
				   .unbound = 1 };

	gather(&doers);
	gather(&waiters);
	disperse(&waiters);
	disperse(&doers);
	assert_int_equal(atomic_load(&r.worked), WORK * r.rounds);
	assert_int_equal(sennit_wait_group_wait_until(&r.group, 0), 0);
	sennit_wait_group_destroy(&r.group);
}
