/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/steal.h"

/* An owner that has not answered for so long runs a long task. */
#define FORCE_PATIENCE (2 * SENNIT_MICROSECOND)

/* Force interrupts every running thread of the process: not too often on the
 * same victim. */
#define FORCE_INTERVAL (20 * SENNIT_MICROSECOND)

/* In such an order that the oldest runs first. An empty deque has room for the
 * loot. */
static void keep(struct worker *w, const struct task loot[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK(sn_deque_push(&w->deque,
				    loot[w->oldest_first ? i : n - 1 - i]) == 0,
		      "no room for stolen tasks in an empty deque");
}

static bool rob(struct worker *w, struct worker *victim)
{
	struct task loot[WORKER_LOOT];
	uint32_t    n = sn_deque_steal(&victim->deque, loot, WORKER_LOOT);

	if (n)
		keep(w, loot, n);
	else if (!sn_inbox_is_empty(&victim->tasks_in))
		n = sn_worker_take_parcels(w, &victim->tasks_in);
	a_store_rlx(&w->steals, a_load_rlx(&w->steals) + n);
	return n;
}

/* The victim has shown private tasks for a while and publishes none. */
static bool force(struct worker *w, struct worker *victim, sennit_time now)
{
	sennit_time last = a_load_rlx(&victim->forced);

	/* Stale: two thieves force at once, and one finds the lock taken. */
	if (now < last + FORCE_INTERVAL)
		return false;
	a_store_rlx(&victim->forced, now);
	return sn_deque_force(&victim->deque) && rob(w, victim);
}

static uint32_t next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->random;
}

bool sn_steal(struct worker *w, struct heist *h, sennit_time now)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          extent = a_load_rlx(&s->extent); /* see staff.h */
	uint32_t          first = next_random(w) % extent;
	bool              asked = false;

	for (uint32_t i = 0; i < extent; i++) {
		struct worker *victim = s->workers[(first + i) % extent];

		if (victim == w)
			continue;
		if (rob(w, victim))
			return true;
		if (!sn_deque_ask(&victim->deque))
			continue;
		asked = true;
		if (h->since && now - h->since >= FORCE_PATIENCE &&
		    force(w, victim, now))
			return true;
	}
	if (!asked)
		h->since = 0;
	else if (!h->since)
		h->since = now;
	return false;
}

bool sn_steal_is_possible(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	uint32_t                extent = a_load_rlx(&s->extent);

	/* Stale: whoever adds a worker wakes for it what it must. */
	for (uint32_t i = 0; i < extent; i++) {
		const struct worker *victim = s->workers[i];

		if (victim != w && (sn_deque_has_tasks(&victim->deque) ||
				    !sn_inbox_is_empty(&victim->tasks_in)))
			return true;
	}
	return false;
}
