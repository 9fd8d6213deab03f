/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - the word's own bit says whether the event is set.
 *
 * SET and WAITERS are never both set on a manual event; on an auto event they
 * may be for the moment in which a waiter that timed out is still linked.
 */
#include "sennit/event.h"

#include "base/check.h"
#include "sched/wait.h"

#include <errno.h>

#define SET QUEUE_OWN

_Static_assert(sizeof(sennit_event) == 2 * sizeof(uint32_t) + sizeof(void *),
	       "an event is two words");

void sennit_event_init(sennit_event *e, enum sennit_event_mode mode, bool set)
{
	a_init(&e->state_, set ? SET : 0);
	e->mode_ = mode;
	e->waiters_ = NULL;
}

void sennit_event_destroy(sennit_event *e)
{
	MISUSE(a_load_rlx(&e->state_) & QUEUE_WAITERS, "sennit_event_destroy",
	       "somebody waits for the event");
}

static void set_manual_slow(sennit_event *e)
{
	uint32_t     word = sn_queue_lock(&e->state_);
	struct link *waiters = sn_wait_take_all(&e->waiters_, word);

	sn_queue_unlock(&e->state_, SET);
	sn_wait_wake_all(waiters);
}

static void set_auto_slow(sennit_event *e)
{
	uint32_t       word = sn_queue_lock(&e->state_);
	struct waiter *n = sn_wait_take_one(&e->waiters_);

	word = sn_queue_bits(e->waiters_, word);
	sn_queue_unlock(&e->state_, n ? word : word | SET);
	if (n)
		sn_wait_wake(n);
}

void sennit_event_set(sennit_event *e)
{
	uint32_t word = a_load_rlx(&e->state_);

	while (!(word & (QUEUE_LOCKED | QUEUE_WAITERS)))
		/* -> event.set: what happened before */
		if (a_cas_weak_rel(&e->state_, &word, word | SET))
			return;
	if (e->mode_ == SENNIT_EVENT_AUTO)
		set_auto_slow(e);
	else
		set_manual_slow(e);
}

void sennit_event_clear(sennit_event *e)
{
	uint32_t word = a_load_rlx(&e->state_);

	/* Locked: somebody sets it; its clearing comes before that. */
	while (word & SET && !(word & QUEUE_LOCKED))
		/* <- event.set */
		if (a_cas_weak_acq(&e->state_, &word, word & ~SET))
			return;
}

bool sennit_event_is_set(const sennit_event *e)
{
	return a_load_acq(&e->state_) & SET; /* <- event.set <- queue.unlock */
}

/* Whether the caller may go: the event is set, and consumed if auto. Never
 * while it is locked: who sets it may not be done with it. */
static bool pass(sennit_event *e)
{
	uint32_t word = a_load_acq(&e->state_); /* <- event.set */

	while (word & SET && !(word & QUEUE_LOCKED)) {
		if (e->mode_ != SENNIT_EVENT_AUTO)
			return true;
		/* <- event.set */
		if (a_cas_weak_acq(&e->state_, &word, word & ~SET))
			return true;
	}
	return false;
}

static ALWAYS_INLINE int wait_until(sennit_event *e, sennit_time deadline)
{
	struct waiter n;
	uint32_t      word;

	if (pass(e))
		return 0;
	if (!deadline && !(a_load_rlx(&e->state_) & QUEUE_LOCKED))
		return -ETIMEDOUT;
	sn_waiter_init(&n, deadline);
	word = sn_queue_lock(&e->state_);
	if (word & SET) {
		bool consumed = e->mode_ == SENNIT_EVENT_AUTO;

		sn_queue_unlock(&e->state_, consumed ? word & ~SET : word);
		return 0;
	}
	if (!deadline) {
		sn_queue_unlock(&e->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(&n, SENNIT_WAITS_FOR_EVENT, e, deadline);
	word |= sn_queue_join(&e->waiters_, &n, false);
	sn_queue_unlock(&e->state_, word);
	return sn_wait_in(&e->state_, &e->waiters_, &n, deadline);
}

int sennit_event_wait_until(sennit_event *e, sennit_time deadline)
{
	return wait_until(e, deadline);
}

void sennit_event_wait(sennit_event *e)
{
	(void)!wait_until(e, SN_UNCANCELLED);
}
