/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/balance.h"

#include "worker/worker_threads.h"

/* The maximum number of workers that tasks are dealt to at a time, and of
 * workers that are examined for that. */
#define HANDS 16u
#define LOOKS 17u

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
	uint64_t              blocked = sn_worker_blocked(w);
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
	int64_t more = (int64_t)sn_worker_blocked(w) -
		       (int64_t)sn_worker_blocked(x);
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
