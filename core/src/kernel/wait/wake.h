/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h - makes a waiter run again that the caller has claimed.
 *
 * A fiber of the caller's worker goes to its ready list. A fiber of another
 * worker goes to the inbox of that worker, which is woken if it sleeps. A
 * thread is woken by futex. Many fibers of one worker travel in one push.
 *
 * The caller must not hold the lock of the object that was waited for. It must
 * not access the object or the waiter afterwards.
 */
#ifndef SN_WAKE_H
#define SN_WAKE_H

#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/run_queue.h"

/* Make a claimed waiter of another worker, or a thread, run. */
void sn_wake_other(struct waiter *n);

/* Make a claimed waiter run. The lock of its object must not be held. */
static inline void sn_wake(struct waiter *n)
{
	struct worker *w = sn_self;

	if (likely(n->home == w)) {
		sn_race_release(&n->fiber->wait);
		sn_hook_wake(w, n);
		sn_fiber_state_ready(&n->fiber->state);
		sn_run_queue_make_ready(&w->run, n->fiber);
	} else {
		sn_wake_other(n);
	}
}

/* The same for a chain of waiters. */
void sn_wake_chain(struct link *chain);

static inline void sn_wake_all(struct link *chain)
{
	if (!chain)
		return;
	if (likely(chain->next == chain))
		sn_wake(container_of(chain, struct waiter, link));
	else
		sn_wake_chain(chain);
}

/* Cancel the scope: its waits, current and future, end with -ECANCELED. Returns
 * whether it was not cancelled before. The scope may then be gone. */
bool sn_wake_cancelled(struct sennit_cancel_scope *s);

#endif
