/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/fiber.h"

#include "api/mutex.h"
#include "base/torture.h"
#include "os/os.h"
#include "worker/loop.h"
#include "worker/trace.h"
#include "wait/wait.h"

#include <errno.h>

sennit_fiber *sennit_fiber_current(void)
{
	return sn_self ? sn_self->home.current : NULL;
}

uint32_t sennit_fiber_id(const sennit_fiber *f)
{
	return f->id;
}

void sennit_fiber_set_name(const char *name)
{
	struct sennit_fiber *f = sennit_fiber_current();

	if (!f)
		return;
	f->cleanup &= ~CLEANUP_NAME;
	if (name && name[0])
		f->cleanup |= CLEANUP_NAME;
	sn_task_name_write(&f->name, name ? name : "");
	if (sn_worker_is_traced(sn_self))
		sn_trace_name(sn_self, name ? name : "");
}

/* The record lies in the fiber, which outlives every handle to it. Any notify
 * may claim it, so a wait without a deadline is raced, too. */
static int wait_for_notify(struct sennit_fiber *self, sennit_mutex *m,
			   sennit_time deadline)
{
	struct waiter *n = &self->wait;
	int            err;

	n->fiber = self;
	n->home = sn_self;
	n->is.raced = true;
	n->scope = sn_wait_scope(self, deadline);
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

void sennit_yield(void)
{
	if (sn_self)
		sn_loop_yield(sn_self);
	else
		os_thread_yield();
}

/* A sleep is a wait whose deadline is the wake-up time. Only the timer and a
 * cancel can claim it. */
static int sleep_until(sennit_time wake, struct sennit_cancel_scope *scope)
{
	struct waiter n;
	int           err;

	sn_waiter_mine(&n);
	sn_waiter_race(&n, scope);
	sn_wait_show(&n, SENNIT_WAITS_FOR_TIME, NULL, wake);
	err = sn_wait(&n, wake);
	return err == -ETIMEDOUT && (!scope || os_now() >= wake) ? 0 : err;
}

int sennit_sleep_until(sennit_time wake)
{
	struct worker *w = sn_self;

	if (wake <= os_now())
		return 0;
	return sleep_until(wake,
			   w ? sn_wait_scope(w->home.current, wake) : NULL);
}

void sennit_sleep(uint64_t nanoseconds)
{
	sennit_time wake = sennit_after(nanoseconds);

	if (nanoseconds)
		(void)!sleep_until(wake, NULL);
}
