/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/deadlines.h"

#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/run_queue.h"

/* The number of due timers whose memory is prefetched before they fire. A timer
 * takes about 100 ns of work; a miss in caches and TLB takes several times as
 * long. */
#define FIRE_AHEAD 6

/* Each record lies on a page of its own, and none is in a cache. Returns the
 * timer after this one. */
static inline struct timer *prefetch_timer(struct timer *t)
{
	const struct alarm *a;

	if (!t)
		return NULL;
	a = container_of(t, struct alarm, timer);
	__builtin_prefetch(&a->waiter->claim, 1);
	__builtin_prefetch(a->fiber, 1);
	return t->next;
}

bool sn_deadlines_fire(struct worker *w, sennit_time now)
{
	struct timer *t;
	struct timer *ahead;
	bool          fired = false;

	sn_timers_expire(&w->timers, now, &t);
	ahead = t;
	for (int i = 0; i < FIRE_AHEAD; i++)
		ahead = prefetch_timer(ahead);
	while (t) {
		struct waiter *n = container_of(t, struct alarm, timer)->waiter;
		uint32_t       waiting = WAITER_WAITING;
		const struct timer *due = t;

		ahead = prefetch_timer(ahead);
		t = t->next;
		/* Only a wait that no one has claimed times out. If a signaller
		 * was first, it wakes the waiter. -> wait.claim <-
		 * wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT)) {
			sn_hook_expire(w, n, due->expiry);
			sn_fiber_state_ready(&n->fiber->state);
			sn_run_queue_make_ready(&w->run, n->fiber);
			fired = true;
		}
	}
	return fired;
}
