/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/trace.h"

#include "arch/cpu.h"
#include "base/sized.h"
#include "base/torture.h"
#include "life/bind.h"
#include "life/fork.h"
#include "observe/histogram.h"
#include "observe/observe.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sennit/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The second word of an event. */
#define KIND_SHIFT   32
#define DETAIL_SHIFT 48

/* --- recording ---------------------------------------------------------- */

/* Return the flow of a task. */
static uint64_t flow_of(sennit_task_fn *run, const void *argument)
{
	uint64_t x = (uintptr_t)run * UINT64_C(0x9e3779b97f4a7c15);

	x ^= (uintptr_t)argument;
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 32;
	return x ? x : 1;
}

static void record_event(struct worker *w, uint32_t kind, uint32_t detail,
			 uint64_t a, uint64_t b)
{
	sn_recorder_add(&w->recorder, kind, detail, a, b);
}

/* Return word i of the last event. There is always one: START. */
static uint64_t last_event_word(const struct trace_ring *r, uint32_t i)
{
	uint64_t at = a_load_rlx(&r->written) - 1;

	return a_load_rlx(
		&r->words[(at & (r->capacity - 1)) * TRACE_RING_WORDS + i]);
}

/* Return the latest time at which the running fiber can have begun to run,
 * while it has no event yet: now, if the worker's last event is a search, which
 * has found the fiber; else the time of the last event, because the worker did
 * something else until then. */
static uint64_t begin_of_run(const struct trace_ring *r)
{
	uint16_t kind = (uint16_t)(last_event_word(r, 1) >> KIND_SHIFT);

	return kind == SENNIT_TRACED_SEARCH ? sn_trace_ring_now(r->ticks)
					    : last_event_word(r, 0);
}

/* Record an event at a time that is not before the last event. */
static void record_event_at(struct worker *w, uint64_t time, uint32_t kind,
			    uint32_t detail, uint64_t a, uint64_t b)
{
	sn_trace_ring_add_at(w->recorder.ring, time, w->home.current->id, kind,
			     detail, a, b);
}

static uint32_t kind_of_wait(uint32_t doing)
{
	return doing / (1u << FIBER_STATE_KIND) % FIBER_STATE_KINDS;
}

static void put_name(struct worker *w, uint64_t time, const char *name)
{
	char     text[SENNIT_TASK_NAME_SIZE] = "";
	uint64_t words[2];

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	for (uint32_t i = 0; !i || (i < sizeof(text) && text[i]);
	     i += sizeof(words)) {
		memcpy(words, text + i, sizeof(words));
		record_event_at(w, time, SENNIT_TRACED_FIBER_NAME, i, words[0],
				words[1]);
	}
}

/* Record what f, the running fiber, runs. `since` is when its last wait began,
 * in nanoseconds; 0: it has not waited, or the trace contains the wait. */
static void put_fiber_state(struct worker *w, uint64_t time,
			    struct sennit_fiber *f, sennit_time since)
{
	char name[SENNIT_TASK_NAME_SIZE];

	f->times.told_at = a_load_rlx(&w->recorder.ring->written);
	f->times.told = a_load_rlx(&f->state.task);
	record_event_at(w, time, SENNIT_TRACED_STATE, 0, f->times.told, since);
	if (sn_task_name_read(&f->name, name))
		put_name(w, time, name);
}

/* Record the running fiber, of which the trace has no event yet. */
static COLD void record_running(struct worker *w, struct sennit_fiber *f)
{
	struct recorder    *r = &w->recorder;
	struct fiber_times *t = &f->times;
	uint64_t            time = begin_of_run(r->ring);

	f->cleanup |= CLEANUP_OBSERVED;
	t->traced = r->turn;
	put_fiber_state(w, time, f, t->before ? t->waited : 0);
	if (t->before)
		record_event_at(w, time, SENNIT_TRACED_RESUME,
				kind_of_wait(t->before), 0,
				sn_recorder_flow_of(r, t->before));
	t->before = 0;
	t->waited = 0;
}

/* Report whether the trace may not contain what f runs. A member of a group
 * that began unrecorded on its opener's stack ends unrecorded, and then the
 * opener's task is not in the trace. */
static inline bool is_unrecorded(const struct worker       *w,
				 const struct sennit_fiber *f)
{
	return f->times.told != a_load_rlx(&f->state.task) ||
	       f->times.traced != w->recorder.turn;
}

static NOINLINE void record_unknown(struct worker *w, struct sennit_fiber *f)
{
	if (a_load_rlx(&f->state.task)) {
		record_running(w, f);
		return;
	}
	f->times.traced = w->recorder.turn;
	f->times.told = 0;
	f->times.before = 0;
}

void sn_trace_running(struct worker *w)
{
	struct sennit_fiber *f = w->home.current;

	if (unlikely(is_unrecorded(w, f)))
		record_unknown(w, f);
}

/* Record an event of the running fiber, and before that what it runs, if
 * necessary. If the fiber waits, its worker does something else on the fiber's
 * stack, so it is not recorded as running. */
static void record_with_task(struct worker *w, uint32_t kind, uint32_t detail,
			     uint64_t a, uint64_t b)
{
	struct sennit_fiber *f = w->home.current;

	if (unlikely(is_unrecorded(w, f)) &&
	    (a_load_rlx(&f->state.doing) & FIBER_STATE_STATE) ==
		    SENNIT_REPORT_RUNNING)
		record_unknown(w, f);
	record_event(w, kind, detail, a, b);
}

void sn_trace_begin(struct worker *w, sennit_task_fn *run, const void *argument,
		    bool inside)
{
	struct recorder    *r = &w->recorder;
	struct fiber_times *t = &w->home.current->times;

	t->traced = r->turn;
	t->before = 0;
	t->told_at = a_load_rlx(&r->ring->written);
	t->told = (uintptr_t)run;
	record_event(w, SENNIT_TRACED_TASK_BEGIN, !inside, (uintptr_t)run,
		     flow_of(run, argument));
}

void sn_trace_end(struct worker *w, uintptr_t task)
{
	record_event(w, SENNIT_TRACED_TASK_END, 0, task, 0);
}

/* The state word already has the new wait. */
uint64_t sn_trace_wait(struct worker *w)
{
	struct sennit_fiber *f = w->home.current;
	uint64_t             flow = sn_recorder_flow(&w->recorder, f);

	sn_trace_running(w);
	record_event(w, SENNIT_TRACED_WAIT,
		     sn_fiber_state_kind(&f->state) |
			     (f->times.goes_on ? SENNIT_TRACE_GOES_ON : 0),
		     (uintptr_t)a_load_rlx(&f->state.object), flow);
	if (!f->times.goes_on)
		f->times.waited = last_event_word(w->recorder.ring, 0);
	return flow;
}

void sn_trace_resume(struct worker *w, uint64_t flow)
{
	struct sennit_fiber     *f = w->home.current;
	const struct trace_ring *r = w->recorder.ring;

	if (unlikely(f->times.traced != w->recorder.turn)) {
		record_unknown(w, f); /* also records RESUME */
		return;
	}
	if (a_load_rlx(&r->written) - f->times.told_at > r->capacity / 2 &&
	    sn_fiber_state_get_task(&f->state))
		put_fiber_state(w, sn_trace_ring_now(r->ticks), f, 0);
	record_event(w, SENNIT_TRACED_RESUME, f->times.kind, f->times.waited,
		     flow);
}

/* Save the wait of a fiber that is not yet running. Owner only. */
static void save_wait(struct worker *w, struct sennit_fiber *f)
{
	if (f->times.traced == w->recorder.turn)
		return;
	f->times.before = a_load_rlx(&f->state.doing);
	f->times.waited = a_load_rlx(&f->state.since);
	if (sn_fiber_state_get_task(&f->state))
		f->cleanup |= CLEANUP_OBSERVED; /* its end must be recorded */
}

void sn_trace_found(struct worker *w)
{
	struct sennit_fiber *f = w->home.current;

	if ((a_load_rlx(&f->state.doing) & FIBER_STATE_STATE) ==
	    SENNIT_REPORT_RUNNING)
		save_wait(w, f);
	sn_trace_ready(w, w->run.ready.head);
}

void sn_trace_ready(struct worker *w, struct node *first)
{
	for (; first; first = first->next)
		save_wait(w, container_of(first, struct sennit_fiber, link));
}

void sn_trace_name(struct worker *w, const char *name)
{
	if (is_unrecorded(w, w->home.current))
		sn_trace_running(w); /* also records the name */
	else
		put_name(w, sn_trace_ring_now(w->recorder.ring->ticks), name);
}

void sn_trace_steal(struct worker *w, const struct worker *victim,
		    uint32_t tasks)
{
	record_with_task(w, SENNIT_TRACED_STEAL, 0, victim->index, tasks);
}

void sn_trace_search(struct worker *w)
{
	record_with_task(w, SENNIT_TRACED_SEARCH, 0, 0, 0);
}

void sn_trace_park(struct worker *w)
{
	record_with_task(w, SENNIT_TRACED_PARK, 0, 0, 0);
}

void sn_trace_unpark(struct worker *w)
{
	record_with_task(w, SENNIT_TRACED_UNPARK, 0, 0, 0);
}

/* --- recording from any thread ------------------------------------------ */

static COLD void add_to_others(sennit_scheduler *s, uint32_t kind,
			       uint32_t detail, uint64_t a, uint64_t b)
{
	os_lock(&s->tracing.lock);
	sn_trace_ring_add(s->tracing.others, os_thread_id(), kind, detail, a,
			  b);
	pthread_mutex_unlock(&s->tracing.lock);
}

/* Record on the caller's worker if it belongs to s, else in the ring of the
 * other threads. */
static void add_from(sennit_scheduler *s, uint32_t kind, uint32_t detail,
		     uint64_t a, uint64_t b)
{
	struct worker *w = sn_self;

	if (w && w->scheduler == s) {
		if (sn_worker_is_traced(w))
			record_with_task(w, kind, detail, a, b);
		return;
	}
	if (sn_trace_is_wanted(s))
		add_to_others(s, kind, detail, a, b);
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

void sn_trace_wake_thread(const struct waiter *n)
{
	record_with_task(sn_self, SENNIT_TRACED_WAKE, cause_of(n), UINT64_MAX,
			 0);
}

void sn_trace_wake(const struct waiter *n)
{
	const struct worker *home = n->home;

	if (home == sn_self && sn_worker_is_traced(home))
		save_wait(sn_self, n->fiber);
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

static void give_ring(struct worker *w, struct trace_ring *r)
{
	a_store_rlx(&w->recorder.number, r->number);
	a_store_rel(&w->recorder.given, r); /* -> trace.given: the ring */
}

/* Give w the ring of a thread that has unbound, or a new one. Lock held. */
static void give_bound_ring(struct worker *w)
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
	give_ring(w, r);
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
		give_ring(w, r);
	}
	if (!t->others)
		t->others = make_ring(t, SENNIT_TRACE_RING_OTHERS, s->capacity);
	return t->others ? 0 : -ENOMEM;
}

void sn_trace_free(struct trace_state *t)
{
	struct trace_ring *r = a_load_rlx(&t->rings); /* no other thread is
						       * left */

	while (r) {
		struct trace_ring *next = r->next;

		sn_trace_ring_free(r);
		r = next;
	}
	pthread_mutex_destroy(&t->lock);
}

void sn_trace_enter(struct worker *w)
{
	/* recorded if its previous thread recorded */
	if (sn_worker_is_traced(w)) {
		a_store_rlx(&w->recorder.ring->thread, os_thread_id());
		sn_trace_unpark(w);
	}
	sn_worker_update_recording(w);
}

void sn_trace_join(struct worker *w)
{
	struct trace_state *t = &w->scheduler->tracing;

	if (sn_trace_has_rings(t)) {
		os_lock(&t->lock);
		give_bound_ring(w);
		pthread_mutex_unlock(&t->lock);
	}
	sn_worker_update_recording(w);
}

void sn_trace_leave(struct worker *w)
{
	struct trace_state *t = &w->scheduler->tracing;
	/* A worker that has left the bound ones gets no ring. */
	struct trace_ring *r = a_load_rlx(&w->recorder.given);

	if (!r)
		return;
	os_lock(&t->lock);
	r->taken = false;
	pthread_mutex_unlock(&t->lock);
}

/* --- starting ----------------------------------------------------------- */

#define LEAST UINT64_C(64)
#define MOST  (UINT64_C(1) << 24)

/* Return the events per ring, or 0 if `asked` is not possible. */
static uint64_t choose_ring_capacity(uint64_t asked, uint64_t before)
{
	uint64_t n = LEAST;

	if (!asked && before)
		return before;
	if (asked > MOST)
		return 0;
	while (n < (asked ? asked : SENNIT_TRACE_EVENTS))
		n *= 2;
	return before && n != before ? 0 : n;
}

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

	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b))) {
		struct worker *w = sn_worker_bound(b);

		os_lock(&s->tracing.lock);
		give_bound_ring(w);
		pthread_mutex_unlock(&s->tracing.lock);
		if (w != sn_self)
			sn_recorder_tell(&w->recorder, &w->mail);
	}
	pthread_mutex_unlock(&s->bound.lock);
}

/* Wakes no worker: a sleeping worker checks when it wakes. */
void sn_trace_tell(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->workers[i] != sn_self)
			sn_recorder_tell(&s->workers[i]->recorder,
					 &s->workers[i]->mail);
	tell_bound(s);
	if (sn_self && sn_self->scheduler == s)
		sn_worker_update_recording(sn_self);
}

/* Lock held, or no other thread knows s. */
static int begin_trace(sennit_scheduler *s, uint64_t capacity)
{
	struct trace_state *t = &s->tracing;
	int                 err = make_rings(s, capacity);

	if (err || sn_trace_is_wanted(s))
		return err;
	a_store_rlx(&t->begin_ticks,
		    sn_trace_ring_now(sn_stopwatch_has_ticks()));
	a_store_rlx(&t->begin_ns, os_now());
	sn_trace_ring_begin(t->others);
	/* -> trace.on: the rings <- trace.on: the other bit */
	a_or_acqrel(&s->observe.traced, OBSERVE_TRACE);
	return 0;
}

int sn_trace_prepare(sennit_scheduler *s)
{
	uint32_t events = s->config.trace_events;

	return events ? begin_trace(s, choose_ring_capacity(events, 0)) : 0;
}

static int start_trace(sennit_scheduler *s, uint64_t capacity)
{
	int err;

	os_lock(&s->tracing.lock);
	err = begin_trace(s, capacity);
	pthread_mutex_unlock(&s->tracing.lock);
	if (!err)
		sn_trace_tell(s);
	return err;
}

ENDS_WITH(sennit_trace_options, reserved_);

/* Fill *out; crash_fd is then -1 or the caller's. */
static int read_trace_options(sennit_trace_options       *out,
			      const sennit_trace_options *options)
{
	int err = 0;

	*out = (sennit_trace_options){ .flags = 0 };
	if (options)
		err = sn_sized_read(
			out, sizeof(*out), options,
			SIZE_THROUGH(sennit_trace_options, reserved_));
	if (!err && (out->flags & ~SENNIT_TRACE_CRASH_FD || out->reserved_))
		err = -EINVAL;
	if (!(out->flags & SENNIT_TRACE_CRASH_FD))
		out->crash_fd = -1;
	return err;
}

int sennit_trace_start(sennit_scheduler *s, const sennit_trace_options *options)
{
	sennit_trace_options o;
	uint64_t             capacity;
	int                  err;

	MISUSE_INHERITED(s, "sennit_trace_start");
	err = read_trace_options(&o, options);
	if (err)
		return err;
	capacity = choose_ring_capacity(o.events, sn_trace_capacity(s));
	if (!capacity)
		return -EINVAL;
	err = sn_trace_crash_to(s, o.crash_fd, NULL);
	if (err)
		return err;
	err = start_trace(s, capacity);
	if (err)
		sn_trace_crash_forget(s);
	return err;
}

void sennit_trace_stop(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_trace_stop");
	/* -> trace.on: nothing more <- trace.on: the other bit */
	a_and_acqrel(&s->observe.traced, ~OBSERVE_TRACE);
	sn_trace_tell(s);
}

/* --- recorder ------------------------------------------------------------- */

void sn_recorder_tell(struct recorder *r, struct mailbox *mail)
{
	/* -> recorder.told: whether recording is on <- recorder.told: the note
	 * is free */
	if (!a_swap_acqrel(&r->told, 1))
		sn_inbox_push(&mail->fibers, &r->note, &r->note);
}

struct node *sn_hook_take_note(struct worker *w, struct node *first,
			       struct node **last)
{
	struct recorder *r = &w->recorder;

	if (sn_chain_remove(&first, last, &r->note))
		/* -> recorder.told: the note is free <- recorder.told: whether
		 * recording is on */
		(void)a_swap_acqrel(&r->told, 0);
	sn_worker_update_recording(w);
	return first;
}

bool sn_recorder_update(struct recorder *r)
{
	bool on = a_load_acq(r->on) & OBSERVE_TRACE; /* <- trace.on */
	bool records = r->home->observed & OBSERVE_TRACE;

	if (on == records)
		return on;
	if (on && !r->ring)
		r->ring = a_load_acq(&r->given); /* <- trace.given */
	if (!r->ring)
		return false;
	if (on) {
		a_store_rlx(&r->ring->thread, os_thread_id());
		sn_trace_ring_begin(r->ring);
		r->turn += r->turn == UINT32_MAX ? 2 : 1;
	}
	sn_recorder_add(r, on ? SENNIT_TRACED_START : SENNIT_TRACED_STOP, 0, 0,
			0);
	return on;
}

void sn_recorder_add(struct recorder *r, uint32_t kind, uint32_t detail,
		     uint64_t a, uint64_t b)
{
	sn_trace_ring_add(r->ring, r->home->current->id, kind, detail, a, b);
}

/* --- trace ring ----------------------------------------------------------- */

_Static_assert(sizeof(struct sennit_trace_event) ==
		       TRACE_RING_WORDS * sizeof(uint64_t),
	       "an event is four words");

/* The ring struct precedes its words in memory. */
static size_t trace_ring_size(uint64_t capacity)
{
	return sizeof(struct trace_ring) +
	       (size_t)capacity * TRACE_RING_WORDS * sizeof(a_u64);
}

struct trace_ring *sn_trace_ring_make(uint64_t capacity)
{
	struct trace_ring *r = os_map(trace_ring_size(capacity));

	if (!r)
		return NULL;
	r->words = (a_u64 *)(void *)(r + 1);
	r->capacity = capacity;
	r->ticks = sn_stopwatch_has_ticks();
	return r;
}

void sn_trace_ring_free(struct trace_ring *r)
{
	os_unmap(r, trace_ring_size(r->capacity));
}

uint64_t sn_trace_ring_now(bool ticks)
{
	return likely(ticks) ? arch_ticks() : os_now();
}

void sn_trace_ring_begin(struct trace_ring *r)
{
	/* Relaxed: a reader that misses it also gets older events. */
	a_store_rlx(&r->first, a_load_rlx(&r->written));
}

/* Append an event. Each word of event i is stored with release after `written`
 * became i. So a reader that gets such a word sees in `written` that the slot's
 * previous event is being overwritten. */
static ALWAYS_INLINE void append_event(struct trace_ring *r, uint64_t time,
				       uint32_t fiber, uint32_t kind,
				       uint32_t detail, uint64_t a, uint64_t b)
{
	uint64_t i = a_load_rlx(&r->written);
	a_u64   *at = &r->words[(i & (r->capacity - 1)) * TRACE_RING_WORDS];
	uint64_t what = fiber | (uint64_t)kind << KIND_SHIFT |
			(uint64_t)detail << DETAIL_SHIFT;

	/* -> trace_ring.slot: that this slot's event is old */
	a_store_rel(&at[0], time);
	TORTURE_POINT();
	a_store_rel(&at[1], what); /* -> trace_ring.slot: the same */
	a_store_rel(&at[2], a);    /* -> trace_ring.slot: the same */
	TORTURE_POINT();
	a_store_rel(&at[3], b);          /* -> trace_ring.slot: the same */
	a_store_rel(&r->written, i + 1); /* -> trace_ring.event: the event */
}

void sn_trace_ring_add_at(struct trace_ring *r, uint64_t time, uint32_t fiber,
			  uint32_t kind, uint32_t detail, uint64_t a,
			  uint64_t b)
{
	append_event(r, time, fiber, kind, detail, a, b);
}

void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b)
{
	append_event(r, sn_trace_ring_now(r->ticks), fiber, kind, detail, a, b);
}

void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end)
{
	uint64_t first = a_load_rlx(&r->first);

	*end = a_load_acq(&r->written); /* <- trace_ring.event */
	/* The writer may be writing to the slot of the oldest event. */
	*begin = *end >= r->capacity ? *end + 1 - r->capacity : 0;
	if (first > *begin)
		*begin = first < *end ? first : *end;
}

void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out)
{
	const a_u64 *at = &r->words[(i & (r->capacity - 1)) * TRACE_RING_WORDS];
	uint64_t     time = a_load_acq(&at[0]); /* <- trace_ring.slot */
	uint64_t     what = a_load_acq(&at[1]); /* <- trace_ring.slot */
	uint64_t     a = a_load_acq(&at[2]);    /* <- trace_ring.slot */
	uint64_t     b = a_load_acq(&at[3]);    /* <- trace_ring.slot */

	TORTURE_POINT();
	*out = (struct sennit_trace_event){ .kind = SENNIT_TRACED_NONE };
	/* Not stale: see append_event. */
	if (a_load_rlx(&r->written) >= i + r->capacity)
		return;
	out->time = time;
	out->fiber = (uint32_t)what;
	out->kind = (uint16_t)(what >> KIND_SHIFT);
	out->detail = (uint16_t)(what >> DETAIL_SHIFT);
	out->a = a;
	out->b = b;
}

/* --- the program's events ------------------------------------------------- */

static void record_program_event(uint32_t kind, const char *name, int64_t v)
{
	struct worker *w = sn_self;

	if (w && sn_worker_is_traced(w))
		sn_recorder_add(&w->recorder, kind, 0, (uintptr_t)name,
				(uint64_t)v);
}

void sennit_trace_begin(const char *name)
{
	record_program_event(SENNIT_TRACED_SPAN_BEGIN, name, 0);
}

void sennit_trace_end(void)
{
	record_program_event(SENNIT_TRACED_SPAN_END, NULL, 0);
}

void sennit_trace_value(const char *name, int64_t v)
{
	record_program_event(SENNIT_TRACED_VALUE, name, v);
}

/* --- spans ---------------------------------------------------------------- */

/* A visit of the spans, worker by worker. */
struct spans {
	void (*visit)(void *context, const sennit_trace_span *span);
	void    *context;
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t now;  /* ns: the end of the last spans */
	uint64_t rate; /* nanoseconds for 2^32 ticks */

	sennit_trace_span span; /* the current span of the worker */
	bool              open; /* its end has not been found yet */
};

/* Set the clock as trace_format.h describes. Lock held. */
static void set_clock(struct spans *v, const struct trace_state *t)
{
	uint64_t ticks = sn_trace_ring_now(sn_stopwatch_has_ticks());
	uint64_t ns;

	v->now = os_now();
	v->begin_ticks = a_load_rlx(&t->begin_ticks);
	v->begin_ns = a_load_rlx(&t->begin_ns);
	ticks -= v->begin_ticks;
	for (ns = v->now - v->begin_ns; ns >> 32; ns >>= 1)
		ticks >>= 1;
	v->rate = ticks ? (ns << 32) / ticks : 0;
}

static sennit_time span_time(const struct spans *v, uint64_t ticks)
{
	uint64_t ns;

	/* read on another processor whose counter is behind */
	if ((int64_t)(ticks - v->begin_ticks) < 0)
		return v->begin_ns;
	ns = v->begin_ns + product_32(ticks - v->begin_ticks, v->rate);
	return ns < v->now ? ns : v->now;
}

static void end_span(struct spans *v, sennit_time now)
{
	if (!v->open)
		return;
	v->open = false;
	v->span.end = now;
	v->visit(v->context, &v->span);
}

static void enter_span_state(struct spans *v, uint32_t state, sennit_time now)
{
	if (v->open && v->span.state == state)
		return;
	end_span(v, now);
	v->open = true;
	v->span.state = state;
	v->span.begin = now;
}

static void apply_event(struct spans *v, const struct sennit_trace_event *e)
{
	sennit_time now = span_time(v, e->time);

	switch (e->kind) {
	case SENNIT_TRACED_NONE: /* the end of the span is not known */
		v->open = false;
		break;
	case SENNIT_TRACED_STOP:
		end_span(v, now);
		break;
	case SENNIT_TRACED_UNPARK: /* the next event determines the state */
		break;
	case SENNIT_TRACED_STEAL:
		enter_span_state(v, SENNIT_TRACE_STATE_STEAL, now);
		break;
	case SENNIT_TRACED_SEARCH:
		enter_span_state(v, SENNIT_TRACE_STATE_SPIN, now);
		break;
	case SENNIT_TRACED_PARK:
		enter_span_state(v, SENNIT_TRACE_STATE_PARK, now);
		break;
	default:
		enter_span_state(v, SENNIT_TRACE_STATE_RUN, now);
		break;
	}
}

static void visit_worker_spans(struct spans *v, struct worker *w)
{
	/* <- trace.given */
	struct trace_ring *r = a_load_acq(&w->recorder.given);
	uint64_t           i, end;

	if (!r)
		return; /* there was no memory for it */
	v->span.size = sizeof(v->span);
	v->span.worker = w->index;
	for (sn_trace_ring_range(r, &i, &end); i < end; i++) {
		struct sennit_trace_event e;

		sn_trace_ring_read(r, i, &e);
		apply_event(v, &e);
	}
	end_span(v, v->now);
}

int sennit_trace_visit(sennit_scheduler *s,
		       void (*visit)(void                    *context,
				     const sennit_trace_span *span),
		       void *context)
{
	struct spans v = { .visit = visit, .context = context };

	MISUSE_INHERITED(s, "sennit_trace_visit");
	if (!sn_trace_capacity(s))
		return -ENOTSUP;
	os_lock(&s->tracing.lock);
	set_clock(&v, &s->tracing);
	pthread_mutex_unlock(&s->tracing.lock);
	for (uint32_t i = 0; i < s->capacity; i++)
		visit_worker_spans(&v, s->workers[i]);
	return 0;
}
