/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/run_queue.h"

#include "base/compiler.h"
#include "os/os.h"

int sn_run_queue_init(struct run_queue *q, const struct run_queue_kind *kind,
		      const sennit_allocator *memory)
{
	int err = 0;

	q->ready = (struct fifo){ .head = NULL };
	q->dispatches = WORKER_UPKEEP;
	q->skips = WORKER_SKIPS;
	q->aging = (struct aging){ .interval = AGING_FIRST,
				   .next = WORKER_UPKEEP,
				   .quiet = AGED };
	q->oldest_first = kind->oldest_first;
	q->threaded = kind->threaded;
	q->unfenced = kind->threaded && kind->asymmetric && !kind->spread;
	sn_ring_init(&q->pinned, memory);
	if (q->threaded)
		err = sn_deque_init(&q->deque, memory, WORKER_DEQUE,
				    kind->asymmetric);
	if (!err)
		sn_run_queue_drain(q, false);
	return err;
}

void sn_run_queue_free(struct run_queue *q)
{
	sn_ring_free(&q->pinned);
	if (q->threaded)
		sn_deque_free(&q->deque);
}

/* What follows from draining, recorded and aged. */
static void settle(struct run_queue *q)
{
	q->pushes = q->unfenced && !q->draining && !q->recorded;
	q->pops = q->threaded && !q->draining && !q->oldest_first && !q->aged;
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
	sn_ring_trim(&q->pinned);
	if (q->threaded)
		sn_deque_trim(&q->deque);
}

bool sn_run_queue_is_large(const struct run_queue *q)
{
	return sn_ring_is_large(&q->pinned) ||
	       (q->threaded && sn_deque_is_large(&q->deque));
}

int sn_run_queue_keep(struct run_queue *q, struct task t)
{
	return q->threaded ? sn_deque_push(&q->deque, t)
			   : sn_ring_push_back(&q->pinned, t);
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

/* The position after the newest own task. */
static uint32_t newest_position(const struct run_queue *q)
{
	return q->threaded ? sn_deque_bottom(&q->deque)
			   : (q->pinned.head + q->pinned.count) &
				     (q->pinned.capacity - 1);
}

static bool has_own_tasks(const struct run_queue *q)
{
	return q->threaded ? sn_deque_has_tasks_owner(&q->deque)
			   : !sn_ring_is_empty(&q->pinned);
}

static bool take_oldest(struct run_queue *q, struct task *t)
{
	return q->threaded ? sn_deque_pop_oldest(&q->deque, t)
			   : sn_ring_pop_front(&q->pinned, t);
}

static void set_aged(struct run_queue *q, bool aged)
{
	q->aged = aged;
	q->aging.left = 0;
	settle(q);
}

/* The next look begins anew. */
void sn_run_queue_forgo_turn(struct run_queue *q)
{
	set_aged(q, false);
	q->aging.since = 0;
}

/* A thief may take the task meanwhile: it was the only one all the same. */
bool sn_run_queue_has_only(const struct run_queue *q, uintptr_t meta)
{
	const struct deque *d = &q->deque;
	const struct slot  *newest;

	if (!q->threaded)
		return sn_ring_count(&q->pinned) == 1 &&
		       (sn_ring_oldest(&q->pinned).meta & ~TASK_OWNED) == meta;
	newest = &d->slot[(sn_deque_bottom(d) - 1) & d->mask];
	return sn_ring_is_empty(&q->pinned) && sn_deque_count(d) == 1 &&
	       (a_load_rlx(&newest->meta) & ~TASK_OWNED) == meta;
}

/* In the order of age the oldest comes next in any case. Who the oldest task is
 * need not be known, and its position would not tell: an owner that takes tasks
 * back from the thieves' end moves it. */
static void find_aged(struct run_queue *q, sennit_time now)
{
	struct aging *a = &q->aging;

	if (q->aged || a->left || q->oldest_first)
		return;
	if (!a->since || !has_own_tasks(q))
		a->since = now;
	else if (now - a->since >= AGED)
		set_aged(q, true);
}

/* Dispatches that take as long as those of the last `spent` ns have the next
 * upkeep within AGED / 2. After long ones, short ones must fill some time
 * before the interval gets longer, because long ones may follow. */
static void adapt_interval(struct aging *a, sennit_time spent)
{
	a->calm = false;
	if (spent > AGED / 2) {
		a->interval = (uint32_t)(a->interval * (AGED / 4) / spent);
		if (!a->interval)
			a->interval = 1;
		a->quiet = 0;
	} else if (a->interval == WORKER_UPKEEP) {
		a->calm = spent < AGED / 16;
	} else if (a->quiet < AGED / 32) {
		a->quiet += spent;
	} else {
		a->interval *= 2;
		if (a->interval > WORKER_UPKEEP)
			a->interval = WORKER_UPKEEP;
	}
	a->blind = a->calm ? AGING_BLIND : 0;
}

void sn_run_queue_check_age(struct run_queue *q, sennit_time now)
{
	struct aging *a = &q->aging;

	/* In a turn of the oldest each dispatch is followed by an upkeep: that
	 * says nothing about `interval` dispatches. */
	if (a->looked && !a->left)
		adapt_interval(a, now - a->looked);
	a->looked = now;
	find_aged(q, now);
}

static void begin_turn(struct run_queue *q, sennit_time now)
{
	q->aging.left = AGED_TASKS;
	q->aging.newest = newest_position(q);
	q->aging.ends = now + AGED / 2;
}

/* Whether the turn that has begun goes on. Work that has scheduled more is such
 * as fork-join postpones. */
static bool goes_on(const struct run_queue *q)
{
	return q->aging.newest == newest_position(q) &&
	       os_now() < q->aging.ends;
}

/* The next dispatch is a task's again, even if fibers are ready: otherwise a
 * fiber may schedule meanwhile, which would end the turn. In between the newest
 * task comes first, so that the old one may call what it joins. */
static bool take_aged(struct run_queue *q, struct task *t)
{
	struct aging *a = &q->aging;

	if (!a->left)
		begin_turn(q, os_now());
	if (!take_oldest(q, t)) {
		sn_run_queue_forgo_turn(q);
		return false;
	}
	q->aged = false;
	settle(q);
	if (--a->left)
		q->dispatches = 1;
	else
		sn_run_queue_forgo_turn(q);
	return true;
}

static void continue_turn(struct run_queue *q)
{
	if (!goes_on(q)) {
		sn_run_queue_forgo_turn(q);
	} else {
		q->aged = true;
		settle(q);
	}
}

bool sn_run_queue_begin_upkeep(struct run_queue *q, bool measured)
{
	struct aging *a = &q->aging;
	uint32_t      passed = a->passed + a->next;
	bool          is_turn;

	if (a->left && !q->aged)
		continue_turn(q);
	is_turn = passed >= WORKER_UPKEEP || q->aged;
	a->passed = is_turn ? 0 : passed;
	a->next = measured ? WORKER_UPKEEP : a->interval;
	if (a->next > WORKER_UPKEEP - a->passed)
		a->next = WORKER_UPKEEP - a->passed;
	q->dispatches = a->next;
	return is_turn;
}

/* --- taking ------------------------------------------------------------- */

static bool take_pinned(struct run_queue *q, struct task *t)
{
	return q->oldest_first || q->threaded ? sn_ring_pop_front(&q->pinned, t)
					      : sn_ring_pop_back(&q->pinned, t);
}

/* Pinned tasks and deque tasks alternate; or the oldest comes first. */
bool sn_run_queue_take_mixed(struct run_queue *q, struct task *t)
{
	if (q->aged && take_aged(q, t))
		return true;
	q->pinned_next = !q->pinned_next;
	if (!sn_ring_is_empty(&q->pinned) && (q->pinned_next || !q->threaded))
		return take_pinned(q, t);
	if (q->threaded && (q->oldest_first ? sn_deque_pop_oldest(&q->deque, t)
					    : sn_deque_pop(&q->deque, t)))
		return true;
	return take_pinned(q, t);
}
