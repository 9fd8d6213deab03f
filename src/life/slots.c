/* SPDX-License-Identifier: Apache-2.0 */
#include "life/slots.h"

#include "base/memory.h"
#include "base/torture.h"
#include "observe/observe.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/run_queue.h"

#include <errno.h>
#include <string.h>

/* Values of claim.told. */
enum { NOTHING, GRANTED, ENDED };

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
static void tell(struct claim *c, uint32_t what)
{
	TORTURE_POINT(); /* decided, not told yet */
	/* -> slots.told: what its last holder did, or the end */
	a_store_rel(&c->told, what);
	os_word_wake_one(&c->told);
}

/* Wait until c, which is queued, is told. */
static bool await(struct claim *c)
{
	uint32_t told;

	while (!(told = a_load_acq(&c->told))) /* <- slots.told */
		os_word_wait(&c->told, NOTHING, SENNIT_NEVER);
	return told == GRANTED;
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
	if (!await(c))
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
	a_store_rlx(&c->told, NOTHING); /* not raced: c is not queued */
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
static bool is_over(const struct worker *w)
{
	return sn_gate_ends_beside_workers(&w->scheduler->gate);
}

void sn_slots_take_inside(struct worker *w)
{
	CHECK(sn_slots_take(w) || is_over(w),
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
		tell(next, GRANTED);
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
static bool pass_on(struct worker *w, bool over)
{
	sennit_resources *r = w->scheduler->slots.resources;
	struct claim     *next = NULL;
	bool              passed = false;

	a_store_rlx(&w->slot.told, NOTHING); /* not raced: w is not queued */
	os_lock(&r->lock);
	if (!w->scheduler->slots.closed)
		passed = sn_shares_yield(&r->shares, &w->slot, over, os_now(),
					 &next);
	pthread_mutex_unlock(&r->lock);
	w->slot.has = !passed;
	if (passed && sn_worker_is_traced(w))
		sn_trace_park(w);
	if (next)
		tell(next, GRANTED);
	return passed;
}

void sn_slots_yield(struct worker *w)
{
	bool over = os_now() >= w->slot.slice;
	bool passed;

	if (!w->slot.has || !is_due(w, over))
		return;
	/* Thieves that take these need not force. */
	(void)sn_deque_publish(sn_worker_deque(w));
	passed = pass_on(w, over);
	if (passed) {
		if (!await_slot(w->scheduler->slots.resources, &w->slot)) {
			CHECK(is_over(w),
			      "a scheduler ended while it ran a task");
			return;
		}
		if (sn_worker_is_traced(w))
			sn_trace_unpark(w);
	}
	if (passed || over)
		begin_slice(&w->slot);
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
			tell(next, GRANTED);
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
		tell(c, ENDED);
	pthread_mutex_unlock(&r->lock);
}

/* --- cpu masks ------------------------------------------------------------ */

#define FEW 64 /* CPUs; enough for most systems */

/* Allocate n masks with `cpus` CPUs in total. Returns the array of CPUs. */
static uint32_t *take(struct cpu_masks *m, const sennit_allocator *memory,
		      size_t n, size_t cpus)
{
	if (n > SIZE_MAX / 4 / sizeof(*m->masks) ||
	    cpus > SIZE_MAX / 4 / sizeof(uint32_t))
		return NULL;
	m->size = n * sizeof(*m->masks) + cpus * sizeof(uint32_t);
	m->masks = sn_memory_take(memory, m->size, sizeof(void *));
	if (!m->masks)
		return NULL;
	m->count = n;
	return (uint32_t *)(m->masks + n);
}

/* Make one mask of all CPUs. */
static int copy_all(struct cpu_masks *m, const sennit_allocator *memory)
{
	uint32_t  few[FEW];
	size_t    cpus = os_cpu_list(few, FEW);
	uint32_t *to = take(m, memory, 1, cpus);

	if (!to)
		return -ENOMEM;
	if (cpus <= FEW) {
		memcpy(to, few, cpus * sizeof(*to));
	} else {
		size_t now = os_cpu_list(to, cpus);

		cpus = now < cpus ? now : cpus; /* a CPU may just have gone
						 * offline */
	}
	m->masks[0] = (sennit_cpu_mask){ to, cpus };
	return 0;
}

int sn_cpu_masks_copy(struct cpu_masks *m, const sennit_allocator *memory,
		      const sennit_cpu_mask *from, size_t n)
{
	size_t    cpus = 0;
	uint32_t *to;

	if (!from)
		return copy_all(m, memory);
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(cpus, from[i].count, &cpus))
			return -ENOMEM;
	to = take(m, memory, n, cpus);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		memcpy(to, from[i].cpus, from[i].count * sizeof(*to));
		m->masks[i] = (sennit_cpu_mask){ to, from[i].count };
		to += from[i].count;
	}
	return 0;
}

void sn_cpu_masks_free(struct cpu_masks *m, const sennit_allocator *memory)
{
	sn_memory_give(memory, m->masks, m->size);
}

sennit_cpu_mask sn_cpu_masks_all(const struct cpu_masks *m)
{
	sennit_cpu_mask all = { NULL, 0 };

	for (size_t i = 0; i < m->count; i++)
		all.count += m->masks[i].count;
	if (m->count)
		all.cpus = m->masks[0].cpus;
	return all;
}
