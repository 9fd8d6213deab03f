/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cpu_masks.h"
#include "sched/mailbox.h"
#include "sched/steal.h"

#include "base/memory.h"
#include "base/torture.h"
#include "park/topology.h"
#include "life/worker_threads.h"
#include "sched/hooks.h"
#include "os/os.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/worker.h"

#include <errno.h>

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
	return sn_stacks_are_scarce(&w->scheduler->stacks)
		       ? 1
		       : TORTURED(2u, WORKER_STEAL_MOST);
}

/* Take a share of the victim's inbox. The rest goes back. If the victim has
 * closed in between, no worker may look there again. */
static uint32_t steal_from_inbox(struct worker *w, struct worker *victim)
{
	uint32_t n = sn_worker_take_queued(w, victim, sn_balance_parts(victim));

	/* <-> worker_threads.drain: put back, before looking again */
	a_fence();
	if (unlikely(sn_worker_threads_is_draining(victim)))
		sn_place_drain_inbox(victim);
	if (!sn_inbox_is_empty(&victim->mail.tasks))
		sn_parking_fill(&victim->sleeper);
	return n;
}

static bool rob(struct worker *w, struct worker *victim)
{
	struct task stolen[WORKER_STEAL_MOST];
	uint32_t    n = sn_deque_steal(sn_worker_deque(victim), stolen,
				       most_of(w));

	if (n)
		sn_run_queue_keep_stolen(&w->run, stolen, n);
	else if (!sn_inbox_is_empty(&victim->mail.tasks))
		n = steal_from_inbox(w, victim);
	sn_counters_count_steals(&w->counters, n);
	if (n)
		sn_hook_steal(w, victim, n);
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

static uint32_t next_victim_random(struct worker *w)
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
	if (sn_inbox_is_empty(&victim->mail.tasks))
		return true;
	sn_parking_wake(&victim->sleeper);
	TORTURE_POINT();
	return sn_mailbox_is_awaited(&victim->mail);
}

/* Whether another worker than w has fewer waiting fibers and could run the
 * victim's tasks: the victim, or one that searches or sleeps as w does. */
static bool is_for_others(const struct worker *w, const struct worker *victim)
{
	return sn_counters_blocked(&victim->counters) <
		       sn_counters_blocked(&w->counters) ||
	       sn_parking_idlers(victim->parking) > 1;
}

/* Whether w, which piles up, leaves the victim's tasks to the workers that will
 * come for them. */
static bool leave_to_victim(const struct worker *w, struct steal_search *h,
			    struct worker *victim, sennit_time now)
{
	if (is_left(victim)) {
		h->in_vain++;
		return true;
	}
	if ((!sn_deque_has_tasks(sn_worker_deque(victim)) &&
	     sn_inbox_is_empty(&victim->mail.tasks)) ||
	    !is_for_others(w, victim))
		return false;
	if (!h->since)
		h->since = now;
	h->in_vain = 0;
	h->victim = victim;
	return now - h->since < LEAVE_PATIENCE;
}

/* Visit one victim. Returns true if w now has tasks of its own. */
static bool visit_victim(struct worker *w, struct steal_search *h,
			 struct worker *victim, sennit_time now)
{
	if (h->leaves && leave_to_victim(w, h, victim, now))
		return false;
	if (rob(w, victim))
		return true;
	if (!sn_deque_ask(sn_worker_deque(victim))) {
		h->in_vain++;
		return false;
	}
	h->in_vain = 0;
	h->victim = victim;
	if (!h->since)
		h->since = now;
	return now - h->since >= FORCE_PATIENCE && force(w, victim, now);
}

/* The same for the worker with this index. One that is empty is left alone: its
 * cache lines are not even read. w itself is none. */
static bool visit_number(struct worker *w, struct steal_search *h,
			 uint32_t index, sennit_time now)
{
	if (index == w->index)
		return false;
	if (sn_parking_is_empty(w->parking, index)) {
		h->in_vain++;
		return false;
	}
	return visit_victim(w, h, w->scheduler->workers[index], now);
}

/* Visit all other workers, beginning anywhere. */
static bool visit_all(struct worker *w, struct steal_search *h, uint32_t extent,
		      sennit_time now)
{
	uint32_t first = next_victim_random(w) % extent;

	for (uint32_t i = 0; i < extent; i++) {
		if (visit_number(w, h, (first + i) % extent, now))
			return true;
	}
	return false;
}

static void begin_tour(struct worker *w, struct steal_search *h,
		       uint32_t extent)
{
	sn_steal_order_begin(&h->tour, &w->steal.rings, next_victim_random(w));
	h->on_tour = true;
	if (w->steal.last_victim != w->index && w->steal.last_victim < extent)
		h->victim = w->scheduler->workers[w->steal.last_victim];
	w->steal.last_victim = w->index; /* it counts only once */
}

/* Visit the worker that last had tasks, and some others: see
 * park/topology.h. */
static bool visit_some(struct worker *w, struct steal_search *h,
		       uint32_t extent, sennit_time now)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          victims[STEAL_ORDER_TRIES];
	struct worker    *victim;
	uint32_t          n;

	if (!h->on_tour)
		begin_tour(w, h, extent);
	victim = h->victim;
	h->victim = NULL;
	if (victim && visit_victim(w, h, victim, now))
		return true;
	n = sn_steal_order_round(&h->tour, &w->steal.rings, s->places, extent,
				 victims);
	for (uint32_t i = 0; i < n; i++)
		if (visit_number(w, h, victims[i], now))
			return true;
	return false;
}

bool sn_steal(struct worker *w, struct steal_search *h, sennit_time now)
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
static bool worker_has_tasks(const sennit_scheduler *s, uint32_t index)
{
	const struct worker *x = s->workers[index];

	return !sn_parking_is_empty(&s->parking, index) &&
	       (sn_deque_has_tasks(sn_worker_deque(x)) ||
		!sn_inbox_is_empty(&x->mail.tasks));
}

bool sn_steal_sees_tasks(struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	uint32_t                extent = sn_worker_counts_extent(&s->counts);

	for (uint32_t i = 0; i < extent; i++) {
		if (i != w->index && worker_has_tasks(s, i)) {
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
		if (i != w->index && worker_has_tasks(s, i) &&
		    !(leaves && is_left(s->workers[i]))) {
			w->steal.last_victim = i;
			return true;
		}
	}
	return false;
}

/* --- balance -------------------------------------------------------------- */

/* The maximum number of workers that tasks are dealt to at a time, and of
 * workers that are examined for that. */
#define HANDS        16u
#define VICTIM_LOOKS 17u

/* A worker deals again when so many more waits have begun. */
#define DEAL_WAITS 2u

/* Of how many tasks one waits is judged by the last tasks, about so many. */
#define RECENT 128u

/* Note that `waits` tasks have begun to wait, and `ends` have ended. */
static void count_recent(struct balance_state *b, uint64_t waits, uint64_t ends)
{
	while (waits + ends > RECENT) {
		waits /= 2;
		ends /= 2;
	}
	if (b->tasks > RECENT) {
		b->waits /= 2;
		b->tasks /= 2;
	}
	b->waits += (uint32_t)waits;
	b->tasks += (uint32_t)(waits + ends);
}

bool sn_balance_piles_up(struct worker *w)
{
	struct balance_state *b = &w->balance;
	uint64_t              blocked = sn_counters_blocked(&w->counters);
	uint64_t              tasks = sn_counters_tasks(&w->counters);
	int64_t               more = (int64_t)(blocked - b->seen_blocked);
	int64_t               ends = (int64_t)(tasks - b->seen_tasks);
	int64_t pile = (int64_t)b->pile + more * SHARE_WAIT - ends;

	b->seen_blocked = blocked;
	b->seen_tasks = tasks;
	b->pile = pile < 0                ? 0
		  : pile > SHARE_PILE_MAX ? SHARE_PILE_MAX
					  : (uint32_t)pile;
	count_recent(b, more > 0 ? (uint64_t)more : 0, (uint64_t)ends);
	return b->pile >= SHARE_PILE;
}

uint32_t sn_balance_parts(const struct worker *victim)
{
	uint32_t parts = sn_parking_idlers(victim->parking);

	if (!sn_mailbox_is_awaited(
		    &victim->mail)) /* stale: one part more or less */
		parts++;
	return parts > 2 ? parts : 2;
}

/* --- dealing ------------------------------------------------------------ */

/* Whether x has nothing to do and no tasks in its mailbox. If this is stale, a
 * task goes to a worker that is now busy, from which others may steal it. */
static bool is_waiting(const struct worker *x)
{
	return sn_mailbox_is_awaited(&x->mail) &&
	       sn_inbox_is_empty(&x->mail.tasks);
}

/* Begin with the next worker by index, so that not all workers deal to the same
 * one. */
static uint32_t find_hands(const struct worker *w, struct worker *hands[])
{
	const sennit_scheduler *s = w->scheduler;
	/* A stale value is harmless: a worker that closes passes its tasks
	 * on. */
	uint32_t open = sn_worker_counts_open(&s->counts);
	uint32_t looks = open < VICTIM_LOOKS ? open : VICTIM_LOOKS;
	uint32_t n = 0;

	for (uint32_t i = 1; i < looks && n < HANDS; i++) {
		struct worker *x = s->workers[(w->index + i) % open];

		if (x != w && is_waiting(x))
			hands[n++] = x;
	}
	return n;
}

/* The tasks of which about n wait, by those of w that were counted last. */
static int64_t tasks_for(const struct worker *w, int64_t n)
{
	return w->balance.waits ? n * w->balance.tasks / w->balance.waits : n;
}

/* How many of n tasks x gets, if there are `parts` parts: as many as give all
 * an equal number of waiting fibers. */
static uint32_t hand_of(const struct worker *w, const struct worker *x,
			uint32_t n, uint32_t parts)
{
	int64_t more = (int64_t)sn_counters_blocked(&w->counters) -
		       (int64_t)sn_counters_blocked(&x->counters);
	int64_t hand = ((int64_t)n + tasks_for(w, more)) / parts;

	if (hand > n)
		hand = n;
	return hand > 0 ? (uint32_t)hand : 0;
}

/* Give up to n of w's oldest tasks to x. Returns their number. */
static uint32_t deal_to(struct worker *w, struct worker *x, uint32_t n)
{
	struct node *newest = NULL, *oldest = NULL;
	uint32_t     dealt = 0;

	while (dealt < n) {
		struct queued_task *p = sn_pool_take(&w->cache);

		if (!p)
			break;
		if (!sn_deque_pop_oldest(sn_worker_deque(w), &p->task)) {
			sn_pool_give(&w->cache, p);
			break;
		}
		p->node.next = newest;
		newest = &p->node;
		if (!oldest)
			oldest = &p->node;
		dealt++;
	}
	if (dealt)
		sn_place_push_to_inbox(x, newest, oldest);
	return dealt;
}

void sn_balance_deal(struct worker *w)
{
	struct worker *hands[HANDS];
	uint32_t       left, n, dealt = 0;

	if (!w->threaded || w->run.draining ||
	    sn_counters_blocks(&w->counters) - w->balance.dealt_at <
		    DEAL_WAITS ||
	    !sn_balance_piles_up(w))
		return;
	left = sn_deque_count(sn_worker_deque(w));
	/* Where stacks are scarce, the worker that has one starts what it
	 * can. */
	if (left < 2 || sn_stacks_are_scarce(&w->scheduler->stacks))
		return;
	n = find_hands(w, hands);
	if (n)
		w->balance.dealt_at = sn_counters_blocks(&w->counters);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hand = hand_of(w, hands[i], left - dealt, n - i + 1);

		if (hand)
			dealt += deal_to(w, hands[i], hand);
	}
	if (!dealt)
		return;
	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(w->parking, hands[0]->index);
}

/* --- topology ------------------------------------------------------------- */

static const sennit_cpu_place unknown_cpu_place = { STEAL_ORDER_NOWHERE,
						    STEAL_ORDER_NOWHERE,
						    STEAL_ORDER_NOWHERE };

bool sn_topology_own_cpus(const sennit_scheduler *s, uint32_t i,
			  sennit_cpu_mask *out)
{
	sennit_cpu_mask first = sn_cpu_masks_get(&s->masks, 0);

	switch (s->config.affinity) {
	case SENNIT_AFFINITY_ONE_OF:
		*out = (sennit_cpu_mask){ &first.cpus[i % first.count], 1 };
		return true;
	case SENNIT_AFFINITY_MASKS:
		*out = sn_cpu_masks_get(&s->masks, i);
		return true;
	case SENNIT_AFFINITY_DISJOINT:
		*out = sn_cpu_partition_get(first, i, s->config.workers);
		return true;
	default:
		return false;
	}
}

static sennit_cpu_place place_of_cpu(const sennit_scheduler *s, uint32_t cpu)
{
	const sennit_config *c = &s->config;
	sennit_cpu_place     p = unknown_cpu_place;

	if (!(c->cpu_place ? c->cpu_place(c->cpu_place_context, cpu, &p)
			   : os_cpu_place("", cpu, &p)))
		return unknown_cpu_place;
	return p;
}

/* The place that the first and the last CPU of worker i's mask share. The other
 * CPUs usually lie between them. If they do not, only the steal order gets
 * worse. */
static sennit_cpu_place place_of_worker(const sennit_scheduler *s, uint32_t i)
{
	sennit_cpu_place a, b;
	sennit_cpu_mask  own;

	if (!sn_topology_own_cpus(s, i, &own))
		return unknown_cpu_place;
	a = place_of_cpu(s, own.cpus[0]);
	if (own.count == 1)
		return a;
	b = place_of_cpu(s, own.cpus[own.count - 1]);
	if (a.node != b.node)
		return unknown_cpu_place;
	if (a.cache != b.cache)
		a.cache = STEAL_ORDER_NOWHERE;
	if (a.cache != b.cache || a.core != b.core)
		a.core = STEAL_ORDER_NOWHERE;
	return a;
}

/* Sort the CPUs of the only mask by their places. */
static int sort_cpus(sennit_scheduler *s)
{
	struct topology_slot *slots;
	uint32_t *const       cpus = sn_cpu_masks_cpus(&s->masks);
	const size_t          n = sn_cpu_masks_get(&s->masks, 0).count;
	const size_t          size = n * (sizeof(*slots) + sizeof(*cpus));

	if (n > UINT32_MAX / (sizeof(*slots) + sizeof(*cpus)))
		return -ENOMEM;
	slots = sn_memory_take(&s->memory, size,
			       _Alignof(struct topology_slot));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		slots[i].place = place_of_cpu(s, cpus[i]);
	sn_cpu_partition_sort(cpus, slots, (uint32_t *)&slots[n], (uint32_t)n);
	sn_memory_give(&s->memory, slots, size);
	return 0;
}

int sn_topology_init(sennit_scheduler *s)
{
	uint32_t n = s->capacity;
	int      err;

	if (n && s->config.affinity == SENNIT_AFFINITY_DISJOINT) {
		err = sort_cpus(s);
		if (err)
			return err;
	}
	if (n <= STEAL_ORDER_TRIES + 1)
		return 0;
	s->places = sn_memory_take(&s->memory, n * sizeof(*s->places),
				   _Alignof(struct topology_slot));
	if (!s->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		s->places[i].place = place_of_worker(s, i);
	sn_steal_order_sort(s->places, n);
	for (uint32_t i = 0; i < n; i++) {
		struct worker *w = s->workers[s->places[i].worker];

		sn_steal_set_neighbours(&w->steal, s->places, n, i);
	}
	return 0;
}
