/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - one bit of the word (EVENT_SET) says whether the event is set.
 *
 * On a manual event SET and WAITERS are never both set. On an auto event they
 * may be, while a waiter that timed out is still linked.
 */
#include "sync/event.h"

#include "base/compiler.h"
#include "sync/wait_any.h"

#include <errno.h>

_Static_assert(sizeof(sennit_event) == 2 * sizeof(uint32_t) + sizeof(void *),
	       "an event is two words");

void sennit_event_init(sennit_event *e, uint32_t flags)
{
	MISUSE(flags & ~(SENNIT_EVENT_AUTO | SENNIT_EVENT_SET),
	       "sennit_event_init", "unknown flags");
	a_init(&e->state_, flags & SENNIT_EVENT_SET ? EVENT_SET : 0);
	e->mode_ = flags & SENNIT_EVENT_AUTO;
	e->waiters_ = NULL;
}

void sennit_event_destroy(sennit_event *e)
{
	MISUSE(a_load_rlx(&e->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_event_destroy",
	       "a fiber or thread still waits for the event");
}

static void set_manual_slow(sennit_event *e)
{
	uint32_t     word = sn_wait_queue_lock(&e->state_);
	struct link *waiters = sn_wait_take_all(&e->waiters_, word);

	sn_wait_queue_unlock(&e->state_, EVENT_SET);
	sn_wake_all(waiters);
}

/* Unlink and claim the first waiter that does not merely watch. NULL: none.
 * Lock held. */
static struct waiter *take_one_that_takes(sennit_event *e)
{
	struct waiter *n, *next, *last;

	if (!e->waiters_)
		return NULL;
	next = sn_wait_queue_first(e->waiters_);
	last = sn_wait_queue_first(next->link.prev);
	do {
		n = next;
		next = sn_wait_queue_first(n->link.next);
		if (n->is.watches)
			continue;
		sn_wait_queue_leave(&e->waiters_, n);
		if (!n->is.raced || sn_waiter_claim(n))
			return n;
	} while (n != last);
	return NULL;
}

/* Set an auto event that waits for several events may watch. Lock held on
 * entry. */
static void set_watched(sennit_event *e, uint32_t word)
{
	struct waiter *n = take_one_that_takes(e);
	struct link   *watchers = NULL;

	if (n) {
		word = sn_wait_queue_bits(e->waiters_, word);
	} else {
		watchers = sn_wait_take_all(&e->waiters_, word);
		word = EVENT_SET;
	}
	sn_wait_queue_unlock(&e->state_, word);
	if (n)
		sn_wake(n);
	else
		sn_wake_all(watchers);
}

static void set_auto_slow(sennit_event *e)
{
	uint32_t       word = sn_wait_queue_lock(&e->state_);
	struct waiter *n;

	if (unlikely(word & EVENT_WATCHED)) {
		set_watched(e, word);
		return;
	}
	n = sn_wait_take_one(&e->waiters_);
	word = sn_wait_queue_bits(e->waiters_, word);
	sn_wait_queue_unlock(&e->state_, n ? word : word | EVENT_SET);
	if (n)
		sn_wake(n);
}

void sennit_event_set(sennit_event *e)
{
	uint32_t word;

	sn_race_release(e);
	a_fetch_own(e);
	word = a_load_rlx(&e->state_);

	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)))
		/* -> event.set: what happened before */
		if (a_cas_weak_rel(&e->state_, &word, word | EVENT_SET))
			return;
	if (e->mode_ == SENNIT_EVENT_AUTO)
		set_auto_slow(e);
	else
		set_manual_slow(e);
}

/* The event was set a moment ago, and is locked: by a setter, or by a wait that
 * looks at it and will leave it set. */
static NOINLINE void clear_locked(sennit_event *e)
{
	const uint32_t word = sn_wait_queue_lock(&e->state_);

	if (word & EVENT_SET)
		sn_race_acquire(e);
	sn_wait_queue_unlock(&e->state_, word & ~EVENT_SET);
}

void sennit_event_clear(sennit_event *e)
{
	uint32_t word = a_load_rlx(&e->state_);

	/* LOCKED without SET: another thread may be setting the event. This
	 * clear counts as earlier. */
	while (word & EVENT_SET) {
		if (unlikely(word & WAIT_QUEUE_LOCKED)) {
			clear_locked(e);
			return;
		}
		/* <- event.set */
		if (a_cas_weak_acq(&e->state_, &word, word & ~EVENT_SET)) {
			sn_race_acquire(e);
			return;
		}
	}
}

bool sennit_event_is_set(const sennit_event *e)
{
	/* <- event.set <- wait_queue.unlock */
	bool set = a_load_acq(&e->state_) & EVENT_SET;

	if (set)
		sn_race_acquire(e);
	return set;
}

/* The event was not set a moment ago. */
static ALWAYS_INLINE int wait_for_event(sennit_event *e, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;

	if (!deadline && !(a_load_rlx(&e->state_) & WAIT_QUEUE_LOCKED))
		return -ETIMEDOUT;
	n = sn_waiter_own(deadline);
	word = sn_wait_queue_lock(&e->state_);
	if (word & EVENT_SET) {
		sn_race_acquire(e);
		sn_wait_queue_unlock(&e->state_, sn_event_passed(e, word));
		return 0;
	}
	if (!deadline) {
		sn_wait_queue_unlock(&e->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_EVENT, e, deadline);
	word |= sn_wait_queue_join(&e->waiters_, n, false);
	sn_wait_queue_unlock(&e->state_, word);
	return sn_wait_in(&e->state_, &e->waiters_, n, deadline);
}

/* Functions of their own, so that the fast paths need no stack frame. */

static NOINLINE int wait_in_time(sennit_event *e, sennit_time deadline)
{
	return wait_for_event(e, deadline);
}

static NOINLINE int wait_for_ever(sennit_event *e)
{
	return wait_for_event(e, SENNIT_NEVER);
}

int sennit_event_wait_until(sennit_event *e, sennit_time deadline)
{
	int err = 0;

	if (unlikely(!sn_event_pass(e))) {
		err = wait_in_time(e, deadline);
		NO_TAIL_CALL(err);
	}
	return err;
}

int sennit_event_wait(sennit_event *e)
{
	int err = 0;

	if (unlikely(!sn_event_pass(e))) {
		err = wait_for_ever(e);
		NO_TAIL_CALL(err);
	}
	return err;
}

/* --- event several -------------------------------------------------------- */

/* Waits for one of several events, or for all of them.
 *
 * For one: see wait/wait_any.
 *
 * For all: no event is consumed until all of them are set at one moment, which
 * is checked with all locks held. Until then the waiter watches one event that
 * is not set. So two waiters for the same auto events cannot each hold an event
 * that the other needs, and a waiter that times out has nothing to put back.
 */

_Static_assert(SENNIT_EVENT_WAIT_MAX == LOCK_SET_MAX,
	       "all can be locked at once");
_Static_assert(SENNIT_EVENT_WAIT_MAX == WAIT_ANY_MAX &&
		       EVENT_SET == WAIT_QUEUE_OWN,
	       "one of them can be waited for");

/* --- one of several ----------------------------------------------------- */

static struct wait_any_queue event_queue_of(const void *events, size_t i)
{
	sennit_event *e = ((sennit_event *const *)events)[i];

	return (struct wait_any_queue){ &e->state_, &e->waiters_ };
}

static uint32_t event_word_after(const void *events, size_t i, uint32_t word)
{
	return sn_event_passed(((sennit_event *const *)events)[i], word);
}

/* Pass the first set event, lowest index first. */
static bool pass_one(sennit_event *const events[], size_t count, size_t *which)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (sn_event_pass(events[i])) {
			*which = i;
			return true;
		}
	}
	return false;
}

/* For a deadline of 0: test each event, including one that is just being
 * set. */
static int test_each(sennit_event *const events[], size_t count, size_t *which)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!sennit_event_wait_until(events[i], 0)) {
			*which = i;
			return 0;
		}
	}
	return -ETIMEDOUT;
}

static int wait_any_until(sennit_event *const events[], size_t count,
			  size_t *which, sennit_time deadline, const char *call)
{
	size_t unused;

	if (!which)
		which = &unused;
	MISUSE(!count || count > SENNIT_EVENT_WAIT_MAX, call,
	       count ? "more than SENNIT_EVENT_WAIT_MAX events" : "no events");
	if (pass_one(events, count, which))
		return 0;
	if (!deadline)
		return test_each(events, count, which);
	return sn_wait_any(&(struct wait_any){ .objects = events,
					       .count = count,
					       .first = events[0],
					       .queue = event_queue_of,
					       .passed = event_word_after },
			   which, deadline);
}

int sennit_event_wait_any_until(sennit_event *const events[], size_t count,
				size_t *which, sennit_time deadline)
{
	return KEEP_FRAME(wait_any_until(events, count, which, deadline,
					 "sennit_event_wait_any_until"));
}

int sennit_event_wait_any(sennit_event *const events[], size_t count,
			  size_t *which)
{
	return KEEP_FRAME(wait_any_until(events, count, which, SENNIT_NEVER,
					 "sennit_event_wait_any"));
}

/* --- all ---------------------------------------------------------------- */

/* Wait until *e is set, at any moment, without consuming it. */
static int wait_without_consuming(sennit_event *e, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;

	n = sn_waiter_own(deadline);
	n->is.watches = true;
	word = sn_wait_queue_lock(&e->state_);
	if (word & EVENT_SET || !deadline) {
		sn_wait_queue_unlock(&e->state_, word);
		return word & EVENT_SET ? 0 : -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_EVENT, e, deadline);
	word |= sn_wait_queue_join(&e->waiters_, n, false);
	sn_wait_queue_unlock(&e->state_, word | EVENT_WATCHED);
	return sn_wait_in(&e->state_, &e->waiters_, n, deadline);
}

/* An event that is not set, or is just being changed. NULL: all were set. */
static sennit_event *find_unset(sennit_event *const events[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!sennit_event_is_set(events[i]))
			return events[i];
	return NULL;
}

/* Consume all events if all are set now. */
static bool pass_all(sennit_event *const events[], size_t count)
{
	struct lock_set locks;
	bool            all;
	size_t          i;

	locks.count = 0;
	for (i = 0; i < count; i++)
		sn_lock_set_add(&locks, &events[i]->state_);
	sn_lock_set_take(&locks);
	all = !find_unset(events, count);
	for (i = 0; all && i < count; i++) {
		sennit_word *word = &events[i]->state_;

		sn_lock_set_set(word, sn_event_passed(events[i],
						      sn_lock_set_get(word)));
	}
	sn_lock_set_drop(&locks);
	return all;
}

static int wait_all_until(sennit_event *const events[], size_t count,
			  sennit_time deadline, const char *call)
{
	MISUSE(count > SENNIT_EVENT_WAIT_MAX, call,
	       "more than SENNIT_EVENT_WAIT_MAX events");
	for (;;) {
		sennit_event *e = find_unset(events, count);
		int           err;

		if (!e && pass_all(events, count))
			return 0;
		err = e ? wait_without_consuming(e, deadline) : 0;
		if (err)
			return err;
	}
}

int sennit_event_wait_all_until(sennit_event *const events[], size_t count,
				sennit_time deadline)
{
	return KEEP_FRAME(wait_all_until(events, count, deadline,
					 "sennit_event_wait_all_until"));
}

int sennit_event_wait_all(sennit_event *const events[], size_t count)
{
	return KEEP_FRAME(wait_all_until(events, count, SENNIT_NEVER,
					 "sennit_event_wait_all"));
}
