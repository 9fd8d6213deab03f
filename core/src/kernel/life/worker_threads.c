/* SPDX-License-Identifier: Apache-2.0 */
#include "trim/trim.h"
#include "life/worker_threads.h"

#include "base/torture.h"
#include "life/end.h"
#include "os/os.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sched/mailbox.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/worker.h"

#include <errno.h>

/* How long no thread is started after the system has refused one. */
#define START_RETRY (100 * SENNIT_MILLISECOND)

bool sn_worker_threads_check(struct worker *w)
{
	bool closed = sn_worker_threads_is_draining(w);

	if (likely(!closed && !w->run.draining))
		return false;
	ASSERT_OWNER(w);
	if (closed != w->run.draining)
		sn_run_queue_drain(&w->run, closed);
	/* <-> worker_threads.drain: seen, before looking into the inbox */
	a_fence();
	if (closed && (sn_deque_has_tasks_owner(sn_worker_deque(w)) ||
		       !sn_inbox_is_empty(&w->mail.tasks)))
		sn_place_drain_worker(w);
	return closed;
}

/* --- counting ----------------------------------------------------------- */

/* How many of the first `open` workers have retired. */
static uint32_t count_retired_locked(const sennit_scheduler *s, uint32_t open)
{
	uint32_t retired = 0;

	for (uint32_t i = 0; i < open; i++) /* not raced: the lock is held */
		retired += !sn_thread_is_present(&s->workers[i]->thread);
	return retired;
}

/* The numbers that follow from `target`, `open` and who has a thread, after any
 * of these has changed. `searching`: see sn_parking_resize(). */
static void recount_locked(sennit_scheduler *s, int searching)
{
	uint32_t open = sn_worker_counts_open(&s->counts);
	uint32_t target = sn_worker_counts_target(&s->counts);
	uint32_t retired = count_retired_locked(s, open);

	a_store_rlx(&s->counts.retired, retired); /* not raced: the lock is
						    * held */
	sn_parking_resize(&s->parking, target, target - open + retired,
			  searching);
}

/* --- starting ----------------------------------------------------------- */

/* Start a thread for w, which is open and has none. searching: it begins as a
 * searcher. It counts as one before its thread runs. The caller is active or
 * holds a reference. So w's places in the gate and inside are not the last.
 * Returns 0 or -EAGAIN. */
static int start_locked(struct worker *w, bool searching)
{
	sennit_scheduler *s = w->scheduler;
	int               err;

	CHECK(sn_gate_enter(&s->gate) || sn_gate_ends_beside_workers(&s->gate),
	      "a worker added to an ended scheduler");
	sn_inside_enter(&s->end);
	w->idle.starts_searching = searching;
	sn_thread_prepare(&w->thread, NULL, false);
	sn_mailbox_set_awaited(&w->mail, true); /* its thread begins idle */
	sn_thread_set_present(&w->thread, true);
	recount_locked(s, searching);
	err = sn_thread_start(&w->thread, s->counts.main, w,
			      s->config.stack_size);
	if (!err)
		return 0;
	w->idle.starts_searching = false;
	sn_mailbox_set_awaited(&w->mail, false);
	sn_thread_set_present(&w->thread, false);
	recount_locked(s, -searching);
	(void)sn_inside_leave(&s->end);
	CHECK(!sn_gate_leave(&s->gate), "a worker added without a reference");
	return err;
}

/* The first open worker that has a thread (present), or that has none. */
static struct worker *first_locked(sennit_scheduler *s, bool present)
{
	uint32_t i = 0;

	while (sn_thread_is_present(&s->workers[i]->thread) != present)
		i++;
	return s->workers[i];
}

/* Start a thread for a retired worker, as a counted searcher. There must be a
 * retired worker. Returns 0 or -EAGAIN. */
static int restart_retired_locked(sennit_scheduler *s)
{
	return start_locked(first_locked(s, false), true);
}

/* No thread can be started for the retired workers: move the tasks in their
 * inboxes to a worker that has a thread. Otherwise the remaining workers might
 * be too busy to search. */
static void relieve_retired_locked(sennit_scheduler *s)
{
	struct worker *to = first_locked(s, true);
	uint32_t       open = sn_worker_counts_open(&s->counts);

	for (uint32_t i = 0; i < open; i++) {
		struct worker *w = s->workers[i];
		struct node   *newest, *oldest;

		if (sn_thread_is_present(&w->thread))
			continue;
		newest = sn_mailbox_take_tasks(&w->mail, &oldest);
		if (!newest)
			continue;
		sn_task_inbox_push(&to->mail.tasks, newest, oldest);
		sn_parking_wake(&to->sleeper);
	}
}

/* --- opening and closing ------------------------------------------------ */

/* Workers from `open` on take no new tasks any more. */
static void close_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t was = sn_worker_counts_open(&s->counts);

	sn_worker_counts_set_open(&s->counts, open);
	/* <-> worker_threads.drain: closed, before looking into inboxes */
	a_fence();
	for (uint32_t i = open; i < was; i++) {
		sn_place_drain_inbox(s->workers[i]);
		sn_parking_wake(&s->workers[i]->sleeper);
	}
}

/* Let the next worker take new tasks. started: if it gets a thread, it begins
 * as a counted searcher. */
static int open_next_locked(sennit_scheduler *s, bool started)
{
	uint32_t       i = sn_worker_counts_open(&s->counts);
	struct worker *w = s->workers[i];
	bool           called_back = sn_thread_is_present(&w->thread);
	int            err;

	if (sn_worker_counts_extent(&s->counts) <= i)
		a_store_rlx(&s->counts.extent, i + 1); /* published by the
							 * store of open */
	sn_worker_counts_set_open(&s->counts, i + 1);
	if (called_back) {
		recount_locked(s, 0);
		sn_parking_wake(&w->own_parking.sleeper);
		return 0;
	}
	err = start_locked(w, started);
	if (err) {
		close_locked(s, i);
		recount_locked(s, 0);
	}
	return err;
}

/* Lower the extent to the last worker that has a thread or is open. */
static void trim_locked(sennit_scheduler *s)
{
	uint32_t extent = sn_worker_counts_extent(&s->counts);
	uint32_t open = sn_worker_counts_open(&s->counts);

	/* Stale values are harmless: a thief that sees the old number finds
	 * nothing there. */
	while (extent > open &&
	       !sn_thread_is_present(&s->workers[extent - 1]->thread))
		extent--;
	a_store_rlx(&s->counts.extent, extent); /* stale: see above */
}

/* w, the caller's worker, is about to give up its thread: free what its next
 * thread will not need. */
static void prepare_to_leave(struct worker *w)
{
	ASSERT(!sn_run_queue_has_task(&w->run) &&
	       !sn_counters_blocked(&w->counters));
	sn_hook_retire(w);
	sn_trim_leave(w, 1);
}

bool sn_worker_threads_close_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              leaves;

	prepare_to_leave(w);
	TORTURE_POINT(); /* nothing was left; called back and closed again? */
	os_lock(&s->counts.lock);
	/* A pinned task may have come while it was called back. */
	leaves = sn_worker_threads_is_draining(w) &&
		 sn_inbox_is_empty(&w->mail.fibers);
	if (leaves) {
		sn_thread_set_present(&w->thread, false);
		trim_locked(s);
	}
	pthread_mutex_unlock(&s->counts.lock);
	return leaves;
}

/* --- the number of workers ---------------------------------------------- */

/* Start the first threadless worker. It counts as a searcher before its thread
 * runs, so a burst of work starts one worker, and that one has the next one
 * started. */
static int start_one_locked(sennit_scheduler *s)
{
	if (a_load_rlx(&s->counts.retired)) /* not raced: the lock is held */
		return restart_retired_locked(s);
	return open_next_locked(s, true);
}

/* The worker with this index is open and has a thread from now on, under the
 * lock. */
static int start_this_locked(sennit_scheduler *s, uint32_t index)
{
	int err = 0;

	if (index >= sn_worker_counts_target(&s->counts))
		return -ENOENT;
	while (sn_worker_counts_open(&s->counts) <= index && !err)
		err = open_next_locked(s, true);
	if (!err && !sn_thread_is_present(&s->workers[index]->thread))
		err = start_locked(s->workers[index], true);
	return err;
}

/* The system has refused a thread: do not ask for one for each task. */
static void postpone_starts_locked(sennit_scheduler *s)
{
	s->counts.start_after = os_after(START_RETRY);
	relieve_retired_locked(s);
}

/* Under the lock, so that the worker does not leave meanwhile: one that is
 * about to sees its wake. */
int sn_worker_threads_send_to(sennit_scheduler *s, uint32_t index,
			      struct node *n)
{
	struct worker *w = s->workers[index];
	int            err;

	os_lock(&s->counts.lock);
	err = start_this_locked(s, index);
	if (!err) {
		sn_pinned_mail_enqueue(&w->pinned_mail, &w->mail, n);
		sn_worker_wake(w);
	} else if (err == -EAGAIN) {
		postpone_starts_locked(s);
	}
	pthread_mutex_unlock(&s->counts.lock);
	if (err == -EAGAIN) /* see below */
		sn_parking_wake_one(&s->parking, 0);
	return err;
}

void sn_worker_threads_start_one(struct parking *p)
{
	sennit_scheduler *s = container_of(p, sennit_scheduler, parking);
	int               err = 0;
	bool              postponed;

	os_lock(&s->counts.lock);
	postponed = os_now_coarse() < s->counts.start_after;
	/* The value is exact under the lock. A worker that is called back may
	 * be busy for long, so the loop continues. */
	while (!postponed && a_load_rlx(&p->threadless) &&
	       sn_parking_is_hungry(p) && !err)
		err = start_one_locked(s);
	if (err)
		postpone_starts_locked(s);
	else if (postponed)
		relieve_retired_locked(s);
	pthread_mutex_unlock(&s->counts.lock);
	if (err) /* for producers that relied on the searcher that did not
		  * start */
		sn_parking_wake_one(p, 0);
}

/* Make sure that enough of the first `open` workers, which stay open, have
 * threads, because the others may be about to leave. Returns 0 or -EAGAIN. */
static int keep_floor_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t threads = open - count_retired_locked(s, open);
	uint32_t least = s->config.min_workers;
	int      err = 0;

	while (threads < open && threads < least && !err) {
		err = restart_retired_locked(s);
		threads++;
	}
	return err;
}

static int resize_locked(sennit_scheduler *s, uint32_t count)
{
	uint32_t open = sn_worker_counts_open(&s->counts);
	bool     lazy = s->config.start == SENNIT_START_LAZY;
	int      err = 0;

	err = keep_floor_locked(s, count < open ? count : open);
	if (err)
		return err;
	if (count < open)
		close_locked(s, count);
	a_store_rlx(&s->counts.target, count); /* relaxed: only a number */
	for (uint32_t i = open; !lazy && i < count && !err; i++)
		err = open_next_locked(s, false);
	if (err) {
		close_locked(s, open);
		a_store_rlx(&s->counts.target, open);
	}
	s->counts.start_after = 0;
	recount_locked(s, 0);
	trim_locked(s);
	return err;
}

/* Whether any worker has tasks, or had some a moment ago. */
static bool any_worker_has_work(const sennit_scheduler *s)
{
	/* This thread raised it, or the worker is not new. */
	uint32_t extent = sn_worker_counts_extent(&s->counts);

	for (uint32_t i = 0; i < extent; i++)
		if (sn_deque_has_tasks(sn_worker_deque(s->workers[i])) ||
		    !sn_inbox_is_empty(&s->workers[i]->mail.tasks))
			return true;
	return !sn_backlog_is_empty(&s->backlog); /* the same fence makes it
						   * visible */
}

int sn_worker_threads_resize(sennit_scheduler *s, uint32_t count)
{
	int err;

	os_lock(&s->counts.lock);
	err = resize_locked(s, count);
	pthread_mutex_unlock(&s->counts.lock);
	/* A producer that pushed before there were threadless workers had
	 * nobody to wake. */
	if (s->asymmetric)
		os_process_barrier(); /* <-> deque.unfenced: see all pushes */
	a_fence(); /* <-> park.sleep: resized, before looking for work */
	if (any_worker_has_work(s))
		sn_parking_wake_one(&s->parking, 0);
	return err;
}

/* --- retiring ----------------------------------------------------------- */

bool sn_worker_threads_retire_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              retires;

	prepare_to_leave(w);
	w->idle.retiring = false;
	/* From now on others take what is left with it: see is_left. Before
	 * sn_parking_retire, which makes it visible. */
	sn_mailbox_set_awaited(&w->mail, false);
	os_lock(&s->counts.lock);
	/* A worker that was closed meanwhile has been woken. */
	retires = sn_retire_threads(s) > s->config.min_workers &&
		  sn_parking_retire(&w->sleeper);
	if (retires) {
		sn_thread_set_present(&w->thread, false);
		recount_locked(s, 0);
	}
	pthread_mutex_unlock(&s->counts.lock);
	return retires;
}
