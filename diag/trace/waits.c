/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/waits.h"

#include "trace/array.h"
#include "trace/earlier.h"

#include <sennit/report.h>
#include <sennit/trace_format.h>

#include <stdio.h>
#include <stdlib.h>

static uint32_t what_name(struct replay *r, uint32_t waits_for)
{
	static const char *const names[] = {
		[SENNIT_WAITS_FOR_NOTHING] = "yield",
		[SENNIT_WAITS_FOR_EVENT] = "event",
		[SENNIT_WAITS_FOR_WAIT_GROUP] = "wait group",
		[SENNIT_WAITS_FOR_MUTEX] = "mutex",
		[SENNIT_WAITS_FOR_COND] = "condition variable",
		[SENNIT_WAITS_FOR_NOTIFY] = "notify",
		[SENNIT_WAITS_FOR_TIME] = "sleep",
		[SENNIT_WAITS_FOR_WORK] = "unbind",
		[SENNIT_WAITS_FOR_RWLOCK] = "reader-writer lock",
		[SENNIT_WAITS_FOR_SEMAPHORE] = "semaphore",
		[SENNIT_WAITS_FOR_BARRIER] = "barrier",
		[SENNIT_WAITS_FOR_ONCE] = "once",
		[SENNIT_WAITS_FOR_TICKET] = "ticket",
		[SENNIT_WAITS_FOR_CALL] = "blocking call",
		[SENNIT_WAITS_FOR_POOL] = "pool",
		[SENNIT_WAITS_FOR_CHANNEL] = "channel",
		[SENNIT_WAITS_FOR_SELECT] = "select",
		[SENNIT_WAITS_FOR_FUTURE] = "future",
		[SENNIT_WAITS_FOR_GROUP] = "group",
		[SENNIT_WAITS_FOR_IO] = "I/O",
		[SENNIT_WAITS_FOR_MEMBERS] = "members"
	};
	char other[24];

	if (waits_for < sizeof(names) / sizeof(*names))
		return names_put(&r->file->names, names[waits_for]);
	snprintf(other, sizeof(other), "wait %u", (unsigned int)waits_for);
	return names_put(&r->file->names, other);
}

/* Set the waker of the current wait. */
static void woken(struct replay *r, struct fiber *x, const struct wake *k)
{
	struct wait *w = &r->time->waits[x->wait];

	w->waker = k->waker;
	if (x->pause != TIMELINE_NONE &&
	    r->time->slices[x->pause].kind == SLICE_CALL)
		w->waker = names_put(&r->file->names, "(the call's end)");
	w->woken = x->pause == TIMELINE_NONE ? w->end : r->now;
	x->mark = k->mark;
	x->is_woken = true;
	x->early.flow = 0;
}

/* End the wait of x; it is ready from now on. */
static void make_ready(struct replay *r, struct fiber *x)
{
	uint32_t track = r->time->slices[x->pause].track;
	uint32_t outer = r->time->slices[x->pause].outer;

	replay_close(r, x->pause);
	x->pause = replay_open(r, track, SLICE_READY,
			       names_put(&r->file->names, "ready"), outer);
}

static uint32_t add_wait(struct replay *r, const struct fiber *x, uint32_t what,
			 uint32_t outer)
{
	struct timeline    *t = r->time;
	const struct frame *top = fiber_top(x);
	uint32_t            at = ARRAY_ADD(t->waits, t->wait_count);

	t->waits[at] =
		(struct wait){ .begin = r->now,
			       .what = what,
			       .waker = TIMELINE_NONE,
			       .task = top->task == TIMELINE_NONE
					       ? top->name
					       : t->tasks[top->task].name,
			       .outer = outer };
	return at;
}

static void begin(struct replay *r, struct fiber *x, uint32_t kind,
		  uint64_t flow)
{
	uint32_t what = what_name(r, kind), outer;
	bool     is_call = kind == SENNIT_WAITS_FOR_CALL;
	bool     is_yield = kind == SENNIT_WAITS_FOR_NOTHING;

	outer = fiber_show(r, x);
	fiber_stop(r, x);
	x->pause = replay_open(r, r->time->slices[outer].track,
			       is_call    ? SLICE_CALL
			       : is_yield ? SLICE_READY
					  : SLICE_WAIT,
			       what, outer);
	x->wait = is_yield ? TIMELINE_NONE : add_wait(r, x, what, outer);
	x->flow = flow;
	x->is_woken = is_yield;
	x->mark = TIMELINE_NONE;
	if (!is_yield && x->early.flow && x->early.flow == x->flow) {
		woken(r, x, &x->early);
		make_ready(r, x);
	}
}

void waits_begin(struct replay *r, struct fiber *x, const struct file_event *e)
{
	waits_abandon(r, x);
	fiber_frame(r, x);
	fiber_run(r, x);
	begin(r, x, e->detail, e->b);
}

void waits_begin_earlier(struct replay *r, struct fiber *x,
			 const struct earlier *e)
{
	fiber_frame(r, x);
	begin(r, x, e->waits_for, e->flow);
	r->time->waits[x->wait].before = e->waited;
}

static int compare_rings(const void *a, const void *b)
{
	const struct ring_number *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

void waits_index(struct replay *r)
{
	const struct file *f = r->file;

	r->numbers = array_zeros(f->ring_count, sizeof(*r->numbers));
	for (uint32_t i = 0; i < f->ring_count; i++)
		r->numbers[i] = (struct ring_number){ f->rings[i].number, i };
	qsort(r->numbers, f->ring_count, sizeof(*r->numbers), compare_rings);
}

/* Return the index of the ring with that number, or NONE. */
static uint32_t find_ring(const struct replay *r, uint32_t number)
{
	struct ring_number        key = { number, 0 };
	const struct ring_number *found = bsearch(&key, r->numbers,
						  r->file->ring_count,
						  sizeof(key), compare_rings);

	return found ? found->index : TIMELINE_NONE;
}

static uint32_t waker_name(struct replay *r, const struct fiber *waker,
			   const struct file_event *e)
{
	const struct frame *top = fiber_top(waker);
	const char         *name = "(worker)";

	if (e->detail == SENNIT_TRACE_WAKE_TIMER)
		name = "(deadline)";
	else if (e->detail == SENNIT_TRACE_WAKE_CANCEL)
		name = "(cancelled)";
	else if (top && top->task != TIMELINE_NONE)
		return r->time->tasks[top->task].name;
	else if (top)
		return top->name;
	else if (r->rings[waker->ring].track == TIMELINE_NONE)
		name = "(other thread)";
	return names_put(&r->file->names, name);
}

void waits_wake(struct replay *r, const struct fiber *waker,
		const struct file_event *e, uint32_t mark)
{
	struct wake   k = { e->b, r->now, mark, waker_name(r, waker, e) };
	uint32_t      ring = find_ring(r, (uint32_t)(e->a >> 32));
	struct fiber *x;

	if (e->a == UINT64_MAX || !e->b || ring == TIMELINE_NONE)
		return;
	x = fiber_find(r, ring, (uint32_t)e->a);
	if (x->wait == TIMELINE_NONE || x->is_woken || x->flow != e->b) {
		x->early = k;
		return;
	}
	if (x->pause != TIMELINE_NONE &&
	    r->time->slices[x->pause].kind == SLICE_CALL)
		k.waker = names_put(&r->file->names, "(the call's end)");
	woken(r, x, &k);
	if (x->pause != TIMELINE_NONE)
		make_ready(r, x);
}

static void end(struct replay *r, struct fiber *x, bool is_open)
{
	struct wait *w;

	if (x->pause == TIMELINE_NONE)
		return;
	replay_close(r, x->pause);
	x->pause = TIMELINE_NONE;
	if (x->wait == TIMELINE_NONE)
		return;
	w = &r->time->waits[x->wait];
	w->end = r->now;
	w->is_open = is_open;
	if (!x->is_woken)
		w->woken = r->now;
}

void waits_end(struct replay *r, struct fiber *x)
{
	fiber_frame(r, x);
	end(r, x, false);
	fiber_run(r, x);
}

void waits_abandon(struct replay *r, struct fiber *x)
{
	end(r, x, true);
	x->wait = TIMELINE_NONE;
	x->mark = TIMELINE_NONE;
}
