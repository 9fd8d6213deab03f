/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - a barging mutex with a guard, a bound on overtaking, and revocable
 * hand-over.
 *
 * A free lock goes to whichever caller comes first, even past waiters, because
 * a lock that is handed to a sleeper lies idle until the sleeper has woken.
 * Waiters keep the order in which they came. An unlock that
 * leaves the lock free wakes the first waiter, and one waiter of another
 * worker. If that other waiter finds the lock held, it becomes the guard: it
 * stays awake and looks at the lock now and then. While there is a guard, the
 * word shows no waiters, and locks and unlocks cost what they cost without
 * contention.
 *
 * A guard that did not get the lock within GUARD_NS requests a hand-over. So
 * does the count of grants. The next unlock then gives the lock to the first
 * waiter without freeing it. If that waiter does not come, the lock is taken
 * back from it.
 *
 * So a lock stays for about 20 us with a worker whose fibers use nothing else.
 *
 * Only the holder writes owner_ and worker_. Other threads read them as hints,
 * or compare them with their own identity, which a stale value cannot equal.
 *
 * See core/docs/design/mutex.md. Checked by core/test/model/mutex.pml.
 */
#include "sync/mutex.h"

#include "base/compiler.h"
#include "base/torture.h"
#include "observe/observe.h"
#include "os/os.h"
#include "sched/run_queue.h"
#include "wait/wait.h"

#include <errno.h>
#include <string.h>

/* --- the queue ---------------------------------------------------------- */

/* A function that takes a `word` is called with the queue locked; *word is the
 * caller's copy. Functions that wake waiters add them to a list, and the caller
 * wakes that list after it has unlocked the queue. */

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

/* While a guard looks, the word shows no waiters although there are some. */
static bool mutex_is_guarded(const sennit_mutex *m, uint32_t word)
{
	return m->waiters_ && !(word & WAIT_QUEUE_WAITERS);
}

/* The value to store for `word`. Without waiters, or with a guard, only HELD is
 * stored, so that the fast paths apply. */
static uint32_t visible_word(const sennit_mutex *m, uint32_t word, bool guarded)
{
	if (!m->waiters_ || guarded)
		return word & HELD;
	return (word & ~WAIT_QUEUE_RACED) | WAIT_QUEUE_WAITERS;
}

/* Store `word` and unlock the queue. */
static void unlock_queue(sennit_mutex *m, uint32_t word, bool guarded)
{
	sn_wait_queue_unlock(&m->state_, visible_word(m, word, guarded));
}

/* --- joining and leaving ------------------------------------------------ */

/* Add t at the back. If all waiters so far belong to one worker, a waiter of
 * another worker may be the one to wake. */
static void enqueue_turn(sennit_mutex *m, struct turn *t, uint32_t *word)
{
	if (m->waiters_ && turn_of(m->waiters_)->n.home != t->n.home) {
		turn_of(m->waiters_)->own = 0;
		*word &= ~AWAKE;
	}
	sn_wait_queue_join(&m->waiters_, &t->n, false);
}

/* Whether t must poll the lock while it sleeps: see "Who polls" in
 * core/docs/design/mutex.md. The first waiter polls only while the lock is
 * HANDED. A hand-over skips it if it was late. The lock may then be held for a
 * waiter whose worker is busy while the first one's is not. */
static bool must_poll(const sennit_mutex *m, const struct turn *t,
		      uint32_t word)
{
	if (m->waiters_ == (void *)&t->n.link)
		return word & HANDED;
	return turn_of(t->n.link.prev)->n.home != t->n.home;
}

/* Mark t as awake, and wake it, unless its deadline or its scope already
 * has. */
static void wake_turn(struct turn *t, struct turn **woken)
{
	t->awake = true;
	if (t->n.is.raced && !sn_waiter_claim(&t->n))
		return;
	t->woken = *woken;
	*woken = t;
}

/* Remove t. The next waiter may have relied on t to poll: it is woken so that
 * it polls itself. And when the lock is left free, the first waiter must be
 * woken, even if it has just become the first. */
static void unlink_turn(sennit_mutex *m, struct turn *t, uint32_t *word,
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
	    must_poll(m, next, *word))
		wake_turn(next, woken);
}

/* --- waking ------------------------------------------------------------- */

/* Wake the waiters of the list. The queue is not locked. */
static void wake_turns(struct turn *woken)
{
	while (woken) {
		struct turn *next = woken->woken;

		sn_wake(&woken->n);
		woken = next;
	}
}

/* The lock is being released: wake all waiters that have stopped polling. They
 * poll again, until they stop again. */
static void resume_polls(sennit_mutex *m, uint32_t *word, struct turn **woken)
{
	struct turn *first = turn_of(m->waiters_);
	struct turn *t = first;

	*word &= ~STOPPED;
	do {
		if (t->stopped && !t->awake)
			wake_turn(t, woken);
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

static void call_waiter(struct turn *t, uint32_t word, struct turn **woken)
{
	t->called = is_elsewhere(t);
	t->grants = word & GRANTS;
	wake_turn(t, woken);
}

/* The lock is left free: wake the first waiter, and one of another worker. One
 * waiter of the caller's own worker is enough: it can run only when the
 * caller has left. A waiter of another worker can come at once. */
static void call_waiters(sennit_mutex *m, uint32_t *word, struct turn **woken)
{
	struct turn *first = turn_of(m->waiters_);
	struct turn *other = NULL;

	if (first->awake || !is_elsewhere(first))
		other = find_elsewhere(m);
	if (other)
		call_waiter(other, *word, woken);
	if (!first->awake)
		call_waiter(first, *word, woken);
	first->since = 0;
	*word |= AWAKE;
}

/* Whether the waiters that were called take too long. */
static bool is_overdue(const sennit_mutex *m)
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

/* Hand the lock to the first waiter that may come. Returns false if there is
 * none; the lock is then left free. */
static bool hand_over_mutex(sennit_mutex *m, uint32_t *word,
			    struct turn **woken)
{
	struct turn *t = find_heir(m);

	*word &= ~(HANDOVER | AWAKE | GRANTS);
	if (!t)
		return false;
	t->heir = true;
	t->since = 0;
	*word |= HELD | HANDED;
	if (!t->awake)
		wake_turn(t, woken);
	return true;
}

static struct turn *find_handed(const sennit_mutex *m)
{
	struct turn *t = turn_of(m->waiters_);

	while (!t->heir)
		t = next_of(t);
	return t;
}

/* Take the lock back from an heir that has not come for GRACE_NS. Returns true
 * if the caller has the lock. False: the heir may still come, or there is
 * none. */
static bool revoke_hand_over(sennit_mutex *m, uint32_t *word)
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

/* --- looking ---------------------------------------------------------- */

/* A look at the lock fetches its cache line from the worker that uses it, which
 * costs about 100 ns. One look that finds it free means little: while another
 * worker locks and unlocks it in a loop, it is free half of the time or more.
 * So the lock counts as free if several looks in a row, FREE_PAUSES apart, find
 * it free. A guard needs many: would it take the lock from such a worker, all
 * that the lock protects would move to and fro between the two. */
#define HELD_PAUSES 2
#define FREE_PAUSES 4
#define MUTEX_LOOKS TORTURED(3, 32) /* in a row: 1 to 3 us */
#define FREE_COMER  2               /* before queueing up */
#define FREE_GUARD  TORTURED(3, 16)

/* GUARD_NS is how long a guard looks, SECOND_LOOK when it looks for the second
 * time. After that the interval doubles with each look. So a free lock stays
 * free for at most as long again as the guard has waited. */
#define GUARD_NS    TORTURED(0, 20 * SENNIT_MICROSECOND)
#define SECOND_LOOK TORTURED(0, 4 * SENNIT_MICROSECOND)

/* Take the lock if it is free and the queue is not locked. */
static bool barge(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & (HELD | WAIT_QUEUE_LOCKED)))
		/* <- mutex.unlock */
		if (a_cas_weak_acq(&m->state_, &word, word | HELD))
			return true;
	return false;
}

/* Whether the calling worker has other work. */
static bool worker_has_other_work(void)
{
	const struct worker *w = sn_self;

	return w && (w->run.ready.head || !sn_inbox_is_empty(&w->mail.fibers) ||
		     !sn_inbox_is_empty(&w->mail.tasks) ||
		     sn_run_queue_has_task(&w->run));
}

/* The calling worker as worker_ shows it: the low half of its address, which
 * two workers hardly ever share; 0: none. */
static uint32_t worker_mark(void)
{
	return (uint32_t)(uintptr_t)sn_self;
}

/* Whether the holder runs on the caller's worker: then it cannot unlock while
 * the caller looks. A stale answer costs one wait, or some useless looks. */
static bool is_held_here(sennit_mutex *m)
{
	return sn_self && a_load_rlx(&m->worker_) == worker_mark();
}

static void pause_for(uint32_t pauses)
{
	for (uint32_t i = 0; i < pauses; i++)
		a_pause();
}

/* Look up to MUTEX_LOOKS times. Take the lock when `times` looks in a row have
 * found it free. */
static bool poll_mutex(sennit_mutex *m, uint32_t times)
{
	uint32_t free = 0;

	if (is_held_here(m))
		return false;
	for (uint32_t i = 0; i < MUTEX_LOOKS; i++) {
		/* A stale value costs one look. */
		bool held = a_load_rlx(&m->state_) & (HELD | WAIT_QUEUE_LOCKED);

		if (held && free)
			return false;
		if (!held && ++free == times)
			return barge(m);
		pause_for(held ? HELD_PAUSES : FREE_PAUSES);
	}
	return false;
}

/* Do not look at the lock until `then`. Returns false if the worker has other
 * work. */
static bool pause_until(sennit_time then)
{
	do {
		if (worker_has_other_work())
			return false;
		a_pause();
	} while (os_now() < then);
	return true;
}

/* Look as a guard: for GUARD_NS, until the deadline, or until the worker has
 * other work. */
static bool poll_mutex_as_guard(sennit_mutex *m, sennit_time deadline)
{
	sennit_time now = os_now();
	sennit_time end = now + GUARD_NS;
	sennit_time step = SECOND_LOOK;

	if (end > deadline)
		end = deadline;
	for (;; step *= 2) {
		if (poll_mutex(m, FREE_GUARD))
			return true;
		if (!pause_until(now + step))
			return false;
		now = os_now();
		if (now >= end)
			return false;
	}
}

/* --- polling ------------------------------------------------------------ */

/* How long a polling waiter sleeps before its first and its last look. The time
 * doubles in between. Then the waiter stops polling until the lock is
 * released. */
#define FIRST_POLL   TORTURED(20 * SENNIT_MICROSECOND, SENNIT_MILLISECOND)
#define LONGEST_POLL TORTURED(SENNIT_MILLISECOND, 16 * SENNIT_MILLISECOND)

/* A waiter that was woken this often without getting the lock or becoming the
 * guard requests a hand-over.
 */
#define MAX_LOSSES 2

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
	MISUSE(!sn_mutex_is_unused(m), "sennit_mutex_destroy",
	       "the mutex is locked or waited for");
}

/* The caller, who is `self`, has locked m. */
static ALWAYS_INLINE void set_mutex_owner(sennit_mutex *m, void *self,
					  uint32_t mine)
{
	sn_race_acquire(m);
	a_store_rlx(&m->owner_, self);
	a_store_rlx(&m->worker_, mine);
	sn_wait_count_held(HELD_MUTEX);
}

/* --- guarding ----------------------------------------------------------- */

/* Whether t, which was called, can become the guard: there is no guard, no
 * other waiter will be handed the lock first, and the worker has time. While
 * there is a guard no unlock hands over, so no waiter becomes the guard once a
 * hand-over is due. Queue locked. */
static bool can_guard(const sennit_mutex *m, const struct turn *t,
		      uint32_t word)
{
	return t->called && !(word & (HANDOVER | HANDED)) &&
	       word / GRANT < MAX_GRANTS && !mutex_is_guarded(m, word) &&
	       (!sn_self || sn_self->scheduler->config.spin_ns) &&
	       !worker_has_other_work();
}

/* Act as the guard. Returns true if the caller has the lock. The queue is
 * locked on entry and on return. */
static bool guard_mutex(sennit_mutex *m, uint32_t *word, sennit_time deadline)
{
	uint32_t kept = *word & (GRANTS | STOPPED);
	bool     taken;

	unlock_queue(m, *word, true);
	taken = poll_mutex_as_guard(m, deadline);
	*word = sn_wait_queue_lock(&m->state_) | kept | WAIT_QUEUE_WAITERS;
	return taken || !(*word & HELD);
}

/* --- waiting ------------------------------------------------------------ */

/* Decide whether t sleeps with an alarm. It does not if it need not poll, or if
 * it has polled for long enough: one holder may keep the lock for hours. */
static void choose_alarm(const sennit_mutex *m, struct turn *t, uint32_t *word,
			 bool guarded)
{
	t->polls = must_poll(m, t, *word);
	t->stopped = t->polls && t->poll > LONGEST_POLL && !guarded &&
		     !(*word & HANDED);
	if (t->stopped) {
		t->polls = false;
		*word |= STOPPED;
	}
}

static sennit_time next_poll_time(const struct turn *t)
{
	return os_now() + (t->poll < LONGEST_POLL ? t->poll : LONGEST_POLL);
}

/* Sleep. Traces, metrics and profiles take what is not the `first` sleep of a
 * lock call for the same wait. */
static int sleep_again(struct turn *t, sennit_time until, bool first)
{
	struct sennit_fiber *f = t->n.fiber;
	int                  err;

	if (first || !f)
		return sn_wait(&t->n, until);
	f->times.goes_on = true;
	sn_observe_count_again(&t->n.home->observe);
	err = sn_wait(&t->n, until);
	f->times.goes_on = false;
	return err;
}

/* Sleep until woken, or until the next look. Unlocks the queue. */
static int sleep_in_mutex_queue(sennit_mutex *m, struct turn *t, uint32_t word,
				bool guarded, sennit_time deadline, bool first)
{
	sennit_time until = deadline;

	sn_waiter_init(&t->n, deadline);
	t->n.is.linked = true;
	t->awake = false;
	t->called = false;
	choose_alarm(m, t, &word, guarded);
	if (t->polls) {
		until = next_poll_time(t);
		if (until > deadline)
			until = deadline;
		if (!t->n.is.raced)
			sn_waiter_race(&t->n, NULL);
	}
	sn_wait_show(&t->n, SENNIT_WAITS_FOR_MUTEX, m, deadline);
	unlock_queue(m, word, guarded);
	return sleep_again(t, until, first);
}

/* Whether the error of t's sleep ends its wait. */
static bool mutex_wait_has_ended(const struct turn *t, int err,
				 sennit_time deadline)
{
	const struct sennit_cancel_scope *scope = t->n.scope;
	sennit_time                       now;

	if (!err || err == -ECANCELED || !t->polls)
		return err;
	now = os_now();
	return now >= deadline || (t->n.is.raced && scope &&
				   now >= sn_cancel_scope_deadline(scope));
}

/* Whether the lock was released at most once since t was called. If it was
 * released more often, another worker uses it so fast that it only seems to be
 * free. */
static bool is_quiet(const struct turn *t, uint32_t word)
{
	return !t->called || ((word & GRANTS) - t->grants) / GRANT <= 1;
}

/* Take the lock, which is free or held for t, and leave the queue. Unlocks the
 * queue. */
static int take_mutex(sennit_mutex *m, struct turn *t, uint32_t word,
		      bool guarded)
{
	struct turn *woken = NULL;

	if (!t->heir)
		word += GRANT * (MAX_GRANTS / MAX_TAKEN);
	unlink_turn(m, t, &word, &woken);
	unlock_queue(m, word | HELD, guarded);
	wake_turns(woken);
	return 0;
}

/* Leave the queue without the lock. t may have been woken for the lock; then
 * the next waiter is woken. Unlocks the queue. */
static int leave_mutex_queue(sennit_mutex *m, struct turn *t, uint32_t word,
			     bool guarded, int err)
{
	struct turn *woken = NULL;

	unlink_turn(m, t, &word, &woken);
	if (!(word & HELD) && m->waiters_ && !guarded)
		call_waiters(m, &word, &woken);
	unlock_queue(m, word, guarded);
	wake_turns(woken);
	return err;
}

/* Another caller has the lock, so t will sleep again. Request a hand-over after
 * MAX_LOSSES wakes without getting the lock. */
static void count_loss(struct turn *t, uint32_t *word, bool polled,
		       bool guarded)
{
	if (!polled && ++t->losses >= MAX_LOSSES && !guarded &&
	    !(*word & HANDED))
		*word |= HANDOVER;
}

/* Choose how long to sleep before the next look. The time does not grow while
 * the lock changes hands or is about to be taken back. */
static void choose_poll(struct turn *t, uint32_t word, bool polled)
{
	if (t->stopped || word & HANDED)
		t->poll = FIRST_POLL;
	else if (polled && t->poll <= LONGEST_POLL)
		t->poll *= 2;
}

/* Continue after t's sleep with the result *err. Returns 0: t has the lock; 1:
 * continue waiting; or an error. */
static int continue_mutex_wait(sennit_mutex *m, struct turn *t,
			       sennit_time deadline, int *err)
{
	uint32_t word = sn_wait_queue_lock(&m->state_) & ~AWAKE;
	bool     guarded = mutex_is_guarded(m, word);

	if (t->heir)
		return take_mutex(m, t, word & ~HANDED, guarded);
	if (mutex_wait_has_ended(t, *err, deadline))
		return leave_mutex_queue(m, t, word, guarded, *err);
	t->late = false;
	if ((!(word & HELD) && is_quiet(t, word)) ||
	    (*err && revoke_hand_over(m, &word)))
		return take_mutex(m, t, word, guarded);
	if (can_guard(m, t, word)) {
		if (guard_mutex(m, &word, deadline))
			return take_mutex(m, t, word, false);
		word |= HANDOVER;
	} else if (!(word & HELD)) {
		return take_mutex(m, t, word, guarded);
	} else {
		count_loss(t, &word, *err || t->stopped, guarded);
	}
	choose_poll(t, word, *err);
	*err = sleep_in_mutex_queue(m, t, word, guarded, deadline, false);
	return 1;
}

/* Wait in the queue, unless the lock is free. */
static int wait_for_mutex(sennit_mutex *m, sennit_time deadline)
{
	struct turn t;
	uint32_t    word;
	bool        guarded;
	int         err, more;

	memset(&t, 0, sizeof(t));
	t.poll = FIRST_POLL;
	sn_waiter_mine(&t.n);
	word = sn_wait_queue_lock(&m->state_);
	if (!(word & HELD) || !deadline) {
		sn_wait_queue_unlock(&m->state_, word | HELD);
		return word & HELD ? -ETIMEDOUT : 0;
	}
	guarded = mutex_is_guarded(m, word);
	enqueue_turn(m, &t, &word);
	t.n.is.shielded = sn_wait_is_shielded(t.n.fiber, deadline);
	sn_wait_open_owner(&t.n, &m->owner_);
	err = sleep_in_mutex_queue(m, &t, word, guarded, deadline, true);
	do
		more = continue_mutex_wait(m, &t, deadline, &err);
	while (more > 0);
	sn_wait_close_owner(&t.n);
	sn_observe_end_mutex(t.n.fiber);
	return more;
}

/* --- locking ------------------------------------------------------------ */

static NOINLINE int lock_slow(sennit_mutex *m, void *self, sennit_time deadline)
{
	int err = 0;

	MISUSE(a_load_rlx(&m->owner_) == self, "sennit_mutex_lock",
	       "the caller already holds the mutex: itself, or through a task "
	       "that ended on its stack and left it locked");
	if (!barge(m) && !(deadline && poll_mutex(m, FREE_COMER)))
		err = wait_for_mutex(m, deadline);
	if (!err)
		set_mutex_owner(m, self, worker_mark());
	return err;
}

static ALWAYS_INLINE int lock_until(sennit_mutex *m, sennit_time deadline)
{
	void    *self = sn_wait_identity();
	uint32_t mine = worker_mark();
	uint32_t unlocked = 0;

	/* <- mutex.unlock */
	if (unlikely(!a_cas_acq(&m->state_, &unlocked, HELD))) {
		int err = lock_slow(m, self, deadline);

		NO_TAIL_CALL(err);
		return err;
	}
	set_mutex_owner(m, self, mine);
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

/* There are waiters, but no guard. Queue locked. */
static void grant_to_waiters(sennit_mutex *m, uint32_t *word,
			     struct turn **woken)
{
	*word += GRANT;
	if (*word & STOPPED)
		resume_polls(m, word, woken);
	if ((*word & HANDOVER || *word / GRANT >= MAX_GRANTS) &&
	    hand_over_mutex(m, word, woken))
		return;
	if (!(*word & AWAKE) || is_overdue(m))
		call_waiters(m, word, woken);
}

static NOINLINE void unlock_slow(sennit_mutex *m)
{
	uint32_t     word = sn_wait_queue_lock(&m->state_) & ~HELD;
	bool         guarded = mutex_is_guarded(m, word);
	struct turn *woken = NULL;

	if (word & WAIT_QUEUE_WAITERS)
		grant_to_waiters(m, &word, &woken);
	unlock_queue(m, word, guarded);
	wake_turns(woken);
}

/* Whether an unlock may skip the queue: all waiters that should be awake are,
 * and nothing else is due. Whenever the count of grants reaches a power of two,
 * the queue is checked for overdue waiters. The unlock that makes the count
 * MAX_GRANTS hands over, so that the grant by hand-over is within the bound. */
static bool may_skip_queue(uint32_t word)
{
	uint32_t grants = word / GRANT;

	return (word & (AWAKE | HANDOVER | STOPPED)) == AWAKE &&
	       grants & (grants - 1) && grants + 1 < MAX_GRANTS;
}

/* There are waiters, or there were when the caller looked. */
static NOINLINE void unlock_contended(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & WAIT_QUEUE_LOCKED)) {
		uint32_t next = word & ~HELD;

		if (word & WAIT_QUEUE_WAITERS) {
			if (!may_skip_queue(word))
				break;
			next += GRANT;
		}
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
	       a_load_rlx(&m->owner_)
		       ? "another fiber or thread holds the mutex"
		       : "the mutex is not locked");
	sn_race_release(m);
	a_store_rlx(&m->owner_, NULL);
	sn_wait_count_held(-HELD_MUTEX);
	TORTURE_POINT();
	/* -> mutex.unlock: what the lock protects */
	if (unlikely(!a_cas_rel(&m->state_, &held, 0)))
		unlock_contended(m);
}
