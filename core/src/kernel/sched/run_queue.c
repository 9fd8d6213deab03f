/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/run_queue.h"

#include "base/compiler.h"
#include "os/os.h"

int sn_run_queue_init(struct run_queue *q, const struct run_queue_kind *kind,
		      const sennit_allocator *memory)
{
	int err = 0;

	q->ready = (struct fifo){ .head = NULL };
	q->dispatches = AGING_FIRST;
	q->skips = WORKER_SKIPS;
	q->aging = (struct aging){ .interval = AGING_FIRST,
				   .next = AGING_FIRST,
				   .quiet = MAX_TASK_AGE };
	q->oldest_first = kind->oldest_first;
	q->threaded = kind->threaded;
	q->unfenced = kind->threaded && kind->asymmetric && !kind->spread;
	sn_task_queue_init(&q->pinned, memory);
	if (q->threaded)
		err = sn_deque_init(&q->deque, memory, WORKER_DEQUE,
				    kind->asymmetric);
	if (!err)
		sn_run_queue_drain(q, false);
	return err;
}

void sn_run_queue_free(struct run_queue *q)
{
	sn_task_queue_free(&q->pinned);
	if (q->threaded)
		sn_deque_free(&q->deque);
}

/* What follows from draining, recorded and oldest_next. */
static void settle(struct run_queue *q)
{
	q->pushes = q->unfenced && !q->draining && !q->recorded;
	q->pops = q->threaded && !q->draining && !q->oldest_first &&
		  !q->oldest_next;
}

void sn_run_queue_record(struct run_queue *q, bool recorded)
{
	q->recorded = recorded;
	settle(q);
}

void sn_run_queue_drain(struct run_queue *q, bool drains)
{
	q->draining = drains;
	settle(q);
	if (drains) /* because fork_join.h pushes directly */
		sn_deque_forget_room(&q->deque);
}

void sn_run_queue_trim(struct run_queue *q)
{
	sn_task_queue_trim(&q->pinned);
	if (q->threaded)
		sn_deque_trim(&q->deque);
}

bool sn_run_queue_is_large(const struct run_queue *q)
{
	return sn_task_queue_is_large(&q->pinned) ||
	       (q->threaded && sn_deque_is_large(&q->deque));
}

int sn_run_queue_keep(struct run_queue *q, struct task t)
{
	return q->threaded ? sn_deque_push(&q->deque, t)
			   : sn_task_queue_push_back(&q->pinned, t);
}

/* The order is such that the oldest task runs first. */
void sn_run_queue_keep_stolen(struct run_queue *q, const struct task stolen[],
			      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK(sn_deque_push(&q->deque,
				    stolen[q->oldest_first ? i : n - 1 - i]) ==
			      0,
		      "no room for stolen tasks in an empty deque");
}

/* --- the oldest task's turn --------------------------------------------- */

/* A number that changes when the owner adds a task. */
static uint32_t newest_position(const struct run_queue *q)
{
	return sn_task_queue_newest(&q->pinned) +
	       (q->threaded ? sn_deque_bottom(&q->deque) : 0);
}

/* Whether some own task may wait for ever while others run: behind fibers, or
 * behind newer tasks. */
static bool may_starve(const struct run_queue *q)
{
	bool pinned = !sn_task_queue_is_empty(&q->pinned);

	if (!q->threaded)
		return pinned && (q->ready.head || !q->oldest_first);
	if (!sn_deque_has_tasks_owner(&q->deque))
		return pinned && q->ready.head;
	return q->ready.head || !q->oldest_first;
}

static bool take_pinned(struct run_queue *q, struct task *t, bool oldest)
{
	return oldest || q->threaded ? sn_task_queue_pop_front(&q->pinned, t)
				     : sn_task_queue_pop_back(&q->pinned, t);
}

/* Pinned tasks and deque tasks alternate. */
static bool take_in_order(struct run_queue *q, struct task *t, bool oldest)
{
	q->pinned_next = !q->pinned_next;
	if (!sn_task_queue_is_empty(&q->pinned) &&
	    (q->pinned_next || !q->threaded))
		return take_pinned(q, t, oldest);
	if (q->threaded && (oldest ? sn_deque_pop_oldest(&q->deque, t)
				   : sn_deque_pop(&q->deque, t)))
		return true;
	return take_pinned(q, t, oldest);
}

static void set_oldest_next(struct run_queue *q, bool oldest_next)
{
	q->oldest_next = oldest_next;
	q->aging.left = 0;
	settle(q);
}

/* The next look begins anew. */
void sn_run_queue_skip_turn(struct run_queue *q)
{
	set_oldest_next(q, false);
	q->aging.since = 0;
}

/* A thief may take the task meanwhile: it was the only one all the same. */
bool sn_run_queue_has_only(const struct run_queue *q, uintptr_t meta)
{
	const struct deque *d = &q->deque;
	const struct slot  *newest;

	if (!q->threaded)
		return sn_task_queue_count(&q->pinned) == 1 &&
		       (sn_task_queue_oldest(&q->pinned).meta & ~TASK_OWNED) ==
			       meta;
	newest = &d->slot[(sn_deque_bottom(d) - 1) & d->mask];
	return sn_task_queue_is_empty(&q->pinned) && sn_deque_count(d) == 1 &&
	       (a_load_rlx(&newest->meta) & ~TASK_OWNED) == meta;
}

/* Where the oldest goes first in any case, only fibers come before it: one at a
 * time then, as each may need a stack. */
static void begin_turn(struct run_queue *q, sennit_time now, sennit_time took)
{
	set_oldest_next(q, true);
	q->aging.left = q->oldest_first ? 1 : OVERDUE_TASKS;
	q->aging.ends = now + MAX_TASK_AGE / 2;
	q->aging.row = now + took;
	q->aging.to_clock = 0;
	q->aging.is_short = false;
}

static void end_turn(struct run_queue *q, sennit_time since)
{
	set_oldest_next(q, false);
	q->aging.since = since;
}

/* Who the oldest task is need not be known, and its position would not tell: an
 * owner that takes tasks back from the thieves' end moves it. About `next`
 * dispatches took `spent`. */
static void find_overdue(struct run_queue *q, sennit_time now,
			 sennit_time spent)
{
	struct aging *a = &q->aging;

	if (a->left)
		return;
	if (!a->since || !may_starve(q))
		a->since = now;
	else if (now - a->since >= MAX_TASK_AGE)
		begin_turn(q, now, spent / a->next);
}

/* End the turn if tasks have been scheduled since the last old one began. Such
 * work is what fork-join postpones. The others age from now on, or from the
 * next look if that comes soon. Returns whether it has ended. */
static bool end_if_scheduled(struct run_queue *q, sennit_time now)
{
	if (q->aging.newest == newest_position(q))
		return false;
	end_turn(q, q->aging.interval > 1 ? 0 : now);
	return true;
}

/* One dispatch of newer work took `took`; 0: that is not known, as it may have
 * been an old task's. Old tasks may run for as long, one after the other. */
static void continue_turn(struct run_queue *q, sennit_time now,
			  sennit_time took)
{
	struct aging *a = &q->aging;

	if (took < MAX_TASK_AGE / 2 && end_if_scheduled(q, now))
		return;
	if (now >= a->ends && now >= a->row && took < MAX_TASK_AGE) {
		end_turn(q, now - took);
		return;
	}
	if (now >= a->row)
		a->row = now + took;
	q->oldest_next = true;
	settle(q);
}

/* Dispatches that take as long as those of the last `spent` ns have the next
 * upkeep within MAX_TASK_AGE / 2. After long ones, short ones must fill some
 * time before the interval gets longer, because long ones may follow. */
static void adapt_interval(struct aging *a, sennit_time spent)
{
	a->is_short = false;
	if (spent > MAX_TASK_AGE / 2) {
		a->interval =
			(uint32_t)(a->interval * (MAX_TASK_AGE / 4) / spent);
		if (!a->interval)
			a->interval = 1;
		a->quiet = 0;
	} else if (a->interval == WORKER_UPKEEP) {
		a->is_short = spent < MAX_TASK_AGE / 16;
	} else if (a->quiet < MAX_TASK_AGE / 32) {
		a->quiet += spent;
	} else {
		a->interval *= 2;
		if (a->interval > WORKER_UPKEEP)
			a->interval = WORKER_UPKEEP;
	}
	a->to_clock = a->is_short ? AGING_CLOCK_SKIPS : 0;
}

void sn_run_queue_check_age(struct run_queue *q, sennit_time now)
{
	struct aging *a = &q->aging;
	sennit_time   spent = a->looked ? now - a->looked : 0;

	/* In a turn of the oldest each dispatch is followed by an upkeep: that
	 * says nothing about `interval` dispatches. */
	if (a->left && !q->oldest_next)
		continue_turn(q, now, spent);
	else if (a->looked && !a->left)
		adapt_interval(a, spent);
	a->looked = now;
	find_overdue(q, now, spent);
}

/* The next dispatch is a task's again, even if fibers are ready. In between the
 * newest task comes first, so that the old one may call what it joins. */
static bool take_overdue(struct run_queue *q, struct task *t)
{
	struct aging *a = &q->aging;

	if (!take_in_order(q, t, true)) {
		sn_run_queue_skip_turn(q);
		return false;
	}
	a->newest = newest_position(q);
	q->oldest_next = false;
	settle(q);
	if (--a->left) {
		a->looked = 0;
		q->dispatches = 1;
	} else {
		end_turn(q, a->looked);
	}
	return true;
}

bool sn_run_queue_goes_on(struct run_queue *q)
{
	struct aging *a = &q->aging;
	sennit_time   now;

	if (!a->left)
		return false;
	now = os_now();
	if (end_if_scheduled(q, now))
		return false;
	if (now < a->row)
		return true;
	a->looked = now;
	return false;
}

bool sn_run_queue_begin_upkeep(struct run_queue *q, bool measured)
{
	struct aging *a = &q->aging;
	uint32_t      passed = a->passed + a->next;
	bool          is_turn = passed >= WORKER_UPKEEP || q->oldest_next;

	a->passed = is_turn ? 0 : passed;
	a->next = measured ? WORKER_UPKEEP : a->interval;
	if (a->next > WORKER_UPKEEP - a->passed)
		a->next = WORKER_UPKEEP - a->passed;
	q->dispatches = a->next;
	return is_turn;
}

/* --- taking ------------------------------------------------------------- */

/* In their order; or the oldest comes first. */
bool sn_run_queue_take_mixed(struct run_queue *q, struct task *t)
{
	return (q->oldest_next && take_overdue(q, t)) ||
	       take_in_order(q, t, q->oldest_first);
}
