/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - fibers, bound and unbound threads take auto events: one
 * event, one of several and all of several, with random deadlines. Each event
 * must have one owner at a time, and none may be lost.
 */
#include "../api/with_workers.h"
#include "../random.h"
#include "deadlines.h"

enum { EVENTS = 5, TASKS = 10, THREADS = 3, ALL = TASKS + THREADS };

struct table {
	sennit_scheduler *s;
	sennit_event      forks[EVENTS];
	atomic_uint       owners[EVENTS];
	sennit_wait_group done;
	atomic_uint       next;
	unsigned          rounds;
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

/* Choose n different forks, in any order. */
static void choose(struct table *t, sennit_event **chosen, unsigned n,
		   uint64_t *random)
{
	unsigned first = random_below(random, EVENTS);
	unsigned step = 1 + random_below(random, EVENTS - 1);
	unsigned i;

	for (i = 0; i < n; i++)
		chosen[i] = &t->forks[(first + i * step) % EVENTS];
}

static void eat(struct table *t, uint64_t *random)
{
	const unsigned    n = 1 + random_below(random, EVENTS);
	const unsigned    how = random_below(random, 3);
	const sennit_time deadline = soon_or_never(random);
	sennit_event     *chosen[EVENTS];
	size_t            first = 0, last = n - 1, i;

	choose(t, chosen, n, random);
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
	unsigned      i;

	for (i = 0; i < t->rounds; i++)
		eat(t, &random);
	sennit_wait_group_done(&t->done);
}

static void *dine_unbound(void *argument)
{
	dine(argument);
	return NULL;
}

static void *dine_bound(void *argument)
{
	struct table *t = argument;

	EXPECT(sennit_bind(t->s) == 0);
	dine(t);
	sennit_unbind();
	return NULL;
}

TEST_WITH_WORKERS(each_event_has_one_owner)
{
	struct table t = { .s = w->s, .rounds = (unsigned)scaled(LOAD(8000)) };
	pthread_t    threads[THREADS];
	unsigned     i;

	for (i = 0; i < EVENTS; i++)
		sennit_event_init(&t.forks[i], SENNIT_EVENT_AUTO, true);
	sennit_wait_group_init(&t.done, ALL);
	for (i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(i ? dine_unbound : dine_bound,
					       &t);
	for (i = 0; i < TASKS; i++)
		must_schedule(dine, &t);
	sennit_wait_group_wait(&t.done);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < EVENTS; i++) {
		assert_true(sennit_event_is_set(&t.forks[i]));
		sennit_event_destroy(&t.forks[i]);
	}
}
