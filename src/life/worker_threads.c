/* SPDX-License-Identifier: Apache-2.0 */
#include "life/life.h"

#include "base/torture.h"
#include "life/end.h"
#include "observe/observe.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/loop.h"
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
		sn_place_pass_on(w);
	return closed;
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
		sn_place_forward(s->workers[i]);
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
		sn_parking_wake(&w->own_parking.sleeper);
		return 0;
	}
	err = sn_worker_threads_start_locked(w, started);
	if (err)
		close_locked(s, i);
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

bool sn_worker_threads_close_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              leaves;

	sn_retire_prepare(w);
	TORTURE_POINT(); /* nothing was left; called back and closed again? */
	os_lock(&s->counts.lock);
	/* An errand may have come while it was called back. */
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

/* Open the next worker. It counts as a searcher before it is visible, so a
 * burst of work starts one worker, and that one has the next one started. */
static int start_next_locked(sennit_scheduler *s)
{
	struct parking *p = &s->parking;
	uint32_t        i = sn_worker_counts_open(&s->counts);
	uint32_t        target = sn_worker_counts_target(&s->counts);
	int             err;

	if (sn_thread_is_present(&s->workers[i]->thread)) {
		sn_parking_resize(p, target, target - i - 1);
		return open_next_locked(s, false);
	}
	sn_parking_started(p);
	err = open_next_locked(s, true);
	if (err)
		sn_parking_unstarted(p);
	return err;
}

/* Start the first threadless worker. */
static int start_one_locked(sennit_scheduler *s)
{
	if (a_load_rlx(&s->counts.retired)) /* not raced: the lock is held */
		return sn_retire_restart_locked(s);
	return start_next_locked(s);
}

/* The worker with this index is open and has a thread from now on, under the
 * lock. */
static int start_this_locked(sennit_scheduler *s, uint32_t index)
{
	int err = 0;

	if (index >= sn_worker_counts_target(&s->counts))
		return -ENOENT;
	while (sn_worker_counts_open(&s->counts) <= index && !err)
		err = start_next_locked(s);
	if (!err && !sn_thread_is_present(&s->workers[index]->thread))
		err = sn_retire_restart_this_locked(s->workers[index]);
	return err;
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
		sn_errands_leave(&w->errands, &w->mail, n);
		sn_worker_wake(w);
	}
	pthread_mutex_unlock(&s->counts.lock);
	return err;
}

void sn_worker_threads_start_one(struct parking *p)
{
	sennit_scheduler *s = container_of(p, sennit_scheduler, parking);
	int               err = 0;
	bool              refused;

	os_lock(&s->counts.lock);
	refused = os_now_coarse() < s->counts.refused;
	/* The value is exact under the lock. A worker that is called back may
	 * be busy for long, so the loop continues. */
	while (!refused && a_load_rlx(&p->threadless) &&
	       sn_parking_is_hungry(p) && !err)
		err = start_one_locked(s);
	if (err) /* do not retry for each task */
		s->counts.refused = os_after(START_RETRY);
	if (err || refused)
		sn_retire_relieve_locked(s);
	pthread_mutex_unlock(&s->counts.lock);
	if (err) /* for producers that relied on the searcher that did not
		  * start */
		sn_parking_wake_one(p, 0);
}

static int resize_locked(sennit_scheduler *s, uint32_t count)
{
	uint32_t open = sn_worker_counts_open(&s->counts);
	bool     lazy = s->config.start == SENNIT_START_LAZY;
	uint32_t retired;
	int      err = 0;

	err = sn_retire_keep_floor_locked(s, count < open ? count : open);
	if (err)
		return err;
	if (count < open) {
		close_locked(s, count);
		open = count;
	}
	for (uint32_t i = open; !lazy && i < count && !err; i++)
		err = open_next_locked(s, false);
	if (err) {
		close_locked(s, open);
		count = open;
	} else if (!lazy) {
		open = count;
	}
	retired = sn_retire_count_locked(s, open);
	a_store_rlx(&s->counts.target, count);    /* relaxed: only a number */
	a_store_rlx(&s->counts.retired, retired); /* not raced: the lock is
						    * held */
	s->counts.refused = 0;
	sn_parking_resize(&s->parking, count, count - open + retired);
	trim_locked(s);
	return err;
}

/* Whether any worker has tasks, or had some a moment ago. */
static bool has_work(const sennit_scheduler *s)
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
	if (has_work(s))
		sn_parking_wake_one(&s->parking, 0);
	return err;
}

/* --- starting ----------------------------------------------------------- */

/* The caller is active or holds a reference. So w's places in the gate and
 * inside are not the last. */
int sn_worker_threads_start_locked(struct worker *w, bool started)
{
	sennit_scheduler *s = w->scheduler;
	int               err;

	CHECK(sn_gate_enter(&s->gate) || sn_gate_ends_beside_workers(&s->gate),
	      "a worker added to an ended scheduler");
	sn_inside_enter(&s->end);
	w->idle.starts_searching = started;
	sn_thread_prepare(&w->thread, NULL, false);
	sn_mailbox_set_awaited(&w->mail, true); /* its thread begins idle */
	sn_thread_set_present(&w->thread, true);
	err = sn_thread_start(&w->thread, s->counts.main, w,
			      s->config.stack_size);
	if (!err)
		return 0;
	w->idle.starts_searching = false;
	sn_mailbox_set_awaited(&w->mail, false);
	sn_thread_set_present(&w->thread, false);
	(void)sn_inside_leave(&s->end);
	CHECK(!sn_gate_leave(&s->gate), "a worker added without a reference");
	return err;
}

/* --- retiring ----------------------------------------------------------- */

void sn_retire_prepare(struct worker *w)
{
	ASSERT(!sn_run_queue_has_task(&w->run) &&
	       !sn_counters_blocked(&w->counters));
	if (sn_worker_is_traced(w))
		sn_trace_park(w);
	sn_trim_leave(w, 1);
}

bool sn_worker_threads_retire_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              retires;

	sn_retire_prepare(w);
	w->idle.retiring = false;
	/* From now on others take what is left with it: see is_left. Before
	 * sn_parking_retire, which makes it visible. */
	sn_mailbox_set_awaited(&w->mail, false);
	os_lock(&s->counts.lock);
	/* A worker that was closed meanwhile has been woken. */
	retires = sn_retire_threads(s) > s->config.min_workers &&
		  sn_parking_retire(&w->sleeper);
	if (retires) {
		/* Not raced: the lock is held. */
		a_store_rlx(&s->counts.retired,
			    a_load_rlx(&s->counts.retired) + 1);
		sn_thread_set_present(&w->thread, false);
	}
	pthread_mutex_unlock(&s->counts.lock);
	return retires;
}

uint32_t sn_retire_count_locked(const sennit_scheduler *s, uint32_t open)
{
	uint32_t retired = 0;

	for (uint32_t i = 0; i < open; i++) /* not raced: the lock is held */
		retired += !sn_thread_is_present(&s->workers[i]->thread);
	return retired;
}

/* --- starting again ----------------------------------------------------- */

/* The first open worker that has a thread (present), or that has none. */
static struct worker *first_locked(sennit_scheduler *s, bool present)
{
	uint32_t i = 0;

	while (sn_thread_is_present(&s->workers[i]->thread) != present)
		i++;
	return s->workers[i];
}

int sn_retire_restart_this_locked(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t retired = a_load_rlx(&s->counts.retired); /* not raced: the
							     * lock is held */
	int      err;

	sn_parking_started(&s->parking);
	a_store_rlx(&s->counts.retired, retired - 1); /* not raced: the lock is
						        * held */
	err = sn_worker_threads_start_locked(w, true);
	if (err) {
		a_store_rlx(&s->counts.retired, retired); /* not raced: the
							    * lock is held */
		sn_parking_unstarted(&s->parking);
	}
	return err;
}

int sn_retire_restart_locked(sennit_scheduler *s)
{
	return sn_retire_restart_this_locked(first_locked(s, false));
}

void sn_retire_relieve_locked(sennit_scheduler *s)
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
		sn_inbox_push(&to->mail.tasks, newest, oldest);
		sn_parking_wake(&to->sleeper);
	}
}

int sn_retire_keep_floor_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t threads = open - sn_retire_count_locked(s, open);
	uint32_t least = s->config.min_workers;
	int      err = 0;

	while (threads < open && threads < least && !err) {
		err = sn_retire_restart_locked(s);
		threads++;
	}
	return err;
}
