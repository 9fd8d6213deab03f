/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/staff.h"

#include "base/torture.h"
#include "os/os.h"
#include "sched/trim.h"
#include "sennit/trace.h"

/* --- tasks for others --------------------------------------------------- */

static struct worker *next_in_turn(sennit_scheduler *s)
{
	/* Stale: whoever lowers it looks into the inbox after us, or we look at
	 * it again. */
	uint32_t open = a_load_rlx(&s->open);

	return s->workers[a_add_rlx(&s->turn, 1) % open];
}

/* Leave a chain that leads from its newest node to its oldest with that worker,
 * or with one that is open, and whatever else lies where it was not open any
 * more. */
static struct worker *deliver_to(struct worker *to, struct node *newest,
				 struct node *oldest)
{
	for (;; to = next_in_turn(to->scheduler)) {
		sn_inbox_push(&to->tasks_in, newest, oldest);
		a_fence(); /* <-> staff.close: pushed, before looking again */
		TORTURE_POINT();
		if (likely(!sn_staff_is_closed(to)))
			return to;
		newest = sn_inbox_take_raw(&to->tasks_in);
		if (!newest)
			return to; /* whoever closed it was faster */
		for (oldest = newest; oldest->next; oldest = oldest->next)
			;
	}
}

static struct worker *deliver(sennit_scheduler *s, struct node *newest,
			      struct node *oldest)
{
	return deliver_to(next_in_turn(s), newest, oldest);
}

void sn_staff_leave_with(struct worker *to, struct node *newest,
			 struct node *oldest)
{
	deliver_to(to, newest, oldest);
}

/* Hand on what lies in the inbox of w, which is closed. */
static void forward(struct worker *w)
{
	struct node *newest = sn_inbox_take_raw(&w->tasks_in);
	struct node *oldest = newest;

	if (!newest)
		return;
	while (oldest->next)
		oldest = oldest->next;
	deliver(w->scheduler, newest, oldest);
}

void sn_staff_send(sennit_scheduler *s, struct node *n)
{
	struct worker *to = deliver(s, n, n);

	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(&s->parking, to->index);
}

/* The first n of a chain: the last of them. */
static struct node *end_of_run(struct node *newest, uint32_t n)
{
	while (--n)
		newest = newest->next;
	return newest;
}

void sn_staff_send_many(sennit_scheduler *s, struct node *newest,
			struct node *oldest, uint32_t count, uint32_t ways)
{
	struct worker *to;

	for (; ways > 1; ways--) {
		uint32_t     n = count / ways;
		struct node *last = end_of_run(newest, n);
		struct node *rest = last->next; /* soon not ours to read */

		deliver(s, newest, last);
		newest = rest;
		count -= n;
	}
	to = deliver(s, newest, oldest);
	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(&s->parking, to->index);
}

/* Without memory for a parcel the task stays, and is run here. */
static void hand_over(struct worker *w)
{
	struct task t;

	forward(w);
	while (sn_deque_pop_oldest(&w->deque, &t)) {
		struct parcel *p = sn_pool_take(&w->cache);

		if (!p) {
			CHECK(!sn_deque_push(&w->deque, t),
			      "no room for a task just taken");
			break;
		}
		p->task = t;
		deliver(w->scheduler, &p->node, &p->node);
	}
	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}

bool sn_staff_attend(struct worker *w)
{
	bool closed = sn_staff_is_closed(w);

	if (likely(!closed && !w->closed))
		return false;
	ASSERT_OWNER(w);
	if (closed != w->closed)
		sn_worker_set_closed(w, closed);
	a_fence(); /* <-> staff.close: seen, before looking into the inbox */
	if (closed && (sn_deque_has_tasks_owner(&w->deque) ||
		       !sn_inbox_is_empty(&w->tasks_in)))
		hand_over(w);
	return closed;
}

/* --- threads come and go ------------------------------------------------ */

static void set_open_locked(sennit_scheduler *s, uint32_t open)
{
	TORTURE_POINT();
	/* -> staff.open: extent */
	a_store_rel(&s->open, open);
}

/* No worker from `open` on takes new tasks any more. */
static void close_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t was = a_load_rlx(&s->open); /* changed under the lock only */

	set_open_locked(s, open);
	a_fence(); /* <-> staff.close: closed, before looking into inboxes */
	for (uint32_t i = open; i < was; i++) {
		forward(s->workers[i]);
		sn_parking_wake(&s->workers[i]->sleeper);
	}
}

/* A thread for w, which has none, and its places inside and in the gate. The
 * caller is active or holds a reference: none of these is the last. */
static int start_locked(struct worker *w, bool hired)
{
	sennit_scheduler *s = w->scheduler;
	int               err;

	CHECK(sn_gate_enter(&s->gate), "a worker added to an ended scheduler");
	a_add_rlx(&s->inside, 1); /* the caller is inside, or has a reference */
	w->hired = hired;
	w->birth = NULL;
	w->founding = false;
	a_store_rlx(&w->present, true); /* seen through the gate */
	err = os_thread_start(&w->thread, s->thread_main, w);
	if (!err)
		return 0;
	w->hired = false;
	a_store_rlx(&w->present, false); /* as above */
	/* -> finish.inside <- finish.inside */
	a_sub_acqrel(&s->inside, 1);
	CHECK(!sn_gate_leave(&s->gate), "a worker added without a reference");
	return err;
}

/* The next worker takes new tasks; hired: it begins as a counted searcher, if
 * it is started. */
static int open_next_locked(sennit_scheduler *s, bool hired)
{
	uint32_t       i = a_load_rlx(&s->open); /* changed under the lock */
	struct worker *w = s->workers[i];
	bool called_back = a_load_rlx(&w->present); /* under the lock, too */
	int  err;

	if (a_load_rlx(&s->extent) <= i)        /* and this */
		a_store_rlx(&s->extent, i + 1); /* seen through open */
	set_open_locked(s, i + 1);
	if (called_back) {
		sn_parking_wake(&w->solo);
		return 0;
	}
	err = start_locked(w, hired);
	if (err)
		close_locked(s, i);
	return err;
}

/* The highest worker that has a thread, or is open, is the last one. */
static void trim_locked(sennit_scheduler *s)
{
	uint32_t extent = a_load_rlx(&s->extent); /* changed under the lock */
	uint32_t open = a_load_rlx(&s->open);     /* the same */

	/* The same; a thief that sees the old number finds nothing there. */
	while (extent > open && !a_load_rlx(&s->workers[extent - 1]->present))
		extent--;
	a_store_rlx(&s->extent, extent); /* see above */
}

bool sn_staff_resign(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              resigns;

	ASSERT(!sn_worker_has_task(w) && !sn_worker_blocked(w));
	sn_worker_trace(w, SENNIT_TRACE_PARK);
	sn_trim_leave(w, 1);
	sn_pool_cache_drain(&w->cache);
	os_lock(&s->staff);
	resigns = sn_staff_is_closed(w);
	if (resigns) {
		a_store_rlx(&w->idle_now, true); /* and so will the next be */
		a_store_rlx(&w->present, false); /* seen through lock, gate */
		trim_locked(s);
	}
	pthread_mutex_unlock(&s->staff);
	return resigns;
}

/* --- how many ----------------------------------------------------------- */

/* The first vacant worker begins. It counts as a searcher before it can be
 * seen, so that a burst of work hires one, who has the next hired. */
static int hire_locked(sennit_scheduler *s)
{
	struct parking *p = &s->parking;
	uint32_t        i = a_load_rlx(&s->open);        /* under the lock */
	uint32_t        target = a_load_rlx(&s->target); /* the same */
	int             err;

	if (a_load_rlx(&s->workers[i]->present)) { /* the same */
		sn_parking_resize(p, target, target - i - 1);
		return open_next_locked(s, false);
	}
	sn_parking_hired(p);
	err = open_next_locked(s, true);
	if (err) {
		/* Not again for each task: the others have to do. */
		sn_parking_resize(p, i, 0);
		sn_parking_found(p);
	}
	return err;
}

void sn_staff_hire(struct parking *p)
{
	sennit_scheduler *s = container_of(p, sennit_scheduler, parking);
	int               err = 0;

	os_lock(&s->staff);
	/* Exact here. One that is called back may be busy for long: on. */
	while (a_load_rlx(&p->vacant) && sn_parking_is_hungry(p) && !err)
		err = hire_locked(s);
	pthread_mutex_unlock(&s->staff);
	if (err) /* who trusted the searcher that was not to be */
		sn_parking_wake_one(p, 0);
}

static int resize_locked(sennit_scheduler *s, uint32_t count)
{
	uint32_t open = a_load_rlx(&s->open); /* changed under the lock */
	bool     lazy = s->config.start == SENNIT_START_LAZY;
	int      err = 0;

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
	a_store_rlx(&s->target, count); /* a number to tell */
	sn_parking_resize(&s->parking, count, count - open);
	trim_locked(s);
	return err;
}

/* Whether somebody has tasks, or had some a moment ago. */
static bool has_work(const sennit_scheduler *s)
{
	uint32_t extent = a_load_rlx(&s->extent); /* raised by us, or not new */

	for (uint32_t i = 0; i < extent; i++)
		if (sn_deque_has_tasks(&s->workers[i]->deque) ||
		    !sn_inbox_is_empty(&s->workers[i]->tasks_in))
			return true;
	return !sn_backlog_is_empty(&s->backlog); /* seen by the same fence */
}

int sn_staff_resize(sennit_scheduler *s, uint32_t count)
{
	int err;

	os_lock(&s->staff);
	err = resize_locked(s, count);
	pthread_mutex_unlock(&s->staff);
	/* Who pushed before there were vacant workers had nobody to wake. */
	if (s->asymmetric)
		os_process_barrier(); /* <-> deque.unfenced: see all pushes */
	a_fence(); /* <-> park.sleep: resized, before looking for work */
	if (has_work(s))
		sn_parking_wake_one(&s->parking, 0);
	return err;
}
