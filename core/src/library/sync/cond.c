/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - condition variables. */
#include "base/compiler.h"
#include "sync/mutex.h"
#include "wait/wait.h"
#include "sennit/cond.h"

#include <errno.h>

void sennit_cond_init(sennit_cond *c)
{
	a_init(&c->state_, 0);
	c->zero_ = 0;
	c->waiters_ = NULL;
}

void sennit_cond_destroy(sennit_cond *c)
{
	MISUSE(a_load_rlx(&c->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_cond_destroy",
	       "a fiber or thread still waits for the condition variable");
}

/* A waiter that waited before the notify linked itself, and only then unlocked
 * its mutex. So a notifier that must see the waiter sees the bit. */
static bool has_waiters(sennit_cond *c)
{
	return a_load_acq(&c->state_) != 0; /* <- wait_queue.unlock */
}

void sennit_cond_notify_one(sennit_cond *c)
{
	struct waiter *n;
	uint32_t       word;

	if (!has_waiters(c))
		return;
	word = sn_wait_queue_lock(&c->state_);
	n = sn_wait_take_one(&c->waiters_);
	sn_wait_queue_unlock(&c->state_, sn_wait_queue_bits(c->waiters_, word));
	if (n)
		sn_wake(n);
}

void sennit_cond_notify_all(sennit_cond *c)
{
	struct link *waiters;
	uint32_t     word;

	if (!has_waiters(c))
		return;
	word = sn_wait_queue_lock(&c->state_);
	waiters = sn_wait_take_all(&c->waiters_, word);
	sn_wait_queue_unlock(&c->state_, 0);
	sn_wake_all(waiters);
}

static int wait_for_cond(sennit_cond *c, sennit_mutex *m, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;
	int            err;

	MISUSE(!sn_mutex_is_held(m), "sennit_cond_wait",
	       "the caller does not hold the mutex");
	n = sn_waiter_own(deadline);
	word = sn_wait_queue_lock(&c->state_);
	sn_wait_show(n, SENNIT_WAITS_FOR_COND, c, deadline);
	word |= sn_wait_queue_join(&c->waiters_, n, false);
	sn_wait_queue_unlock(&c->state_, word);
	sennit_mutex_unlock(m);
	err = sn_wait_in(&c->state_, &c->waiters_, n, deadline);
	sennit_mutex_lock(m);
	return err;
}

int sennit_cond_wait_until(sennit_cond *c, sennit_mutex *m,
			   sennit_time deadline)
{
	return KEEP_FRAME(wait_for_cond(c, m, deadline));
}

int sennit_cond_wait(sennit_cond *c, sennit_mutex *m)
{
	return KEEP_FRAME(wait_for_cond(c, m, SENNIT_NEVER));
}

int sennit_cond_wait_until_true(sennit_cond *c, sennit_mutex *m,
				sennit_predicate *holds, void *argument,
				sennit_time deadline)
{
	int err;

	while (!holds(argument)) {
		err = deadline ? sennit_cond_wait_until(c, m, deadline)
			       : -ETIMEDOUT;
		if (err)
			return holds(argument) ? 0 : err;
	}
	return 0;
}
