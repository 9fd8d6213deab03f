/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mutex_queue.h"

#include "base/torture.h"
#include "os/os.h"

/* More waiters are woken when those that were woken have not come for this
 * long: their workers sleep, or run something else. */
#define OVERDUE_NS TORTURED(0, 5 * SENNIT_MICROSECOND)

/* How long the lock is held for a waiter that does not come. */
#define GRACE_NS TORTURED(0, SENNIT_MILLISECOND)

/* The maximum number of waiters that are examined for one of another worker. */
#define REACH 64

static struct turn *turn_of(void *link)
{
	return container_of(sn_wait_queue_first(link), struct turn, n);
}

static struct turn *next_of(const struct turn *t)
{
	return turn_of(t->n.link.next);
}

static bool is_elsewhere(const struct turn *t)
{
	return t->n.home != sn_self;
}

/* --- joining and leaving ------------------------------------------------ */

/* If all waiters so far belong to one worker, a waiter of another worker may be
 * the one to wake. */
void sn_mutex_join(sennit_mutex *m, struct turn *t, uint32_t *word)
{
	if (m->waiters_ && turn_of(m->waiters_)->n.home != t->n.home) {
		turn_of(m->waiters_)->own = 0;
		*word &= ~AWAKE;
	}
	sn_wait_queue_join(&m->waiters_, &t->n, false);
}

/* The first waiter polls only while the lock is HANDED. A hand-over skips it if
 * it was late. The lock may then be held for a waiter whose worker is busy
 * while the first one's is not. */
bool sn_mutex_must_poll(const sennit_mutex *m, const struct turn *t,
			uint32_t word)
{
	if (m->waiters_ == (void *)&t->n.link)
		return word & HANDED;
	return turn_of(t->n.link.prev)->n.home != t->n.home;
}

/* Mark t as awake, and wake it, unless its deadline or its scope already
 * has. */
static void wake(struct turn *t, struct turn **woken)
{
	t->awake = true;
	if (t->n.is.raced && !sn_waiter_claim(&t->n))
		return;
	t->woken = *woken;
	*woken = t;
}

/* The next waiter may have relied on t to poll: it is woken so that it polls
 * itself. And when the lock is left free, the first waiter must be woken, even
 * if it has just become the first. */
void sn_mutex_leave(sennit_mutex *m, struct turn *t, uint32_t *word,
		    struct turn **woken)
{
	struct turn *next = next_of(t);
	bool         first = m->waiters_ == (void *)&t->n.link;

	sn_wait_queue_leave(&m->waiters_, &t->n);
	if (first) {
		*word &= ~AWAKE;
		next->own = t->own ? t->own - 1 : 0;
	}
	if (m->waiters_ && !next->awake && !next->polls && !next->stopped &&
	    sn_mutex_must_poll(m, next, *word))
		wake(next, woken);
}

/* --- waking ------------------------------------------------------------- */

/* They poll again, until they stop again. */
void sn_mutex_resume_polls(sennit_mutex *m, uint32_t *word, struct turn **woken)
{
	struct turn *first = turn_of(m->waiters_);
	struct turn *t = first;

	*word &= ~STOPPED;
	do {
		if (t->stopped && !t->awake)
			wake(t, woken);
		t = next_of(t);
	} while (t != first);
}

/* The first waiter that sleeps on another worker. NULL: none among the first
 * REACH. A long run of the caller's own worker is counted once (`own`), not at
 * every unlock. */
static struct turn *find_elsewhere(const sennit_mutex *m)
{
	struct turn *first = turn_of(m->waiters_);
	struct turn *t = first;
	uint32_t     own = 0;

	if (!is_elsewhere(first) && first->own)
		return NULL;
	for (uint32_t looked = 1; looked <= REACH; looked++) {
		if (!is_elsewhere(t))
			own++;
		else if (!t->awake)
			return t;
		t = next_of(t);
		if (t == first || looked == REACH) {
			first->own = own == looked ? own : 0;
			break;
		}
	}
	return NULL;
}

static void call(struct turn *t, uint32_t word, struct turn **woken)
{
	t->called = is_elsewhere(t);
	t->grants = word & GRANTS;
	wake(t, woken);
}

/* One waiter of the caller's own worker is enough: it can run only when the
 * caller has left. A waiter of another worker can come at once. */
void sn_mutex_call(sennit_mutex *m, uint32_t *word, struct turn **woken)
{
	struct turn *first = turn_of(m->waiters_);
	struct turn *other = NULL;

	if (first->awake || !is_elsewhere(first))
		other = find_elsewhere(m);
	if (other)
		call(other, *word, woken);
	if (!first->awake)
		call(first, *word, woken);
	first->since = 0;
	*word |= AWAKE;
}

bool sn_mutex_is_overdue(const sennit_mutex *m)
{
	struct turn *first = turn_of(m->waiters_);
	sennit_time  now = os_now();

	if (!first->since)
		first->since = now;
	return now >= first->since + OVERDUE_NS;
}

/* --- handing over ------------------------------------------------------- */

/* The first waiter, among the first REACH, that may come soon. NULL: none. If a
 * waiter was late, its worker is busy, so other waiters of that worker would be
 * late, too. */
static struct turn *find_heir(const sennit_mutex *m)
{
	struct turn         *first = turn_of(m->waiters_);
	struct turn         *t = first;
	const struct worker *busy = NULL;

	for (uint32_t looked = 0; looked < REACH; looked++) {
		if (t->late)
			busy = t->n.fiber ? t->n.home : NULL;
		else if (!busy || t->n.home != busy)
			return t;
		t = next_of(t);
		if (t == first)
			break;
	}
	return NULL;
}

bool sn_mutex_hand_over(sennit_mutex *m, uint32_t *word, struct turn **woken)
{
	struct turn *t = find_heir(m);

	*word &= ~(HANDOVER | AWAKE | GRANTS);
	if (!t)
		return false;
	t->heir = true;
	t->since = 0;
	*word |= HELD | HANDED;
	if (!t->awake)
		wake(t, woken);
	return true;
}

static struct turn *find_handed(const sennit_mutex *m)
{
	struct turn *t = turn_of(m->waiters_);

	while (!t->heir)
		t = next_of(t);
	return t;
}

bool sn_mutex_take_back(sennit_mutex *m, uint32_t *word)
{
	struct turn *t;
	sennit_time  now;

	if (!(*word & HANDED))
		return false;
	t = find_handed(m);
	now = os_now();
	if (!t->since)
		t->since = now;
	if (now < t->since + GRACE_NS)
		return false;
	t->heir = false;
	t->late = true;
	*word &= ~HANDED;
	return true;
}
