/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - barging, with a guard that looks after those who wait.
 *
 *	word   { how often given back while AWAKE : 26 | AWAKE | HANDOVER |
 *		 HELD | queue bits }
 *
 * Whoever comes first may take a free lock, also past waiters: a lock that is
 * handed to a sleeper lies idle until that has woken. Of those who wait, one at
 * a time is awake. It is woken by an unlock, comes back to the front of the
 * queue, and looks from there now and then: the guard. While there is one the
 * word shows no waiters, and locks and unlocks cost what they do without. A
 * guard that found nothing for GUARD_NS asks for a hand-over: the next unlock
 * passes the lock on without freeing it, so nobody starves.
 *
 * So a lock stays some 20 us with a worker whose fibers want nothing else.
 *
 * owner_ and worker_ are written by the holder alone. Others read them as
 * hints, or to compare with themselves, which a stale value cannot equal.
 *
 * docs/design/mutex.md; checked by test/model/mutex.pml.
 */
#include "sennit/mutex.h"

#include "base/check.h"
#include "base/torture.h"
#include "os/os.h"
#include "sched/wait.h"
#include "sched/worker.h"

#include <errno.h>

#define HELD     QUEUE_OWN
#define HANDOVER (QUEUE_OWN << 1) /* the next unlock passes it on; held */
#define AWAKE    (QUEUE_OWN << 2) /* who was woken has not come back yet */
#define GIVEN    (QUEUE_OWN << 3) /* counted, with waiters and one awake */

/* A look at the lock takes it from the cache of whoever works with it, some
 * 100 ns. That it is free says little: so it is for half of the time while
 * another worker locks and unlocks it in a loop. It is free when it still is
 * after FREE_PAUSES, in which such a one has it again. */
#define HELD_PAUSES 2
#define FREE_PAUSES 8
#define LOOKS       TORTURED(3, 32) /* in a row: some 800 ns */
#define FREE_COMER  2 /* looks that must find it free: before queueing up */
#define FREE_GUARD  4 /* the same of a guard, to which it will be handed */

/* For how long a guard looks, and when for the second time. After that each
 * time after twice as long: a lock lies free for as long again as the guard has
 * waited, at most. */
#define GUARD_NS    TORTURED(0, 20 * SENNIT_MICROSECOND)
#define SECOND_LOOK TORTURED(0, 4 * SENNIT_MICROSECOND)

/* Another is woken when the one awake has not come for so long: its worker
 * sleeps, or runs something else. */
#define OVERDUE_NS TORTURED(0, 5 * SENNIT_MICROSECOND)

/* A waiter of another worker is preferred, as one of our own can look only once
 * we have left: how many are looked at, and how often the first is passed over
 * for another. */
#define REACH      64
#define MAX_PASSED 8

/* Who was woken and could not be the guard is handed the lock after so many. */
#define MAX_LOSSES 2

/* One wait; the fields are under the queue's lock. */
struct turn {
	struct waiter n;
	sennit_time   since;  /* of the first: another is awake; 0: unknown */
	uint32_t      passed; /* of the first: how often */
	uint32_t      own;    /* of the first: so many, it included, are of its
			       * worker, unless some have left; 0: unknown */
	bool          guards; /* it looks, and is the first */
	bool          called; /* handed: woken from another worker */
};

_Static_assert(sizeof(sennit_mutex) ==
		       2 * sizeof(uint32_t) + 2 * sizeof(void *),
	       "a mutex is three words");

void sennit_mutex_init(sennit_mutex *m)
{
	a_init(&m->state_, 0);
	a_init(&m->worker_, 0);
	m->waiters_ = NULL;
	a_init(&m->owner_, NULL);
}

void sennit_mutex_destroy(sennit_mutex *m)
{
	MISUSE(a_load_rlx(&m->state_) || m->waiters_, "sennit_mutex_destroy",
	       "the mutex is locked or waited for");
}

static uint32_t serial(void)
{
	return sn_self ? sn_self->serial : 0;
}

static inline void own(sennit_mutex *m, void *self)
{
	a_store_rlx(&m->owner_, self);
	a_store_rlx(&m->worker_, serial());
}

/* Take the lock if it is free and nobody changes the queue; `bits` are ours to
 * clear. */
static bool barge(sennit_mutex *m, uint32_t bits)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & (HELD | QUEUE_LOCKED)))
		/* <- mutex.unlock */
		if (a_cas_weak_acq(&m->state_, &word, (word & ~bits) | HELD))
			return true;
	return false;
}

/* --- looking ------------------------------------------------------------ */

/* Whether our worker has something else to do. */
static bool is_busy(void)
{
	const struct worker *w = sn_self;

	return w && (w->ready.head || !sn_inbox_is_empty(&w->fibers) ||
		     !sn_inbox_is_empty(&w->tasks_in) || sn_worker_has_task(w));
}

/* Whether the holder is of our own worker: it cannot unlock while we look. A
 * stale answer costs a wait, or looks. */
static bool is_held_here(sennit_mutex *m)
{
	uint32_t mine = serial();

	return mine && a_load_rlx(&m->worker_) == mine;
}

static void pause_for(uint32_t pauses)
{
	for (uint32_t i = 0; i < pauses; i++)
		a_pause();
}

/* Look some times, and take the lock when it is free and stays so: when `times`
 * looks in a row have found it free. */
static bool look(sennit_mutex *m, uint32_t times)
{
	uint32_t free = 0;

	if (is_held_here(m))
		return false;
	for (uint32_t i = 0; i < LOOKS; i++) {
		/* A stale answer costs a look. */
		bool held = a_load_rlx(&m->state_) & (HELD | QUEUE_LOCKED);

		if (held && free)
			return false;
		if (!held && ++free == times)
			return barge(m, 0);
		pause_for(held ? HELD_PAUSES : FREE_PAUSES);
	}
	return false;
}

/* Leave the lock alone until then. False: there is something else to do. */
static bool pause_until(sennit_time then)
{
	do {
		if (is_busy())
			return false;
		a_pause();
	} while (os_now() < then);
	return true;
}

static bool look_for_long(sennit_mutex *m, sennit_time deadline)
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

/* --- the queue ---------------------------------------------------------- */

static struct turn *first_turn(const sennit_mutex *m)
{
	return container_of(sn_queue_first(m->waiters_), struct turn, n);
}

static bool is_guarded(const sennit_mutex *m)
{
	return m->waiters_ && first_turn(m)->guards;
}

/* The word as it is left: it shows waiters for whom an unlock must do
 * something. Lock held. */
static uint32_t shown(const sennit_mutex *m, uint32_t word)
{
	word &= HELD | HANDOVER | AWAKE;
	return m->waiters_ && !is_guarded(m) ? word | QUEUE_WAITERS : word;
}

/* Add t; who has waited already goes to the front, behind a guard. Lock
 * held. */
static void join(sennit_mutex *m, struct turn *t, bool front)
{
	if (front && is_guarded(m)) {
		void *second = first_turn(m)->n.link.next;

		sn_queue_join(&second, &t->n, true);
	} else {
		sn_queue_join(&m->waiters_, &t->n, front);
	}
}

/* Be the guard, which t is. True: the lock is ours, and t is not linked. False:
 * it will be handed to us. */
static bool guard(sennit_mutex *m, struct turn *t, sennit_time deadline)
{
	bool     taken = look_for_long(m, deadline);
	uint32_t word = sn_queue_lock(&m->state_);

	t->guards = false;
	if (!taken && word & HELD) {
		sn_queue_unlock(&m->state_, shown(m, word | HANDOVER));
		return false;
	}
	sn_queue_leave(&m->waiters_, &t->n);
	sn_queue_unlock(&m->state_, shown(m, word | HELD));
	sn_wait_skip(&t->n);
	return true;
}

/* Whether who was called can be the guard: nobody else is, or is to be handed
 * the lock first, and there is time for it. */
static bool can_guard(const sennit_mutex *m, const struct turn *t,
		      uint32_t word)
{
	return t->called && !(word & HANDOVER) && !is_guarded(m) &&
	       (!sn_self || sn_self->scheduler->config.spin_ns) && !is_busy();
}

/* Queue up and sleep, unless the lock is free. 1: it may be free now; 0: it is
 * ours; or an error. */
static int wait_turn(sennit_mutex *m, struct turn *t, sennit_time deadline,
		     uint32_t losses)
{
	uint32_t word;
	int      err;

	sn_waiter_init(&t->n, deadline);
	word = sn_queue_lock(&m->state_);
	if (losses)
		word &= ~AWAKE;
	t->guards = can_guard(m, t, word);
	if (!t->guards && (!(word & HELD) || !deadline)) {
		sn_queue_unlock(&m->state_, word | HELD);
		return word & HELD ? -ETIMEDOUT : 0;
	}
	t->since = 0;
	t->passed = 0;
	t->own = 0;
	t->called = false;
	sn_wait_show(&t->n, SENNIT_WAITS_FOR_MUTEX, m, deadline);
	join(m, t, losses > 0);
	if (losses >= MAX_LOSSES && !is_guarded(m))
		word |= HANDOVER;
	sn_queue_unlock(&m->state_, shown(m, word));
	if (t->guards && guard(m, t, deadline))
		return 0;
	err = sn_wait_in(&m->state_, &m->waiters_, &t->n, deadline);
	return err ? err : !t->n.is.handed;
}

/* --- locking ------------------------------------------------------------ */

/* Whether the lock has not been given back more than once since the one awake
 * was called: nobody works with it so fast that it only seems free. */
static bool is_quiet(const sennit_mutex *m)
{
	return a_load_rlx(&m->state_) / GIVEN <= 1; /* a guess */
}

/* Try once more: who has not waited by looking as well; who was called comes
 * as a guard unless the lock is surely free. */
static bool try_again(sennit_mutex *m, const struct turn *t,
		      sennit_time deadline, uint32_t losses)
{
	if (losses)
		return (!t->called || is_quiet(m)) && barge(m, AWAKE);
	return barge(m, 0) || (deadline && look(m, FREE_COMER));
}

static NOINLINE int lock_slow(sennit_mutex *m, void *self, sennit_time deadline)
{
	struct turn t;

	MISUSE(a_load_rlx(&m->owner_) == self, "sennit_mutex_lock",
	       "the caller holds the mutex already: itself, or a task that has "
	       "ended on its stack and left it locked");
	t.called = false;
	for (uint32_t losses = 0; !try_again(m, &t, deadline, losses);
	     losses++) {
		int turn = wait_turn(m, &t, deadline, losses);

		if (turn < 0)
			return turn;
		if (!turn)
			break;
	}
	own(m, self);
	return 0;
}

static ALWAYS_INLINE int lock_until(sennit_mutex *m, sennit_time deadline)
{
	void    *self = sn_wait_identity();
	uint32_t unlocked = 0;

	/* <- mutex.unlock */
	if (unlikely(!a_cas_acq(&m->state_, &unlocked, HELD)))
		return lock_slow(m, self, deadline);
	own(m, self);
	TORTURE_POINT();
	return 0;
}

int sennit_mutex_lock_until(sennit_mutex *m, sennit_time deadline)
{
	return lock_until(m, deadline);
}

void sennit_mutex_lock(sennit_mutex *m)
{
	(void)!lock_until(m, SN_UNCANCELLED);
}

/* --- unlocking ---------------------------------------------------------- */

/* Whether the first has waited for long for the one awake. Lock held. */
static bool is_overdue(const sennit_mutex *m)
{
	struct turn *first = first_turn(m);
	sennit_time  now = os_now();

	if (!first->since)
		first->since = now;
	return now >= first->since + OVERDUE_NS;
}

static bool is_elsewhere(const struct waiter *n)
{
	return !n->home || n->home != sn_self;
}

/* Whom to wake: the first of another worker that is in reach, else the first.
 * Who is the first after it then knows how many of its own worker there are, so
 * that each is looked at once. */
static struct waiter *pick(const sennit_mutex *m)
{
	struct turn *first = first_turn(m);
	struct link *next = &first->n.link;
	uint32_t     own = is_elsewhere(&first->n) ? 0 : first->own;
	uint32_t     looked = 0;

	while (!own && first->passed < MAX_PASSED) {
		struct waiter *n = sn_queue_first(next);

		if (is_elsewhere(n)) {
			first->passed += n != &first->n;
			return n;
		}
		next = next->next;
		if (++looked == REACH || next == &first->n.link)
			own = looked;
	}
	next = first->n.link.next;
	container_of(sn_queue_first(next), struct turn, n)->own = own ? own - 1
								      : 0;
	return &first->n;
}

/* Take somebody to wake off the queue; NULL: all have given up. One of our own
 * worker does not count as awake: it waits for us to leave. */
static struct waiter *take_any(sennit_mutex *m, uint32_t *word)
{
	struct waiter *n = NULL;

	while (m->waiters_ && !n) {
		n = pick(m);
		if (!sn_wait_take(&m->waiters_, n))
			n = NULL;
	}
	if (!n || !is_elsewhere(n))
		return n;
	container_of(n, struct turn, n)->called = true;
	if (m->waiters_)
		first_turn(m)->since = 0;
	*word |= AWAKE;
	return n;
}

/* Give the lock to the first; NULL: all have given up, and it is free. */
static struct waiter *hand_over(sennit_mutex *m, uint32_t *word)
{
	struct waiter *n = sn_wait_take_one(&m->waiters_);

	*word &= ~HANDOVER;
	if (!n)
		return NULL;
	n->is.handed = true;
	a_store_rlx(&m->owner_, n->fiber ? n->fiber->identity : n->parker);
	*word |= HELD;
	return n;
}

static NOINLINE void unlock_slow(sennit_mutex *m)
{
	uint32_t       word = sn_queue_lock(&m->state_) & ~HELD;
	struct waiter *n = NULL;

	if (word & QUEUE_WAITERS && word & HANDOVER) {
		n = hand_over(m, &word);
	} else if (word & QUEUE_WAITERS) {
		if (word & AWAKE && !is_overdue(m)) {
			sn_queue_unlock(&m->state_, word + GIVEN);
			return;
		}
		n = take_any(m, &word);
	} else {
		word &= ~HANDOVER; /* who asked for it has given up */
	}
	sn_queue_unlock(&m->state_, shown(m, word));
	if (n)
		sn_wait_wake(n);
}

/* Somebody waits, or is on its way. With one awake the queue is left alone, but
 * for each time that the count has doubled: then whoever is awake may be
 * overdue. */
static NOINLINE void unlock_contended(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & QUEUE_LOCKED)) {
		uint32_t given = word / GIVEN;
		uint32_t next = (word & ~HELD) + GIVEN;

		if (!(word & QUEUE_WAITERS))
			next = word & AWAKE;
		else if ((word & (AWAKE | HANDOVER)) != AWAKE ||
			 !(given & (given - 1)))
			break;
		/* -> mutex.unlock: what the lock protects */
		if (a_cas_weak_rel(&m->state_, &word, next))
			return;
	}
	unlock_slow(m);
}

void sennit_mutex_unlock(sennit_mutex *m)
{
	uint32_t held = HELD;

	MISUSE(a_load_rlx(&m->owner_) != sn_wait_identity(),
	       "sennit_mutex_unlock",
	       a_load_rlx(&m->owner_) ? "somebody else holds the mutex"
				      : "nobody holds the mutex");
	a_store_rlx(&m->owner_, NULL);
	TORTURE_POINT();
	/* -> mutex.unlock: what the lock protects */
	if (unlikely(!a_cas_rel(&m->state_, &held, 0)))
		unlock_contended(m);
}
