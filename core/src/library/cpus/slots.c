/* SPDX-License-Identifier: Apache-2.0 */
#include "cpus/slots.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/end.h"
#include "observe/observe.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/run_queue.h"

#include <errno.h>

/* Values of claim.answer. */
enum { ANSWER_NONE, ANSWER_GRANTED, ANSWER_ENDED };

/* --- taking part -------------------------------------------------------- */

int sn_slots_join(sennit_scheduler *s)
{
	sennit_resources *r = s->config.resources;
	bool              joined;

	if (!r)
		return 0;
	s->slots.sharer =
		(struct sharer){ .min = s->config.resources_min,
				 .max = s->config.resources_max,
				 .weight = s->config.resources_priority };
	os_lock(&r->lock);
	joined = sn_shares_join(&r->shares, &s->slots.sharer);
	pthread_mutex_unlock(&r->lock);
	if (!joined)
		return -EAGAIN;
	a_add_rlx(&r->references, 1); /* not the last one: the creator has a
				       * reference */
	s->slots.resources = r;
	for (uint32_t i = 0; i < s->capacity; i++)
		s->workers[i]->slot.sharer = &s->slots.sharer;
	return 0;
}

void sn_slots_leave(sennit_scheduler *s)
{
	sennit_resources *r = s->slots.resources;

	if (!r)
		return;
	os_lock(&r->lock);
	CHECK(!s->slots.sharer.held && !s->slots.sharer.waiting,
	      "a scheduler ended with slots of its resources");
	sn_shares_leave(&r->shares, &s->slots.sharer);
	pthread_mutex_unlock(&r->lock);
	sn_slots_release(r);
}

void sn_slots_count(sennit_scheduler *s, uint64_t *active, uint64_t *waiting)
{
	sennit_resources *r = s->slots.resources;

	if (!r)
		return;
	os_lock(&r->lock);
	*active = s->slots.sharer.held;
	*waiting = s->slots.sharer.waiting;
	pthread_mutex_unlock(&r->lock);
}

void sn_slots_release(sennit_resources *r)
{
	sennit_allocator memory;

	/* -> slots.release: the last access to it <- slots.release */
	if (a_sub_acqrel(&r->references, 1) != 1)
		return;
	memory = r->memory;
	pthread_mutex_destroy(&r->lock);
	sn_memory_give(&memory, r, sizeof(*r));
}

/* --- slots -------------------------------------------------------------- */

/* Let the claim's thread continue. It may end and free everything that it has.
 */
static void notify_claim(struct claim *c, uint32_t what)
{
	TORTURE_POINT(); /* decided, not notified yet */
	/* -> slots.answer: what its last holder did, or the end */
	a_store_rel(&c->answer, what);
	os_word_wake_one(&c->answer);
}

/* Wait until c, which is queued, is notified. */
static bool await_answer(struct claim *c)
{
	uint32_t answer;

	while (!(answer = a_load_acq(&c->answer))) /* <- slots.answer */
		os_word_wait(&c->answer, ANSWER_NONE, SENNIT_NEVER);
	return answer == ANSWER_GRANTED;
}

static void begin_slice(struct claim *c)
{
	c->has = true;
	c->slice = os_now() + SLOTS_SLICE;
}

/* Wait until c, which is queued, has a slot, and begin to use it. Returns false
 * if the scheduler has ended. */
static bool await_slot(sennit_resources *r, struct claim *c)
{
	if (!await_answer(c))
		return false;
	os_lock(&r->lock);
	sn_shares_begin(&r->shares, c, os_now());
	pthread_mutex_unlock(&r->lock);
	return true;
}

bool sn_slots_take(struct worker *w)
{
	struct claim     *c = &w->slot;
	sennit_resources *r = w->scheduler->slots.resources;
	bool              got, closed;

	if (!c->sharer || c->has)
		return true;
	a_store_rlx(&c->answer, ANSWER_NONE); /* not raced: c is not queued */
	os_lock(&r->lock);
	closed = w->scheduler->slots.closed;
	got = !closed && sn_shares_take(&r->shares, c, os_now());
	pthread_mutex_unlock(&r->lock);
	TORTURE_POINT(); /* queued, not asleep yet */
	if (!got && (closed || !await_slot(r, c)))
		return false;
	begin_slice(c);
	return true;
}

bool sn_slots_enter(struct worker *w)
{
	if (!sn_slots_take(w))
		return false;
	if (sn_gate_enter(&w->scheduler->gate))
		return true;
	sn_slots_give(w);
	return false;
}

/* Whether w may go on without a slot: its scheduler has ended, so it has
 * nothing to do but leave. */
static bool may_run_without_slot(const struct worker *w)
{
	return sn_gate_ends_beside_workers(&w->scheduler->gate);
}

void sn_slots_take_inside(struct worker *w)
{
	CHECK(sn_slots_take(w) || may_run_without_slot(w),
	      "a scheduler ended with an active worker");
}

void sn_slots_give(struct worker *w)
{
	struct claim     *c = &w->slot;
	sennit_resources *r = w->scheduler->slots.resources;
	struct claim     *next;

	if (!c->has)
		return;
	c->has = false;
	os_lock(&r->lock);
	next = sn_shares_give(&r->shares, c, os_now());
	pthread_mutex_unlock(&r->lock);
	if (next)
		notify_claim(next, ANSWER_GRANTED);
}

/* --- at safe points ----------------------------------------------------- */

/* Whether taking the lock pays: the slice is over, or another sharer is
 * entitled to what w's scheduler has beyond its minimum. May be stale: see
 * sn_slots_is_wanted. */
static bool is_due(const struct worker *w, bool over)
{
	const struct shares *s = &w->scheduler->slots.resources->shares;

	return over || (a_load_rlx(&s->urgent) &&
			a_load_rlx(&w->scheduler->slots.sharer.lends));
}

/* Give w's slot to the claim that should have it, if any, and queue for
 * another. Returns false if w keeps its slot. */
static bool yield_slot(struct worker *w, bool over)
{
	sennit_resources *r = w->scheduler->slots.resources;
	struct claim     *next = NULL;
	bool              passed = false;

	a_store_rlx(&w->slot.answer,
		    ANSWER_NONE); /* not raced: w is not queued */
	os_lock(&r->lock);
	if (!w->scheduler->slots.closed)
		passed = sn_shares_yield(&r->shares, &w->slot, over, os_now(),
					 &next);
	pthread_mutex_unlock(&r->lock);
	w->slot.has = !passed;
	if (passed && sn_worker_is_traced(w))
		sn_trace_park(w);
	if (next)
		notify_claim(next, ANSWER_GRANTED);
	return passed;
}

/* The same, if that is due. If w keeps its slot after the end of its slice,
 * another slice begins. */
static bool yield_if_due(struct worker *w)
{
	bool over = os_now() >= w->slot.slice;

	if (!w->slot.has || !is_due(w, over))
		return false;
	/* Thieves that take these need not force. */
	(void)sn_deque_publish(sn_worker_deque(w));
	if (yield_slot(w, over))
		return true;
	if (over)
		begin_slice(&w->slot);
	return false;
}

bool sn_slots_yield_between(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	if (!yield_if_due(w))
		return true;
	TORTURE_POINT(); /* active, without a slot */
	if (sn_gate_leave(&s->gate))
		sn_end_now(s);
	if (!await_slot(s->slots.resources, &w->slot))
		return false;
	begin_slice(&w->slot);
	if (sn_worker_is_traced(w))
		sn_trace_unpark(w);
	return sn_slots_enter(w);
}

void sn_slots_yield(struct worker *w)
{
	if (!yield_if_due(w))
		return;
	if (!await_slot(w->scheduler->slots.resources, &w->slot)) {
		CHECK(may_run_without_slot(w),
		      "a scheduler ended while it ran a task");
		return;
	}
	begin_slice(&w->slot);
	if (sn_worker_is_traced(w))
		sn_trace_unpark(w);
}

/* --- changes ------------------------------------------------------------- */

/* Hand out what has become free. */
static void grant_all(sennit_resources *r)
{
	struct claim *next;

	do {
		os_lock(&r->lock);
		next = sn_shares_grant(&r->shares, os_now());
		pthread_mutex_unlock(&r->lock);
		if (next)
			notify_claim(next, ANSWER_GRANTED);
	} while (next);
}

bool sn_slots_resize(sennit_resources *r, uint32_t slots)
{
	bool done;

	os_lock(&r->lock);
	done = sn_shares_resize(&r->shares, slots);
	pthread_mutex_unlock(&r->lock);
	grant_all(r);
	return done;
}

bool sn_slots_change(sennit_scheduler *s, uint32_t min, uint32_t max,
		     uint32_t priority)
{
	sennit_resources *r = s->slots.resources;
	bool              done;

	os_lock(&r->lock);
	done = sn_shares_change(&r->shares, &s->slots.sharer, min, max,
				priority, os_now());
	pthread_mutex_unlock(&r->lock);
	grant_all(r);
	return done;
}

/* --- the end ------------------------------------------------------------ */

void sn_slots_close(sennit_scheduler *s)
{
	sennit_resources *r = s->slots.resources;
	struct claim     *c;

	if (!r)
		return;
	os_lock(&r->lock);
	s->slots.closed = true;
	while ((c = sn_shares_drop(&r->shares, &s->slots.sharer)))
		notify_claim(c, ANSWER_ENDED);
	pthread_mutex_unlock(&r->lock);
}
