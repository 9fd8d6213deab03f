/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/upkeep.h"

#include "os/os.h"
#include "worker/background.h"
#include "worker/deadlines.h"
#include "worker/observe.h"
#include "worker/poller.h"
#include "worker/slots.h"
#include "worker/trim.h"
#include "worker/worker_stacks.h"
#include "worker/worker_threads.h"

/* Record a possible peak of waiting fibers: some of them will run soon, or the
 * last look was some time ago. */
void sn_upkeep_note_peak(struct worker *w)
{
	uint64_t blocked = sn_worker_blocked(w);

	sn_trim_note_blocked(&w->trim, blocked);
	sn_counters_note_blocked(&w->counters, blocked);
}

/* The time, coarse if nothing needs it exactly. */
static sennit_time look_at_clock(struct worker *w)
{
	sennit_time now;

	if (sn_timers_is_empty(&w->timers)) {
		now = os_now_coarse();
		if (sn_run_queue_is_blind(&w->run, now))
			return now;
	}
	now = os_now();
	sn_run_queue_look(&w->run, now);
	return now;
}

/* The regular checks that could otherwise starve: inbox, timers, and whether
 * the worker is closed. */
NOINLINE bool sn_upkeep(struct worker *w)
{
	sennit_time now;
	bool        is_turn;

	if (unlikely(sn_slots_is_wanted(w)))
		sn_slots_yield(w);
	now = look_at_clock(w);
	/* With something to poll, sn_poller_flush() below sees to it that the
	 * next upkeep comes in time. */
	is_turn = sn_run_queue_begin_upkeep(&w->run, sn_poller_is_busy(w));
	if (w->threaded)
		sn_worker_threads_check(w);
	sn_observe_look(w);
	sn_worker_collect(w);
	sn_poller_flush(w);
	if (!sn_timers_is_empty(&w->timers))
		sn_deadlines_fire(w, now);
	a_store_rlx(&w->clock, now);
	sn_upkeep_note_peak(w);
	if (unlikely(sn_trim_is_due(w, now)))
		sn_trim_attend(w, now);
	sn_background_attend(w, now);
	sn_worker_stacks_share(w);
	return is_turn;
}

/* Late views are harmless: the next upkeep looks again. */
static bool is_in_vain(struct worker *w)
{
	return sn_worker_wants_newest(w) && !sn_mailbox_has_tasks(&w->mail) &&
	       sn_timers_is_empty(&w->timers) && !sn_poller_is_busy(w) &&
	       !sn_slots_is_wanted(w) && sn_backlog_is_empty(w->backlog) &&
	       !sn_worker_threads_is_draining(w);
}

bool sn_upkeep_skip(struct worker *w)
{
	return is_in_vain(w) && sn_run_queue_skip(&w->run);
}

bool sn_upkeep_tick_due(struct worker *w)
{
	(void)sn_upkeep(w);
	if (!sn_run_queue_is_aged(&w->run))
		return true;
	/* The caller is about to wait for a task that may be here. Without a
	 * stack nobody could run it. */
	if (sn_stack_cache_is_empty(&w->idle_stacks) &&
	    !sn_worker_stacks_add(w)) {
		sn_run_queue_forgo_turn(&w->run);
		return true;
	}
	sn_run_queue_due_in(&w->run, 1); /* the loop's next dispatch is a
					  * task's, even if fibers are ready */
	return false;
}
