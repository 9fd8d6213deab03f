/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/loop.h"

#include "base/torture.h"
#include "life/end.h"
#include "life/life.h"
#include "life/slots.h"
#include "observe/observe.h"
#include "observe/stall.h"
#include "os/os.h"
#include "sched/place.h"
#include "sched/poller.h"
#include "sched/run_queue.h"
#include "sched/steal.h"
#include "sched/worker.h"

/* See loop.h. Long compared with a push, short compared with the cost of a
 * missed push. */
#define FIRST_NAP SENNIT_MILLISECOND

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
static void rest(const struct worker *w)
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
static bool spin(struct worker *w, bool *due, sennit_time *begin)
{
	struct steal_search h = { .leaves = sn_balance_piles_up(w) };
	sennit_time         now = os_now();
	bool                alone = sn_poller_is_all(w);
	sennit_time         end = alone ? now : now + w->idle.spin_ns;
	sennit_time         patience =
		alone || !w->scheduler->config.spin_ns ? now : now + WAKE_UP;

	for (uint32_t round = 1; !look_around(w, &h, now, due); round++) {
		if (((now >= end || sn_slots_is_wanted(w)) && !h.since) ||
		    sn_worker_threads_is_draining(w) || nears_end(w)) {
			if (alone && w->polled.waiting > FEW_WAITS)
				os_thread_yield();
			return false;
		}
		rest(w);
		if (round % ROUNDS_PER_YIELD == 0)
			os_thread_yield();
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
static void found(struct worker *w)
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
	       sn_deque_has_tasks_owner(sn_worker_deque(w)) ||
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

/* Sleep until a wake or a deadline. Once nothing can have been missed (`all`
 * sleep, or the look after the first nap), also until `retire`. */
static void sleep_announced(struct worker *w, bool all, sennit_time retire)
{
	sennit_time wake = sn_poller_asleep(w,
					    sn_timers_next_batch(&w->timers));
	bool        sure = all || !may_miss_pushes(w);
	sennit_time nap = sure ? SENNIT_NEVER : os_after(FIRST_NAP);

	if (w->scheduler->config.spin_ns)
		await_end(w);
	if (sn_poller_stay_awake(w))
		return;
	if (nap < wake) {
		if (sn_parking_sleep(&w->sleeper, nap))
			return;
		os_process_barrier(); /* <-> deque.unfenced: see all pushes */
		if (work_appeared(w))
			return;
	}
	wake = wake < retire ? wake : retire;
	wake = sn_trim_asleep(w, &w->sleeper, wake);
	if (!sn_parking_sleep(&w->sleeper, wake))
		w->idle.retiring = os_now() >= retire;
}

/* Go to sleep unless work has appeared. Afterwards the worker searches. Returns
 * false if the scheduler has ended, or if w, still asleep, has been idle for so
 * long that it retires. */
static bool park(struct worker *w, bool searching, sennit_time idle_since)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          about;
	bool              all;

	sn_worker_stacks_share(w);
	sn_stall_park(w);
	all = sn_parking_announce(&w->sleeper, searching);
	if (work_appeared(w)) {
		sn_parking_withdraw(&w->sleeper);
		return !sn_gate_is_done(&s->gate);
	}
	sn_counters_count_park(&w->counters);
	if (sn_gate_leave(&s->gate))
		sn_end_now(s);
	sn_slots_give(w);
	TORTURE_POINT(); /* out of the gate, not asleep yet */
	sn_observe_park(w);
	sleep_announced(w, all, sn_retire_time(w, idle_since));
	sn_observe_unpark(w);
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
static void go_on(struct worker *w, sennit_time now, bool exact)
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
	sn_observe_forget(w);
	if (w->run.ready.head || sn_poller_turn(w) || expect_answer(w))
		return true;
	if (sn_worker_threads_check(w) && !w->idle.starts_searching)
		return stand_by(w);
	begin = os_now();
	sn_idle_begin(&w->idle, begin);
	sn_mailbox_set_awaited(&w->mail, true); /* a late view leaves less to
						 * this worker */
	searching = begin_search(w);
	sn_observe_search(w);
	while (!searching || !spin(w, &due, &begin)) {
		if (!park(w, searching, begin))
			return false;
		sn_observe_search(w);
		searching = true;
		if (sn_worker_threads_check(w)) {
			found(w);
			sn_idle_end(&w->idle, os_now());
			return stand_by(w);
		}
	}
	found(w);
	sn_observe_update(w);
	now = os_now();
	go_on(w, now, true);
	sn_idle_end(&w->idle, now);
	learn(w, now - begin, due);
	return true;
}

/* Sleep until a wake, `wake` or `until`. Returns false if `until` ended the
 * sleep. */
static bool sleep_alone(struct worker *w, sennit_time wake, sennit_time until)
{
	struct sleeper *as = &w->own_parking.sleeper;

	wake = sn_poller_asleep(w, wake);
	if (wake < until && sn_poller_stay_awake(w))
		return true;
	wake = sn_trim_asleep(w, as, wake < until ? wake : until);
	if (wake >= until)
		return sn_parking_sleep(as, until);
	sn_parking_sleep(as, wake);
	return true;
}

void sn_idle_for_fiber(struct worker *w, sennit_time until)
{
	bool in_time = true;
	bool exact;

	ASSERT_OWNER(w);
	sn_worker_stacks_share(w);
	for (;;) {
		sennit_time wake;

		sn_worker_collect(w);
		(void)sn_poller_turn(w);
		fire_due(w);
		if (w->run.ready.head || !in_time ||
		    sn_worker_threads_is_kept(w))
			break;
		sn_stall_park(w);
		sn_parking_announce(&w->own_parking.sleeper, false);
		if (sn_inbox_is_empty(&w->mail.fibers) &&
		    !sn_worker_threads_is_kept(w)) {
			sn_counters_count_park(&w->counters);
			sn_slots_give(w);
			sn_observe_park(w);
			wake = sn_timers_next_batch(&w->timers);
			in_time = sleep_alone(w, wake, until);
			sn_observe_unpark(w);
		}
		sn_own_parking_withdraw(&w->own_parking);
		sn_slots_take_inside(w);
	}
	sn_observe_update(w);
	exact = sn_poller_is_busy(w);
	go_on(w, exact ? os_now() : os_now_coarse(), exact);
}
