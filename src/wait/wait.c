/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait.h"

#include "worker/finalise.h"

#include <errno.h>
#include <string.h>

_Thread_local struct parker sn_parker;

/* --- sleeping ----------------------------------------------------------- */

static void sleep_fiber(struct waiter *n, sennit_time deadline)
{
	struct worker *w = sn_self;
	struct alarm  *a;

	if (deadline >= SN_UNCANCELLED) {
		sn_loop_suspend(w);
		return;
	}
	a = sn_worker_alarm(w, n->fiber);
	a->waiter = n;
	sn_timers_arm(&w->timers, &a->timer, deadline);
	sn_loop_suspend(w);
	if (sn_timer_is_armed(&a->timer))
		sn_timers_cancel(&w->timers, &a->timer);
}

static void sleep_thread(struct waiter *n, sennit_time deadline)
{
	uint32_t waiting = WAITER_WAITING;

	if (deadline == SN_UNCANCELLED)
		deadline = SENNIT_NEVER;
	while (!a_load_acq(&n->parker->word)) { /* <- wait.thread */
		if (os_word_wait(&n->parker->word, 0, deadline))
			continue;
		/* -> wait.claim <- wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT))
			return;
		/* A signaller has claimed it, so its wake must end this
		 * wait. */
		deadline = SENNIT_NEVER;
	}
}

static void sleep_anyhow(struct waiter *n, sennit_time deadline)
{
	if (n->fiber)
		sleep_fiber(n, deadline);
	else
		sleep_thread(n, deadline);
}

/* The wait ends at once; reports count it as a wait. */
void sn_wait_skip(const struct waiter *n)
{
	struct worker *w = sn_self;

	if (!n->fiber)
		return;
	sn_counters_count_block(&w->counters);
	sn_fiber_state_run(&n->fiber->state);
	sn_counters_count_resume(&w->counters);
}

static void sleep_in_scope(struct waiter *n, sennit_time deadline)
{
	if (n->scope->deadline_ < deadline)
		deadline = n->scope->deadline_;
	if (!sn_cancel_scope_enlist(n)) {
		sn_wait_skip(n);
		return;
	}
	sleep_fiber(n, deadline);
	sn_cancel_scope_withdraw(n);
}

static COLD int cancelled(const struct waiter *n)
{
	if (n->fiber)
		sn_observe_count_cancel(&n->home->observe);
	return -ECANCELED;
}

int sn_wait(struct waiter *n, sennit_time deadline)
{
	if (!n->is.raced) {
		sleep_anyhow(n, deadline);
		return 0;
	}
	if (n->scope)
		sleep_in_scope(n, deadline);
	else
		sleep_anyhow(n, deadline);
	switch (a_load_acq(&n->claim)) { /* <- wait.claim */
	case WAITER_TIMEDOUT:
		return -ETIMEDOUT;
	case WAITER_CANCELLED:
		return cancelled(n);
	default:
		return 0;
	}
}

/* A signaller that found the claim taken may still use n until it unlocks. */
void sn_wait_leave(sennit_word *word, void **list, struct waiter *n)
{
	uint32_t value = sn_wait_queue_lock(word);

	if (n->is.linked)
		sn_wait_queue_leave(list, n);
	sn_wait_queue_unlock(word, sn_wait_queue_bits(*list, value));
}

int sn_wait_in_slow(sennit_word *word, void **list, struct waiter *n,
		    sennit_time deadline)
{
	int err = sn_wait(n, deadline);

	if (err)
		sn_wait_leave(word, list, n);
	return err;
}
