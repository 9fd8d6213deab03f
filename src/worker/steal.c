/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/steal.h"

#include "base/torture.h"
#include "worker/balance.h"
#include "worker/observe.h"
#include "worker/worker_threads.h"

/* An owner that has not answered for this long runs a long task. */
#define FORCE_PATIENCE (2 * SENNIT_MICROSECOND)

/* A forced take interrupts every running thread of the process, so this limits
 * how often it happens to one victim. */
#define FORCE_INTERVAL (20 * SENNIT_MICROSECOND)

/* How long a worker that piles up leaves the tasks of busy workers to them.
 * Turning that many tasks into fibers takes less time. */
#define LEAVE_PATIENCE (TORTURED(5000, 20) * SENNIT_MICROSECOND)

/* Where stacks are scarce, take only what can start at once. The rest might
 * have to wait here for a stack, while their victim has one. */
static uint32_t most_of(const struct worker *w)
{
	return sn_stacks_are_scarce(&w->scheduler->stacks) ? 1 : WORKER_LOOT;
}

/* Take a share of the victim's inbox. The rest goes back. If the victim has
 * closed in between, no worker may look there again. */
static uint32_t share(struct worker *w, struct worker *victim)
{
	uint32_t n = sn_worker_take_parcels(w, victim,
					    sn_balance_parts(victim));

	/* <-> worker_threads.drain: put back, before looking again */
	a_fence();
	if (unlikely(sn_worker_threads_is_draining(victim)))
		sn_worker_threads_forward(victim);
	if (sn_mailbox_has_tasks(&victim->mail))
		sn_parking_fill(&victim->sleeper);
	return n;
}

static bool rob(struct worker *w, struct worker *victim)
{
	struct task loot[WORKER_LOOT];
	uint32_t n = sn_deque_steal(sn_worker_deque(victim), loot, most_of(w));

	if (n)
		sn_run_queue_keep_loot(&w->run, loot, n);
	else if (sn_mailbox_has_tasks(&victim->mail))
		n = share(w, victim);
	sn_counters_count_steals(&w->counters, n);
	if (n)
		sn_observe_steal(w, victim, n);
	return n;
}

/* The victim has had private tasks for a while without publishing. */
static bool force(struct worker *w, struct worker *victim, sennit_time now)
{
	sennit_time last = a_load_rlx(&victim->forced);

	/* A stale value is harmless: two thieves force at once, and one finds
	 * the lock held. */
	if (now < last + FORCE_INTERVAL)
		return false;
	a_store_rlx(&victim->forced, now);
	return sn_deque_force(sn_worker_deque(victim)) && rob(w, victim);
}

static uint32_t next_random(struct worker *w)
{
	w->steal.random ^= w->steal.random << 13;
	w->steal.random ^= w->steal.random >> 17;
	w->steal.random ^= w->steal.random << 5;
	return w->steal.random;
}

/* Whether the tasks in the victim's inbox are left to it. If there are any, the
 * victim is woken, because their producer may have relied on this worker. A
 * victim that retires can neither be woken nor come for them. It says so before
 * it can no longer be woken, so the second look sees it. */
static bool is_left(struct worker *victim)
{
	if (!sn_mailbox_is_awaited(&victim->mail))
		return false;
	if (!sn_mailbox_has_tasks(&victim->mail))
		return true;
	sn_parking_wake(&victim->sleeper);
	TORTURE_POINT();
	return sn_mailbox_is_awaited(&victim->mail);
}

/* Whether another worker than w has fewer waiting fibers and could run the
 * victim's tasks: the victim, or one that searches or sleeps as w does. */
static bool is_for_others(const struct worker *w, const struct worker *victim)
{
	return sn_worker_blocked(victim) < sn_worker_blocked(w) ||
	       sn_parking_idlers(victim->parking) > 1;
}

/* Whether w, which piles up, leaves the victim's tasks to the workers that will
 * come for them. */
static bool leave(const struct worker *w, struct heist *h,
		  struct worker *victim, sennit_time now)
{
	if (is_left(victim)) {
		h->in_vain++;
		return true;
	}
	if ((!sn_deque_has_tasks(sn_worker_deque(victim)) &&
	     !sn_mailbox_has_tasks(&victim->mail)) ||
	    !is_for_others(w, victim))
		return false;
	if (!h->since)
		h->since = now;
	h->in_vain = 0;
	h->prey = victim;
	return now - h->since < LEAVE_PATIENCE;
}

/* Visit one victim. Returns true if w now has tasks of its own. */
static bool visit(struct worker *w, struct heist *h, struct worker *victim,
		  sennit_time now)
{
	if (h->leaves && leave(w, h, victim, now))
		return false;
	if (rob(w, victim))
		return true;
	if (!sn_deque_ask(sn_worker_deque(victim))) {
		h->in_vain++;
		return false;
	}
	h->in_vain = 0;
	h->prey = victim;
	if (!h->since)
		h->since = now;
	return now - h->since >= FORCE_PATIENCE && force(w, victim, now);
}

/* The same for the worker with this index. One that is empty is left alone: its
 * cache lines are not even read. w itself is none. */
static bool visit_number(struct worker *w, struct heist *h, uint32_t index,
			 sennit_time now)
{
	if (index == w->index)
		return false;
	if (sn_parking_is_empty(w->parking, index)) {
		h->in_vain++;
		return false;
	}
	return visit(w, h, w->scheduler->workers[index], now);
}

/* Visit all other workers, beginning anywhere. */
static bool visit_all(struct worker *w, struct heist *h, uint32_t extent,
		      sennit_time now)
{
	uint32_t first = next_random(w) % extent;

	for (uint32_t i = 0; i < extent; i++) {
		if (visit_number(w, h, (first + i) % extent, now))
			return true;
	}
	return false;
}

static void begin_tour(struct worker *w, struct heist *h, uint32_t extent)
{
	sn_steal_order_begin(&h->tour, &w->steal.rings, next_random(w));
	h->on_tour = true;
	if (w->steal.last_victim != w->index && w->steal.last_victim < extent)
		h->prey = w->scheduler->workers[w->steal.last_victim];
	w->steal.last_victim = w->index; /* it counts only once */
}

/* Visit the worker that last had tasks, and some others: see
 * core/steal_order.h. */
static bool visit_some(struct worker *w, struct heist *h, uint32_t extent,
		       sennit_time now)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          victims[STEAL_ORDER_TRIES];
	struct worker    *prey;
	uint32_t          n;

	if (!h->on_tour)
		begin_tour(w, h, extent);
	prey = h->prey;
	h->prey = NULL;
	if (prey && visit(w, h, prey, now))
		return true;
	n = sn_steal_order_round(&h->tour, &w->steal.rings, s->places, extent,
				 victims);
	for (uint32_t i = 0; i < n; i++)
		if (visit_number(w, h, victims[i], now))
			return true;
	return false;
}

bool sn_steal(struct worker *w, struct heist *h, sennit_time now)
{
	uint32_t extent = sn_worker_counts_extent(
		&w->scheduler->counts); /* see worker_threads.h */
	bool few = extent <= STEAL_ORDER_TRIES + 1;

	if (few ? visit_all(w, h, extent, now) : visit_some(w, h, extent, now))
		return true;
	if (h->in_vain + 1 >= extent)
		h->since = 0;
	return false;
}

/* Whether the worker with this index has tasks. Reads nothing of it if it is
 * empty: with many workers nearly all are, and each would cost two lines. */
static bool has_tasks(const sennit_scheduler *s, uint32_t index)
{
	const struct worker *x = s->workers[index];

	return !sn_parking_is_empty(&s->parking, index) &&
	       (sn_deque_has_tasks(sn_worker_deque(x)) ||
		sn_mailbox_has_tasks(&x->mail));
}

bool sn_steal_sees_tasks(struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	uint32_t                extent = sn_worker_counts_extent(&s->counts);

	for (uint32_t i = 0; i < extent; i++) {
		if (i != w->index && has_tasks(s, i)) {
			w->steal.last_victim = i;
			return true;
		}
	}
	return false;
}

bool sn_steal_is_possible(struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	uint32_t                extent = sn_worker_counts_extent(&s->counts);
	bool                    leaves = sn_balance_piles_up(w);

	for (uint32_t i = 0; i < extent; i++) {
		if (i != w->index && has_tasks(s, i) &&
		    !(leaves && is_left(s->workers[i]))) {
			w->steal.last_victim = i;
			return true;
		}
	}
	return false;
}
