/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/idle.h"

#include "base/torture.h"
#include "life/end.h"
#include "life/end_clients.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/clients.h"
#include "sched/hooks.h"
#include "sched/mailbox.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/steal.h"
#include "sched/worker.h"
#include "wait/deadlines.h"

/* See idle.h. Long compared with a push, short compared with the cost of a
 * missed push. */
#define FIRST_IDLE_NAP SENNIT_MILLISECOND

/* Pauses between two rounds of a search, 100 ns; rounds between two yields to
 * other threads, 3 us; looks at the own inbox that come first, 800 ns; pauses
 * and yields of a worker that only waits for the end, 6 us. */
#define ROUND_PAUSES     4
#define ROUNDS_PER_YIELD 16
#define ANSWER_PAUSES    32
#define END_PAUSES       32
#define END_LOOKS        8

/* Beyond so many, a listener and a connection say, those who send to the others
 * run before a sleep. */
#define FEW_WAITS 2

/* How long a worker awaits the one that it has woken. That one runs some 35 us
 * later on a virtual machine, if it gets a CPU. */
#define WAKE_UP (150 * SENNIT_MICROSECOND)

/* Searches that find nothing shorten the next ones, down to 1/SPIN_SHRINK. */
#define SPIN_SHRINK 8

static bool has_something(const struct worker *w)
{
	return w->run.ready.head || sn_run_queue_has_task(&w->run);
}

static void fire_due(struct worker *w)
{
	if (!sn_timers_is_empty(&w->timers))
		sn_deadlines_fire(w, os_now());
}

/* --- searching ---------------------------------------------------------- */

/* *due becomes whether the result was only deadlines of the worker's own
 * fibers. */
static bool look_around(struct worker *w, struct steal_search *h,
			sennit_time now, bool *due)
{
	sn_worker_collect(w);
	TORTURE_POINT();   /* looked for notes, not yet for tasks of others */
	sn_poller_peek(w); /* before the deadlines: data beats them */
	*due = !has_something(w) && !sn_timers_is_empty(&w->timers) &&
	       sn_deadlines_fire(w, now);
	if (has_something(w))
		return true;
	if (sn_steal(w, h, now))
		return true;
	/* Private tasks of others were asked for: those come first. */
	return !h->since && sn_background_take(w, now);
}

/* Between two rounds, until the mailbox gets something. */
static void pause_for_mail(const struct worker *w)
{
	for (int i = 0;
	     i < ROUND_PAUSES && sn_inbox_is_empty(&w->mail.fibers) &&
	     sn_inbox_is_empty(&w->mail.tasks);
	     i++)
		a_pause();
}

/* Whether a client waits for an end that is due: no worker works, no fiber
 * waits, and no reference is left. A hint that affects only the timing. */
static bool nears_end(const struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          i = 0;

	if (!sn_end_clients_is_awaited(&s->clients) ||
	    !sn_parking_is_quiet(&s->parking) || sn_gate_references(&s->gate))
		return false;
	while (i < s->capacity &&
	       !sn_counters_blocked(&s->workers[i]->counters))
		i++;
	return i == s->capacity;
}

/* Search for as long as the worker's history suggests, and as long as other
 * workers have private tasks.
 * The time in which a worker that this one has woken is on its way does not
 * count, and the idle time begins anew after it. What fibers pass to each other
 * often comes back at once. If both workers slept meanwhile, each pass would
 * take a wake-up, which keeps the other one waiting for so long that it
 * sleeps. */
static bool spin_for_work(struct worker *w, bool *due, sennit_time *begin)
{
	struct steal_search h = { .leaves = sn_balance_piles_up(w) };
	sennit_time         now = os_now();
	bool                alone = sn_poller_is_all(w);
	sennit_time         end = alone ? now : now + w->idle.spin_ns;
	uint32_t            late = 0;
	sennit_time         patience = alone || !w->scheduler->config.spin_ns
					       ? now
					       : now + WAKE_UP;

	for (uint32_t round = 1; !look_around(w, &h, now, due); round++) {
		if (((now >= end || sn_slots_is_wanted(w)) && !h.since) ||
		    sn_worker_threads_is_draining(w) || nears_end(w)) {
			if (alone && w->polled.waiting > FEW_WAITS)
				os_thread_yield();
			return false;
		}
		/* The tasks that were asked for may be of a worker that waits
		 * for a CPU. */
		if (unlikely(sn_slots_is_wanted(w)) &&
		    !sn_slots_yield_between(w))
			return false;
		pause_for_mail(w);
		/* Whose tasks it is late for may have a lower priority. */
		if (round % ROUNDS_PER_YIELD == 0)
			os_thread_give_way(now < end ? 0 : late++);
		now = os_now();
		if (now < patience && sn_woken_is_coming(&w->woken)) {
			*begin = now;
			end = now + w->idle.spin_ns;
		}
		if (now >= end && sn_poller_is_due(w, now))
			end = now + 1;
	}
	return true;
}

/* Adapt the spin time. Work has come after an idle time of `idle` ns. If that
 * is within the limit, the next spin may last the maximum; else it gets
 * shorter. The idle time includes the sleep, so that a worker which spins too
 * little and is woken late does not stay that way. Deadlines that were due do
 * not count, because they would also have ended a sleep. */
static void learn(struct worker *w, sennit_time idle, bool due)
{
	uint32_t longest = w->scheduler->config.spin_ns;
	uint32_t least = due ? 0 : longest / SPIN_SHRINK;

	if (idle <= longest && !due)
		w->idle.spin_ns = longest;
	else
		w->idle.spin_ns = w->idle.spin_ns / 2 > least
					  ? w->idle.spin_ns / 2
					  : least;
}

/* This worker, a searcher, has found work. If it was the last searcher,
 * producers that relied on it may have queued more than one worker can do. */
static void end_search(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	sn_mailbox_set_awaited(&w->mail,
			       false); /* parking's counts make it visible */
	if (!sn_parking_found(&s->parking) ||
	    !sn_parking_is_hungry(&s->parking))
		return;
	/* A fiber or pinned task runs first, so a single task on the deque is
	 * already too many. A queued task may also have come after the last
	 * look, from a producer that relied on this worker. */
	if (sn_deque_count(sn_worker_deque(w)) >
		    !sn_run_queue_has_own(&w->run) ||
	    !sn_inbox_is_empty(&w->mail.tasks) || sn_steal_sees_tasks(w) ||
	    !sn_backlog_is_empty(w->backlog))
		sn_parking_wake_one(&s->parking, w->index);
}

/* --- parking ------------------------------------------------------------ */

static bool work_appeared(struct worker *w)
{
	return !sn_inbox_is_empty(&w->mail.fibers) || sn_steal_is_possible(w) ||
	       !sn_inbox_is_empty(&w->mail.tasks) ||
	       /* of a hook of its poller; nobody else looks there now */
	       sn_run_queue_has_task(&w->run) ||
	       sn_worker_threads_is_draining(w) ||
	       !sn_backlog_is_empty(w->backlog) ||
	       sn_gate_is_done(&w->scheduler->gate);
}

/* The last worker that finds the end reached will announce it. Wait briefly for
 * that, because a sleep would take longer. */
static void await_end(const struct worker *w)
{
	for (int i = 0; i < END_LOOKS && nears_end(w); i++) {
		for (int j = 0; j < END_PAUSES; j++) {
			if (sn_parking_is_claimed(&w->sleeper))
				return;
			a_pause();
		}
		os_thread_yield();
	}
}

/* Whether another worker may push without a fence. A short timer is dear. */
static bool may_miss_pushes(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;

	return s->asymmetric && s->parking.workers > 1 && w->run.unfenced;
}

/* The first sleep, after which pushes that were missed are visible. Returns
 * whether there may be something to do. */
static bool sleep_first(struct worker *w, sennit_time nap)
{
	if (sn_parking_sleep(&w->sleeper, nap))
		return true;
	os_process_barrier(); /* <-> deque.unfenced: see all pushes */
	return work_appeared(w);
}

/* Sleep, as announced on *as, until a wake, until a deadline of a fiber or a
 * client, or until `until`; until `nap` first, if pushes may have been missed.
 * Returns false if `until` has ended the sleep. */
static bool sleep_announced(struct worker *w, struct sleeper *as,
			    sennit_time nap, sennit_time until)
{
	sennit_time wake = sn_clients_until(w,
					    sn_timers_next_batch(&w->timers));

	if (wake < until && sn_poller_stay_awake(w))
		return true;
	/* Who retires must have missed nothing, even if a hook is due before
	 * the nap is over. */
	if ((nap < wake || (until <= wake && nap < SENNIT_NEVER)) &&
	    sleep_first(w, nap))
		return true;
	wake = sn_clients_until_long(w, as, wake < until ? wake : until);
	if (wake >= until)
		return sn_parking_sleep(as, until);
	sn_parking_sleep(as, wake);
	return true;
}

/* Sleep out of the gate; `all` sleep, or others may have pushed unseen. */
static void sleep_parked(struct worker *w, bool all, sennit_time retire)
{
	bool        sure = all || !may_miss_pushes(w);
	sennit_time nap = sure ? SENNIT_NEVER : os_after(FIRST_IDLE_NAP);

	if (w->scheduler->config.spin_ns)
		await_end(w);
	if (!sleep_announced(w, &w->sleeper, nap, retire))
		w->idle.retiring = os_now() >= retire;
}

/* Go to sleep unless work has appeared. Afterwards the worker searches. Returns
 * false if the scheduler has ended, or if w, still asleep, has been idle for so
 * long that it retires. */
static bool park_worker(struct worker *w, bool searching,
			sennit_time idle_since)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          about;
	bool              all;

	sn_clients_announce(w);
	all = sn_parking_announce(&w->sleeper, searching);
	if (work_appeared(w)) {
		sn_parking_withdraw(&w->sleeper);
		/* Its worker may need a CPU before a thief can take it. */
		if (unlikely(sn_slots_is_wanted(w)) &&
		    !sn_slots_yield_between(w))
			return false;
		return !sn_gate_is_done(&s->gate);
	}
	sn_counters_count_park(&w->counters);
	if (sn_gate_leave(&s->gate))
		sn_end_now(s);
	sn_clients_sleep(w);
	sleep_parked(w, all, sn_retire_time(w, idle_since));
	sn_clients_awake(w);
	if (w->idle.retiring)
		return false;
	sn_parking_withdraw(&w->sleeper);
	about = sn_parking_about(&w->sleeper);
	if (about != w->index)
		w->steal.last_victim = about;
	return sn_slots_enter(w);
}

/* Fibers that pass work to each other across workers answer within a fraction
 * of a microsecond. So long a worker with waiting fibers looks only at its own
 * inbox: counting as a searcher would write a cache line of all workers (a
 * token pass takes 257 instead of 164 ns). Not if there is other work. */
static bool expect_answer(struct worker *w)
{
	uint32_t pauses = w->scheduler->config.spin_ns ? ANSWER_PAUSES : 0;

	/* Who waits for I/O is answered by nobody here, nor by a hook. */
	if (sn_counters_blocked(&w->counters) <= w->polled.waiting ||
	    w->polled.active || !sn_backlog_is_empty(w->backlog))
		return false;
	for (uint32_t i = 0; i < pauses; i++) {
		if (!sn_inbox_is_empty(&w->mail.fibers)) {
			sn_worker_collect(w);
			return true;
		}
		a_pause();
	}
	return false;
}

/* A closed worker waits for its own fibers. It stays active, and wakers that
 * look for help do not see it. Returns false if nothing is left that only this
 * worker can do. */
static bool stand_by(struct worker *w)
{
	sn_worker_collect(w);
	(void)sn_poller_turn(w);
	fire_due(w);
	if (has_something(w))
		return true;
	if (!sn_counters_blocked(&w->counters))
		return false;
	sn_idle_for_fiber(w, SENNIT_NEVER);
	return true;
}

/* Whether w begins to search. The starter of a new thread has already counted
 * it. */
static bool begin_search(struct worker *w)
{
	bool started = w->idle.starts_searching;

	w->idle.starts_searching = false;
	return started || sn_parking_search(&w->scheduler->parking);
}

/* There is something to run, at `now`; `exact` if the clock has been read. */
static void resume_from_idle(struct worker *w, sennit_time now, bool exact)
{
	a_store_rlx(&w->clock, now);
	/* Without tasks none can wait for long. For a poller the dispatches are
	 * measured: see poller.h. */
	sn_run_queue_rested(&w->run, exact ? now : 0,
			    sn_run_queue_has_task(&w->run) &&
				    !sn_poller_is_busy(w));
	sn_poller_resume(w, now);
}

bool sn_idle(struct worker *w)
{
	sennit_time begin, now;
	bool        searching;
	bool        due = false;

	ASSERT_OWNER(w);
	/* There may be ready fibers when it was a task's turn and a thief took
	 * that task. */
	sn_hook_idle(w);
	if (w->run.ready.head || sn_poller_turn(w) || expect_answer(w))
		return true;
	if (sn_worker_threads_check(w) && !w->idle.starts_searching)
		return stand_by(w);
	begin = os_now();
	sn_idle_begin(&w->idle, begin);
	sn_mailbox_set_awaited(&w->mail, true); /* a late view leaves less to
						 * this worker */
	searching = begin_search(w);
	sn_hook_search(w);
	while (!searching || !spin_for_work(w, &due, &begin)) {
		if (!park_worker(w, searching, begin))
			return false;
		sn_hook_search(w);
		searching = true;
		if (sn_worker_threads_check(w)) {
			end_search(w);
			sn_idle_end(&w->idle, os_now());
			return stand_by(w);
		}
	}
	end_search(w);
	sn_hook_update(w);
	now = os_now();
	resume_from_idle(w, now, true);
	sn_idle_end(&w->idle, now);
	learn(w, now - begin, due);
	return true;
}

/* Pinned mail, same-thread tasks of a hook of its poller and, without workers,
 * all tasks of a hook come while a worker waits for fibers. */
static bool has_own_tasks(const struct worker *w)
{
	return sn_run_queue_has_task(&w->run) ||
	       (!w->threaded && !sn_backlog_is_empty(w->backlog));
}

void sn_idle_for_fiber(struct worker *w, sennit_time until)
{
	struct sleeper *as = &w->own_parking.sleeper;
	const bool      stuck = has_own_tasks(w); /* there is no stack for
						   * them */
	bool            in_time = true;
	bool            exact;

	ASSERT_OWNER(w);
	for (;;) {
		sn_worker_collect(w);
		(void)sn_poller_turn(w);
		fire_due(w);
		if (w->run.ready.head || !in_time ||
		    (!stuck && has_own_tasks(w)) ||
		    sn_worker_threads_is_kept(w))
			break;
		sn_clients_announce(w);
		sn_parking_announce(as, false);
		if (sn_inbox_is_empty(&w->mail.fibers) &&
		    !sn_worker_threads_is_kept(w)) {
			sn_counters_count_park(&w->counters);
			sn_clients_sleep(w);
			in_time = sleep_announced(w, as, SENNIT_NEVER, until);
			sn_clients_awake(w);
		}
		sn_own_parking_withdraw(&w->own_parking);
		sn_slots_take_inside(w);
	}
	sn_hook_update(w);
	exact = sn_poller_is_busy(w);
	resume_from_idle(w, exact ? os_now() : os_now_coarse(), exact);
}
