/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - the word says whether the function runs, and whether it is done.
 *
 *	0 --first caller--> ONCE_RUNNING --success--> ONCE_DONE   (final)
 *	                      |
 *	                      +-- failure --> 0, or ONCE_RUNNING for a waiter
 *
 * A waiter whose wake transfers the turn (`handed`) runs its own function. Any
 * other wake means that it is done. So no woken waiter looks at the word again,
 * and none accesses it after ONCE_DONE.
 *
 * Only the running caller writes owner_. Others compare it with their own
 * identity, which a stale value cannot equal.
 */
#include "base/compiler.h"
#include "wait/wait.h"
#include "sennit/once.h"

#include <errno.h>

#define ONCE_RUNNING WAIT_QUEUE_OWN
#define ONCE_DONE    (WAIT_QUEUE_OWN << 1)

enum { ONCE_TURN = 0, ONCE_IS_DONE = 1 };

_Static_assert(sizeof(sennit_once) == 2 * sizeof(uint32_t) + 2 * sizeof(void *),
	       "a once is three words");

void sennit_once_init(sennit_once *o)
{
	a_init(&o->state_, 0);
	o->zero_ = 0;
	o->waiters_ = NULL;
	a_init(&o->owner_, NULL);
}

void sennit_once_destroy(sennit_once *o)
{
	MISUSE(a_load_rlx(&o->state_) & (ONCE_RUNNING | WAIT_QUEUE_WAITERS),
	       "sennit_once_destroy", "the function of the once is running");
}

/* Also true while a late caller holds the lock: ONCE_DONE is final. */
bool sennit_once_is_done(const sennit_once *o)
{
	/* <- wait_queue.unlock */
	bool done = a_load_acq(&o->state_) & ONCE_DONE;

	if (done)
		sn_race_acquire(o);
	return done;
}

/* A caller that passes may free the object, so it must not pass while the word
 * is locked. */
static inline bool may_pass(const sennit_once *o)
{
	/* <- wait_queue.unlock */
	bool may = a_load_acq(&o->state_) == ONCE_DONE;

	if (may)
		sn_race_acquire(o);
	return may;
}

/* Take the turn, or wait until it is done. Returns ONCE_TURN, ONCE_IS_DONE or
 * an error. */
static int enter_once(sennit_once *o, sennit_time deadline, const char *call)
{
	struct waiter *n;
	uint32_t       word;
	int            err;

	n = sn_waiter_own(deadline);
	word = sn_wait_queue_lock(&o->state_);
	if (!(word & ONCE_RUNNING)) {
		sn_race_acquire(o);
		sn_wait_queue_unlock(&o->state_, word & ONCE_DONE
							 ? ONCE_DONE
							 : ONCE_RUNNING);
		return word & ONCE_DONE ? ONCE_IS_DONE : ONCE_TURN;
	}
	MISUSE(a_load_rlx(&o->owner_) == sn_wait_identity(), call,
	       "called from its own function");
	if (!deadline) {
		sn_wait_queue_unlock(&o->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_ONCE, o, deadline);
	word |= sn_wait_queue_join(&o->waiters_, n, false);
	sn_wait_open_owner(n, &o->owner_);
	sn_wait_queue_unlock(&o->state_, word);
	err = sn_wait_in(&o->state_, &o->waiters_, n, deadline);
	sn_wait_close_owner(n);
	if (err)
		return err;
	return n->is.handed ? ONCE_TURN : ONCE_IS_DONE;
}

static void set_once_owner(sennit_once *o)
{
	a_store_rlx(&o->owner_, sn_wait_identity());
}

static void finish_once(sennit_once *o)
{
	uint32_t     word;
	struct link *waiters;

	sn_race_release(o);
	a_store_rlx(&o->owner_, NULL);
	word = sn_wait_queue_lock(&o->state_);
	waiters = sn_wait_take_all(&o->waiters_, word);
	sn_wait_queue_unlock(&o->state_, ONCE_DONE);
	sn_wake_all(waiters);
}

/* The waiter that has waited longest, if any, gets the turn. */
static void hand_over_once(sennit_once *o)
{
	uint32_t       word;
	struct waiter *n;

	sn_race_release(o);
	a_store_rlx(&o->owner_, NULL);
	word = sn_wait_queue_lock(&o->state_);
	n = sn_wait_take_one(&o->waiters_);
	word = sn_wait_queue_bits(o->waiters_, word);
	if (n)
		n->is.handed = true;
	sn_wait_queue_unlock(&o->state_, n ? word : 0);
	if (n)
		sn_wake(n);
}

int sennit_once_call_until(sennit_once *o, sennit_once_fn *run, void *argument,
			   sennit_time deadline)
{
	int err;

	ARCH_BARRIER();
	if (likely(may_pass(o)))
		return 0;
	err = enter_once(o, deadline, "sennit_once_call_until");
	if (err)
		return err < 0 ? err : 0;
	set_once_owner(o);
	run(argument);
	finish_once(o);
	return KEEP_FRAME(0);
}

void sennit_once_call(sennit_once *o, sennit_once_fn *run, void *argument)
{
	ARCH_BARRIER(); /* it would run for ever */
	if (likely(may_pass(o)) ||
	    enter_once(o, SN_UNCANCELLED, "sennit_once_call"))
		return;
	set_once_owner(o);
	run(argument);
	finish_once(o);
	FRAME_IS_KEPT();
}

int sennit_once_attempt_until(sennit_once *o, sennit_once_attempt_fn *run,
			      void *argument, sennit_time deadline)
{
	int err;

	ARCH_BARRIER();
	if (likely(may_pass(o)))
		return 0;
	err = enter_once(o, deadline, "sennit_once_attempt_until");
	if (err)
		return err < 0 ? err : 0;
	set_once_owner(o);
	err = run(argument);
	if (err)
		hand_over_once(o);
	else
		finish_once(o);
	return err;
}
