/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/balance.h"

#include "worker/worker_threads.h"

/* The maximum number of workers that tasks are dealt to at a time, and of
 * workers that are examined for that. */
#define HANDS 16u
#define LOOKS 17u

bool sn_balance_piles_up(struct worker *w)
{
	uint64_t blocked = sn_worker_blocked(w);
	uint64_t tasks = sn_counters_tasks(&w->counters);
	int64_t  pile = (int64_t)w->balance.pile +
		       (int64_t)(blocked - w->balance.seen_blocked) -
		       (int64_t)(tasks - w->balance.seen_tasks);

	w->balance.seen_blocked = blocked;
	w->balance.seen_tasks = tasks;
	w->balance.pile = pile < 0                ? 0
			  : pile > SHARE_PILE_MAX ? SHARE_PILE_MAX
						  : (uint32_t)pile;
	return w->balance.pile >= SHARE_PILE;
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
	       !sn_mailbox_has_tasks(&x->mail);
}

/* Begin with the next worker by index, so that not all workers deal to the same
 * one. */
static uint32_t find_hands(const struct worker *w, struct worker *hands[])
{
	const sennit_scheduler *s = w->scheduler;
	/* A stale value is harmless: a worker that closes passes its tasks
	 * on. */
	uint32_t open = sn_worker_counts_open(&s->counts);
	uint32_t looks = open < LOOKS ? open : LOOKS;
	uint32_t n = 0;

	for (uint32_t i = 1; i < looks && n < HANDS; i++) {
		struct worker *x = s->workers[(w->index + i) % open];

		if (x != w && is_waiting(x))
			hands[n++] = x;
	}
	return n;
}

/* How many of n tasks x gets, if there are `parts` parts. The number is so low
 * that x has no more fibers than w even if all these tasks wait. */
static uint32_t hand_of(const struct worker *w, const struct worker *x,
			uint32_t n, uint32_t parts)
{
	int64_t more = (int64_t)(sn_worker_blocked(w) + n) -
		       (int64_t)sn_worker_blocked(x);
	int64_t hand = n / parts;

	if (hand > more / 2)
		hand = more / 2;
	return hand > 0 ? (uint32_t)hand : 0;
}

/* Give up to n of w's oldest tasks to x. Returns their number. */
static uint32_t deal_to(struct worker *w, struct worker *x, uint32_t n)
{
	struct node *newest = NULL, *oldest = NULL;
	uint32_t     dealt = 0;

	while (dealt < n) {
		struct parcel *p = sn_pool_take(&w->cache);

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
		sn_worker_threads_leave_with(x, newest, oldest);
	return dealt;
}

void sn_balance_deal(struct worker *w)
{
	struct worker *hands[HANDS];
	uint32_t       left, n, dealt = 0;

	if (!w->threaded || sn_run_queue_is_draining(&w->run) ||
	    sn_counters_blocks(&w->counters) - w->balance.dealt_at <
		    SHARE_PILE ||
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
