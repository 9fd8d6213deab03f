/* SPDX-License-Identifier: Apache-2.0 */
/* fiber_wait.c - sennit_fiber_wait: a fiber waits with a mutex until another
 * fiber or thread notifies it and its predicate holds. */
#include "sennit/fiber.h"

#include "base/torture.h"
#include "sync/mutex.h"
#include "wait/wait.h"

/* The record lies in the fiber, which outlives every handle to it. Any notify
 * may claim it, so a wait without a deadline is raced, too. */
static int wait_for_notify(struct sennit_fiber *self, sennit_mutex *m,
			   sennit_time deadline)
{
	struct waiter *n = &self->wait;
	int            err;

	n->fiber = self;
	n->home = sn_self;
	n->whole = n;
	n->is.raced = true;
	n->scope = sn_wait_scope(self, deadline);
	n->is.shielded = sn_wait_is_shielded(self, deadline);
	sn_wait_show(n, SENNIT_WAITS_FOR_NOTIFY, m, deadline);
	/* -> fiber.wait: the record; the predicate was false */
	a_store_rel(&n->claim, WAITER_WAITING);
	TORTURE_POINT();
	sennit_mutex_unlock(m);
	err = sn_wait(n, deadline);
	sennit_mutex_lock(m);
	return err;
}

bool sennit_fiber_wait(sennit_mutex *m, sennit_predicate *holds, void *argument,
		       sennit_time deadline)
{
	struct worker *w = sn_self;

	MISUSE(!w, "sennit_fiber_wait", "no scheduler is bound to this thread");
	MISUSE(!sn_mutex_is_held(m), "sennit_fiber_wait",
	       "the caller does not hold the mutex");
	while (!holds(argument))
		if (!deadline || wait_for_notify(w->home.current, m, deadline))
			return holds(argument);
	return true;
}

void sennit_fiber_notify(sennit_fiber *f)
{
	/* <- fiber.wait. If the fiber does not wait, it will check its
	 * predicate with the lock held, after the change that this notify
	 * announces. */
	if (a_load_acq(&f->wait.claim) != WAITER_WAITING)
		return;
	TORTURE_POINT(); /* it may be in a later wait by now */
	if (sn_waiter_claim_part(&f->wait, 0))
		sn_wake(&f->wait);
}
