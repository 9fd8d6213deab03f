/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - fibers, bound and unbound threads take auto events: one
 * event, one of several and all of several, with random deadlines. Sometimes
 * all of the several are the same event. Each event must have one owner at a
 * time, and none may be lost.
 */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"

enum { EVENTS = 5 };

struct table {
	sennit_event forks[EVENTS];
	atomic_uint  owners[EVENTS];
	atomic_uint  next;
	unsigned     rounds;
};

static void use(struct table *t, sennit_event *fork)
{
	EXPECT(atomic_fetch_add(&t->owners[fork - t->forks], 1) == 0);
}

static void put_back(struct table *t, sennit_event *fork)
{
	EXPECT(atomic_fetch_sub(&t->owners[fork - t->forks], 1) == 1);
	sennit_event_set(fork);
}

/* Choose n different forks, in any order, or one of them n times. Returns how
 * many different ones there are. */
static unsigned choose(struct table *t, sennit_event **chosen, unsigned n,
		       uint64_t *random)
{
	unsigned first = random_below(random, EVENTS);
	unsigned step = random_below(random, EVENTS);

	for (unsigned i = 0; i < n; i++)
		chosen[i] = &t->forks[(first + i * step) % EVENTS];
	return step ? n : 1;
}

static void eat(struct table *t, uint64_t *random)
{
	const unsigned    n = 1 + random_below(random, EVENTS);
	const unsigned    how = random_below(random, 3);
	const sennit_time deadline = soon_or_never(random);
	sennit_event     *chosen[EVENTS];
	const unsigned    different = choose(t, chosen, n, random);
	size_t            first = 0, last = different - 1, i;

	if (how == 0) {
		if (sennit_event_wait_all_until(chosen, n, deadline))
			return;
	} else if (how == 1) {
		if (sennit_event_wait_any_until(chosen, n, &first, deadline))
			return;
		last = first;
	} else {
		if (sennit_event_wait_until(chosen[0], deadline))
			return;
		last = 0;
	}
	for (i = first; i <= last; i++)
		use(t, chosen[i]);
	if (!random_below(random, 8))
		sennit_yield();
	for (i = first; i <= last; i++)
		put_back(t, chosen[i]);
}

static void dine(void *argument)
{
	struct table *t = argument;
	uint64_t      random = random_stream(atomic_fetch_add(&t->next, 1));

	for (unsigned i = 0; i < t->rounds; i++)
		eat(t, &random);
}

TEST_WITH_WORKERS(each_event_has_one_owner)
{
	struct table t = { .rounds = (unsigned)scaled(LOAD(8000)) };

	for (unsigned i = 0; i < EVENTS; i++)
		sennit_event_init(&t.forks[i],
				  SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	run_crowd((struct crowd){ .s = w->s,
				  .run = dine,
				  .argument = &t,
				  .tasks = 10,
				  .bound = 1,
				  .unbound = 2 });
	for (unsigned i = 0; i < EVENTS; i++) {
		assert_true(sennit_event_is_set(&t.forks[i]));
		sennit_event_destroy(&t.forks[i]);
	}
}
