/* SPDX-License-Identifier: Apache-2.0 */
#include "sync/mutex.h"

#include "base/torture.h"
#include "os/os.h"
#include "sync/mutex_bias.h"

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

/* --- mutex look ----------------------------------------------------------- */

/* A look at the lock fetches its cache line from the worker that uses it, which
 * costs about 100 ns. One look that finds it free means little: while another
 * worker locks and unlocks it in a loop, the lock is free half of the time. The
 * lock counts as free if it is still free after FREE_PAUSES, within which such
 * a worker would have locked it again. */
#define HELD_PAUSES 2
#define FREE_PAUSES 8
#define LOOKS       TORTURED(3, 32) /* in a row: about 800 ns */
#define FREE_COMER \
	2 /* looks in a row that must find it free, before queueing
		       * up */
#define FREE_GUARD \
	4 /* the same for a guard, which will be handed the lock
		       * anyway */

/* GUARD_NS is how long a guard looks, SECOND_LOOK when it looks for the second
 * time. After that the interval doubles with each look. So a free lock stays
 * free for at most as long again as the guard has waited. */
#define GUARD_NS    TORTURED(0, 20 * SENNIT_MICROSECOND)
#define SECOND_LOOK TORTURED(0, 4 * SENNIT_MICROSECOND)

bool sn_mutex_barge(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & (HELD | WAIT_QUEUE_LOCKED))) {
		if (unlikely(word & BIASED)) {
			sn_mutex_unbias(m);
			word = a_load_rlx(&m->state_); /* the CAS checks it */
			continue;
		}
		/* <- mutex.unlock */
		if (a_cas_weak_acq(&m->state_, &word, word | HELD))
			return true;
	}
	return false;
}

bool sn_mutex_is_busy(void)
{
	const struct worker *w = sn_self;

	return w && (sn_run_queue_has_ready(&w->run) ||
		     sn_mailbox_has_fibers(&w->mail) ||
		     sn_mailbox_has_tasks(&w->mail) ||
		     sn_run_queue_has_task(&w->run));
}

/* Whether the holder runs on the caller's worker: then it cannot unlock while
 * the caller looks. A stale answer costs one wait, or some useless looks. */
static bool is_held_here(sennit_mutex *m)
{
	uint32_t mine = sn_mutex_mark();
	uint32_t last = a_load_rlx(&m->worker_) & ~BIAS_REVOKED;

	return mine && (mine ^ last) < STREAK;
}

static void pause_for(uint32_t pauses)
{
	for (uint32_t i = 0; i < pauses; i++)
		a_pause();
}

/* Look up to LOOKS times. Take the lock when `times` looks in a row have found
 * it free. */
static bool look(sennit_mutex *m, uint32_t times)
{
	uint32_t free = 0;

	if (is_held_here(m))
		return false;
	for (uint32_t i = 0; i < LOOKS; i++) {
		/* A stale value costs one look. */
		bool held = a_load_rlx(&m->state_) & (HELD | WAIT_QUEUE_LOCKED);

		if (held && free)
			return false;
		if (!held && ++free == times)
			return sn_mutex_barge(m);
		pause_for(held ? HELD_PAUSES : FREE_PAUSES);
	}
	return false;
}

/* Do not look at the lock until `then`. Returns false if the worker has other
 * work. */
static bool pause_until(sennit_time then)
{
	do {
		if (sn_mutex_is_busy())
			return false;
		a_pause();
	} while (os_now() < then);
	return true;
}

bool sn_mutex_look(sennit_mutex *m)
{
	return look(m, FREE_COMER);
}

bool sn_mutex_look_long(sennit_mutex *m, sennit_time deadline)
{
	sennit_time now = os_now();
	sennit_time end = now + GUARD_NS;
	sennit_time step = SECOND_LOOK;

	if (end > deadline)
		end = deadline;
	for (;; step *= 2) {
		if (look(m, FREE_GUARD))
			return true;
		if (!pause_until(now + step))
			return false;
		now = os_now();
		if (now >= end)
			return false;
	}
}
