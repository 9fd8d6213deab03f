/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/trace.h"

#include "core/stopwatch.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- recording ---------------------------------------------------------- */

/* Flow of a task. */
static uint64_t flow_of(sennit_task_fn *run, const void *argument)
{
	uint64_t x = (uintptr_t)run * UINT64_C(0x9e3779b97f4a7c15);

	x ^= (uintptr_t)argument;
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 32;
	return x ? x : 1;
}

static void add(struct worker *w, uint32_t kind, uint32_t detail, uint64_t a,
		uint64_t b)
{
	sn_recorder_add(&w->recorder, kind, detail, a, b);
}

void sn_trace_begin(struct worker *w, sennit_task_fn *run, const void *argument)
{
	add(w, SENNIT_TRACED_TASK_BEGIN, 0, (uintptr_t)run,
	    flow_of(run, argument));
}

void sn_trace_end(struct worker *w, uintptr_t task)
{
	add(w, SENNIT_TRACED_TASK_END, 0, task, 0);
}

uint64_t sn_trace_wait(struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;
	uint64_t                   flow = sn_recorder_flow(&w->recorder, f);

	add(w, SENNIT_TRACED_WAIT, sn_fiber_state_kind(&f->state),
	    (uintptr_t)a_load_rlx(&f->state.object), flow);
	return flow;
}

void sn_trace_resume(struct worker *w, uint64_t flow)
{
	add(w, SENNIT_TRACED_RESUME, 0, 0, flow);
}

void sn_trace_name(struct worker *w, const char *name)
{
	char     text[SENNIT_NAME_SIZE] = "";
	uint64_t words[2];

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	for (uint32_t i = 0; !i || (i < sizeof(text) && text[i]);
	     i += sizeof(words)) {
		memcpy(words, text + i, sizeof(words));
		add(w, SENNIT_TRACED_FIBER_NAME, i, words[0], words[1]);
	}
}

void sn_trace_steal(struct worker *w, const struct worker *victim,
		    uint32_t tasks)
{
	add(w, SENNIT_TRACED_STEAL, 0, victim->index, tasks);
}

void sn_trace_park(struct worker *w)
{
	add(w, SENNIT_TRACED_PARK, 0, 0, 0);
}

void sn_trace_unpark(struct worker *w)
{
	add(w, SENNIT_TRACED_UNPARK, 0, 0, 0);
}

/* --- recording from any thread ------------------------------------------ */

/* Record on the caller's worker if it belongs to s, else among the others. */
static void add_from(sennit_scheduler *s, uint32_t kind, uint32_t detail,
		     uint64_t a, uint64_t b)
{
	struct worker *w = sn_self;

	if (w && w->scheduler == s) {
		if (sn_worker_is_traced(w))
			add(w, kind, detail, a, b);
		return;
	}
	if (!sn_trace_is_wanted(s))
		return;
	os_lock(&s->tracing.lock);
	sn_trace_ring_add(s->tracing.others, os_thread_id(), kind, detail, a,
			  b);
	pthread_mutex_unlock(&s->tracing.lock);
}

void sn_trace_spawn(sennit_scheduler *s, const struct task *t)
{
	add_from(s, SENNIT_TRACED_SPAWN, 0, (uintptr_t)t->run,
		 flow_of(t->run, t->argument));
}

static uint32_t cause_of(const struct waiter *n)
{
	uint32_t claim = n->is.raced ? a_load_rlx(&n->whole->claim)
				     : WAITER_SIGNALLED;

	return claim == WAITER_TIMEDOUT    ? SENNIT_TRACE_WAKE_TIMER
	       : claim == WAITER_CANCELLED ? SENNIT_TRACE_WAKE_CANCEL
					   : SENNIT_TRACE_WAKE_SIGNAL;
}

void sn_trace_wake(const struct waiter *n)
{
	const struct worker *home = n->home;

	if (!n->fiber) {
		if (sn_self && sn_worker_is_traced(sn_self))
			add(sn_self, SENNIT_TRACED_WAKE, cause_of(n),
			    UINT64_MAX, 0);
		return;
	}
	add_from(home->scheduler, SENNIT_TRACED_WAKE, cause_of(n),
		 sn_recorder_name(&home->recorder, n->fiber),
		 sn_recorder_flow(&home->recorder, n->fiber));
}

void sn_trace_call(sennit_scheduler *s, uint32_t kind, const void *run,
		   const struct waiter *n)
{
	add_from(s, kind, 0, (uintptr_t)run,
		 sn_recorder_flow(&n->home->recorder, n->fiber));
}

/* --- rings -------------------------------------------------------------- */

static struct trace_ring *make_ring(struct trace_state *t, uint32_t kind,
				    uint32_t number)
{
	struct trace_ring *r = sn_trace_ring_make(a_load_rlx(&t->capacity));

	if (!r)
		return NULL;
	r->kind = kind;
	r->number = number;
	r->taken = true;
	r->next = a_load_rlx(&t->rings);
	a_store_rel(&t->rings, r); /* -> trace.rings: the ring */
	return r;
}

static void give(struct worker *w, struct trace_ring *r)
{
	a_store_rlx(&w->recorder.number, r->number);
	a_store_rel(&w->recorder.given, r); /* -> trace.given: the ring */
}

/* Give the ring of a thread that has unbound, or a new one. Lock held. */
static void give_bound(struct worker *w)
{
	struct trace_state *t = &w->scheduler->tracing;
	struct trace_ring  *r = a_load_rlx(&t->rings);

	if (!sn_trace_has_rings(t) || a_load_rlx(&w->recorder.given))
		return;
	while (r && (r->taken || r->kind != SENNIT_TRACE_RING_BOUND))
		r = r->next;
	if (!r)
		r = make_ring(t, SENNIT_TRACE_RING_BOUND, t->last + 1);
	if (!r)
		return;
	if (r->number > t->last)
		t->last = r->number;
	r->taken = true;
	give(w, r);
}

/* Rings that were made before memory ran out are kept for the next start. Lock
 * held. */
static int make_rings(sennit_scheduler *s, uint64_t capacity)
{
	struct trace_state *t = &s->tracing;

	if (!sn_trace_has_rings(t)) {
		a_store_rlx(&t->capacity, capacity);
		t->last = s->capacity;
		t->process = (uint32_t)getpid();
		t->cpus = (uint32_t)os_cpu_list(NULL, 0);
	}
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker     *w = s->workers[i];
		struct trace_ring *r = a_load_rlx(&w->recorder.given);

		if (!r)
			r = make_ring(t, SENNIT_TRACE_RING_WORKER, i);
		if (!r)
			return -ENOMEM;
		give(w, r);
	}
	if (!t->others)
		t->others = make_ring(t, SENNIT_TRACE_RING_OTHERS, s->capacity);
	return t->others ? 0 : -ENOMEM;
}

void sn_trace_free(struct trace_state *t)
{
	struct trace_ring *r = a_load_rlx(&t->rings); /* nobody else is left */

	while (r) {
		struct trace_ring *next = r->next;

		sn_trace_ring_free(r);
		r = next;
	}
	pthread_mutex_destroy(&t->lock);
}

void sn_trace_join(struct worker *w)
{
	struct trace_state *t = &w->scheduler->tracing;

	if (sn_trace_has_rings(t)) {
		os_lock(&t->lock);
		give_bound(w);
		pthread_mutex_unlock(&t->lock);
	}
	sn_worker_look(w);
}

void sn_trace_leave(struct worker *w)
{
	struct trace_state *t = &w->scheduler->tracing;
	/* Nobody gives rings to a worker that has left the bound ones. */
	struct trace_ring *r = a_load_rlx(&w->recorder.given);

	if (!r)
		return;
	os_lock(&t->lock);
	r->taken = false;
	pthread_mutex_unlock(&t->lock);
}

/* --- starting ----------------------------------------------------------- */

uint64_t sn_trace_capacity(sennit_scheduler *s)
{
	uint64_t capacity;

	os_lock(&s->tracing.lock);
	capacity = a_load_rlx(&s->tracing.capacity);
	pthread_mutex_unlock(&s->tracing.lock);
	return capacity;
}

static void tell_bound(sennit_scheduler *s)
{
	struct binding *b = NULL;

	sn_bound_lock(&s->bound);
	while ((b = sn_bound_next(&s->bound, b))) {
		struct worker *w = sn_worker_bound(b);

		os_lock(&s->tracing.lock);
		give_bound(w);
		pthread_mutex_unlock(&s->tracing.lock);
		if (w != sn_self)
			sn_recorder_tell(&w->recorder, &w->mail);
	}
	sn_bound_unlock(&s->bound);
}

/* Nobody is woken: a worker that sleeps looks when it wakes. */
static void tell_all(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->workers[i] != sn_self)
			sn_recorder_tell(&s->workers[i]->recorder,
					 &s->workers[i]->mail);
	tell_bound(s);
	if (sn_self && sn_self->scheduler == s)
		sn_worker_look(sn_self);
}

/* Lock held. */
static int begin(sennit_scheduler *s, uint64_t capacity)
{
	struct trace_state *t = &s->tracing;
	int                 err = make_rings(s, capacity);

	if (err || a_load_rlx(&s->observe.traced))
		return err;
	a_store_rlx(&t->begin_ticks,
		    sn_trace_ring_now(sn_stopwatch_has_ticks()));
	a_store_rlx(&t->begin_ns, os_now());
	sn_trace_ring_begin(t->others);
	a_store_rel(&s->observe.traced, 1); /* -> trace.on: the rings */
	return 0;
}

int sn_trace_start(sennit_scheduler *s, uint64_t capacity)
{
	int err;

	os_lock(&s->tracing.lock);
	err = begin(s, capacity);
	pthread_mutex_unlock(&s->tracing.lock);
	if (!err)
		tell_all(s);
	return err;
}

void sn_trace_stop(sennit_scheduler *s)
{
	a_store_rel(&s->observe.traced, 0); /* -> trace.on: nothing more */
	tell_all(s);
}
