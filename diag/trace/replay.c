/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/replay.h"

#include "trace/array.h"
#include "trace/earlier.h"
#include "trace/fiber.h"
#include "trace/pairs.h"
#include "trace/waits.h"

#include <sennit/report.h>
#include <sennit/trace_format.h>

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t replay_edge(struct replay *r)
{
	if (r->time->edges == UINT32_MAX)
		array_grow(NULL, UINT32_MAX, 1); /* prints a message and
						  * exits */
	return r->time->edges++;
}

uint32_t replay_track(struct replay *r, uint32_t kind, const char *name)
{
	struct timeline *t = r->time;
	uint32_t         at = ARRAY_ADD(t->tracks, t->track_count);

	t->tracks[at] = (struct track){ kind,
					names_put(&r->file->names, name) };
	return at;
}

uint32_t replay_mark(struct replay *r, uint32_t track, uint32_t kind,
		     uint64_t value)
{
	struct timeline *t = r->time;
	uint32_t         at = ARRAY_ADD(t->marks, t->mark_count);

	t->marks[at] = (struct mark){ .time = r->now,
				      .at = replay_edge(r),
				      .track = track,
				      .kind = kind,
				      .value = value };
	return at;
}

void replay_flow(struct replay *r, uint32_t mark, uint32_t slice)
{
	struct timeline *t = r->time;
	uint32_t         at;

	/* Clocks may differ, and viewers do not draw a flow back in time. */
	if (mark == TIMELINE_NONE || slice == TIMELINE_NONE ||
	    t->marks[mark].time > t->slices[slice].begin)
		return;
	at = ARRAY_ADD(t->flows, t->flow_count);
	t->flows[at] = (struct flow){ mark, slice };
}

uint32_t replay_open(struct replay *r, uint32_t track, uint32_t kind,
		     uint32_t name, uint32_t outer)
{
	struct timeline *t = r->time;
	uint32_t         at = ARRAY_ADD(t->slices, t->slice_count);

	t->slices[at] = (struct slice){ .begin = r->now,
					.track = track,
					.opened = replay_edge(r),
					.name = name,
					.plain = name,
					.outer = outer,
					.kind = kind };
	return at;
}

void replay_close(struct replay *r, uint32_t slice)
{
	r->time->slices[slice].end = r->now;
	r->time->slices[slice].closed = replay_edge(r);
}

/* --- the events ---------------------------------------------------------- */

/* The state for one event. */
struct step {
	const struct file_event *event;
	struct ring             *ring;
	struct fiber            *fiber;
	uint32_t                 call; /* the mark of a call, or NONE */
};

static bool has_fibers(const struct replay *r, uint32_t ring)
{
	return r->rings[ring].track != TIMELINE_NONE;
}

static void end_idle(struct replay *r, struct ring *ring)
{
	if (ring->idle != TIMELINE_NONE)
		replay_close(r, ring->idle);
	ring->idle = TIMELINE_NONE;
}

/* Return the innermost slice of x on its worker's track, or NONE. */
static uint32_t top_slice(const struct fiber *x)
{
	uint32_t depth = x->frame_count;

	if (depth > TIMELINE_DEPTH)
		depth = TIMELINE_DEPTH;
	return depth ? x->frames[depth - 1].worker_slice : TIMELINE_NONE;
}

static void begin_idle(struct replay *r, struct ring *ring, uint32_t kind,
		       const char *name)
{
	struct fiber *x = ring->running;

	if (ring->track != TIMELINE_NONE)
		ring->idle = replay_open(r, ring->track, kind,
					 names_put(&r->file->names, name),
					 x ? top_slice(x) : TIMELINE_NONE);
}

static void reset_fiber(struct replay *r, struct fiber *x)
{
	waits_abandon(r, x);
	fiber_stop(r, x);
	while (x->frame_count)
		fiber_pop(r, x);
	x->is_listed = false;
}

/* Forget the state of the ring. */
static void reset_ring(struct replay *r, struct ring *ring)
{
	struct fiber *x = ring->fibers, *next;

	end_idle(r, ring);
	for (; x; x = next) {
		next = x->next;
		reset_fiber(r, x);
	}
	ring->fibers = NULL;
	ring->running = NULL;
}

/* Begin to run x. If it waits according to the trace, it has resumed. */
static void run(struct replay *r, struct fiber *x)
{
	if (x->pause != TIMELINE_NONE)
		waits_end(r, x);
	fiber_run(r, x);
}

static void begin_frame(struct replay *r, const struct step *s, uint32_t kind,
			uint32_t strings)
{
	run(r, s->fiber);
	if (kind == SLICE_SPAN && has_fibers(r, s->event->ring))
		fiber_frame(r, s->fiber);
	fiber_push(r, s->fiber, kind, file_name(r->file, strings, s->event->a));
}

static void begin_task(struct replay *r, const struct step *s)
{
	uint32_t task;

	run(r, s->fiber);
	if (s->event->detail == SENNIT_TRACE_OUTERMOST && s->event->fiber)
		while (s->fiber->frame_count)
			fiber_pop(r, s->fiber);
	begin_frame(r, s, SLICE_TASK, SENNIT_TRACE_STRING_FUNCTION);
	task = fiber_top(s->fiber)->task;
	r->time->tasks[task].has_begun = true;
}

/* End the innermost frame of that kind and all frames within it, whose ends are
 * lost. */
static void end_frame(struct replay *r, const struct step *s, uint32_t kind)
{
	struct fiber *x = s->fiber;
	uint32_t      depth = x->frame_count;

	run(r, x);
	if (kind == SLICE_TASK && depth) {
		depth = fiber_top(x)->task == TIMELINE_NONE
				? 0
				: fiber_top(x)->task_frame + 1;
	} else if (depth && fiber_top(x)->kind != kind) {
		depth = 0;
	}
	if (!depth)
		return;
	if (kind == SLICE_TASK)
		r->time->tasks[fiber_top(x)->task].has_ended = true;
	while (x->frame_count >= depth)
		fiber_pop(r, x);
}

/* x is in a task of that function. If the trace has another task, that one has
 * ended; it was a member of a group that began before the recording. */
static void tell_task(struct replay *r, struct fiber *x, uint64_t function)
{
	uint32_t name = file_name(r->file, SENNIT_TRACE_STRING_FUNCTION,
				  function);
	uint32_t task = x->frame_count ? fiber_top(x)->task : TIMELINE_NONE;

	if (task != TIMELINE_NONE && r->time->tasks[task].name == name)
		return;
	run(r, x);
	if (task != TIMELINE_NONE) {
		uint32_t depth = fiber_top(x)->task_frame;

		while (x->frame_count > depth)
			fiber_pop(r, x);
	}
	task = x->frame_count ? fiber_top(x)->task : TIMELINE_NONE;
	if (task == TIMELINE_NONE || r->time->tasks[task].name != name)
		fiber_push(r, x, SLICE_TASK, name);
}

static void end_task(struct replay *r, const struct step *s)
{
	if (has_fibers(r, s->event->ring))
		fiber_frame(r, s->fiber);
	end_frame(r, s, SLICE_TASK);
}

static void add_value(struct replay *r, const struct file_event *e)
{
	struct timeline *t = r->time;
	uint32_t         at = ARRAY_ADD(t->values, t->value_count);

	t->values[at] = (struct value){
		.time = r->now,
		.at = replay_edge(r),
		.value = (int64_t)e->b,
		.name = file_name(r->file, SENNIT_TRACE_STRING_NAME, e->a)
	};
}

static uint32_t mark(struct replay *r, struct step *s, uint32_t kind,
		     uint64_t value)
{
	return replay_mark(r, fiber_running_track(r, s->fiber), kind, value);
}

/* Returns the mark of a blocking call, else NONE. */
static uint32_t begin_wait(struct replay *r, struct step *s)
{
	if (!has_fibers(r, s->event->ring))
		return TIMELINE_NONE;
	if (s->event->detail == SENNIT_WAITS_FOR_CALL &&
	    s->call == TIMELINE_NONE)
		s->call = mark(r, s, MARK_CALL, 0);
	waits_begin(r, s->fiber, s->event);
	return s->call;
}

/* Long: one case for each kind of event. Returns the mark or the slice at which
 * a flow of tasks or calls has an end, or NONE. */
static uint32_t apply(struct replay *r, struct step *s)
{
	const struct file_event *e = s->event;
	struct fiber            *x = s->fiber;

	switch (e->kind) {
	case SENNIT_TRACED_TASK_BEGIN:
		begin_task(r, s);
		return top_slice(x);
	case SENNIT_TRACED_TASK_END:
		end_task(r, s);
		break;
	case SENNIT_TRACED_SPAWN:
		return mark(r, s, MARK_SPAWN, 0);
	case SENNIT_TRACED_WAIT:
		return begin_wait(r, s);
	case SENNIT_TRACED_WAKE:
		waits_wake(r, x, e, mark(r, s, MARK_WAKE, 0));
		break;
	case SENNIT_TRACED_RESUME:
		if (has_fibers(r, e->ring)) {
			waits_end(r, x);
			replay_flow(r, x->mark, top_slice(x));
			x->mark = TIMELINE_NONE;
		}
		break;
	case SENNIT_TRACED_STEAL:
		(void)mark(r, s, MARK_STEAL, e->b);
		break;
	case SENNIT_TRACED_SEARCH:
		begin_idle(r, s->ring, SLICE_SEARCH, "search");
		break;
	case SENNIT_TRACED_PARK:
		begin_idle(r, s->ring, SLICE_PARK, "sleep");
		break;
	case SENNIT_TRACED_CALL_BEGIN:
		begin_frame(r, s, SLICE_CALL, SENNIT_TRACE_STRING_FUNCTION);
		return top_slice(x);
	case SENNIT_TRACED_CALL_END:
		end_frame(r, s, SLICE_CALL);
		break;
	case SENNIT_TRACED_SPAN_BEGIN:
		begin_frame(r, s, SLICE_SPAN, SENNIT_TRACE_STRING_NAME);
		break;
	case SENNIT_TRACED_SPAN_END:
		end_frame(r, s, SLICE_SPAN);
		break;
	case SENNIT_TRACED_VALUE:
		add_value(r, e);
		break;
	case SENNIT_TRACED_FIBER_NAME:
		if (has_fibers(r, e->ring))
			fiber_frame(r, x);
		fiber_rename(r, x, e);
		break;
	case SENNIT_TRACED_STATE:
		if (has_fibers(r, e->ring))
			tell_task(r, x, e->a);
		break;
	case SENNIT_TRACED_START:
	case SENNIT_TRACED_STOP:
		reset_ring(r, s->ring);
		break;
	default:
		break;
	}
	return TIMELINE_NONE;
}

/* Set the fiber's task and wait from before the events of its ring. */
static void begin_earlier(struct replay *r, const struct earlier *e)
{
	struct fiber *x = fiber_find(r, e->ring, e->fiber);

	if (x->frame_count)
		return;
	if (e->task != TIMELINE_NONE)
		fiber_push(r, x, SLICE_TASK, e->task);
	if (e->name != TIMELINE_NONE)
		fiber_set_name(r, x, r->file->names.names[e->name]);
	if (e->flow)
		waits_begin_earlier(r, x, e);
}

static void begin_ring(struct replay *r, struct ring *ring)
{
	for (uint32_t i = 0; i < ring->earlier_count; i++)
		begin_earlier(r, &ring->earlier[i]);
	ring->earlier_count = 0;
}

static void mark_loss(struct replay *r, struct step *s)
{
	uint64_t lost = r->file->rings[s->event->ring].lost;

	if (lost && !s->ring->has_begun)
		(void)mark(r, s, MARK_LOST, lost);
	/* START resets the state. */
	if (!s->ring->has_begun && s->event->kind != SENNIT_TRACED_START)
		begin_ring(r, s->ring);
	s->ring->has_begun = true;
}

/* If the function of a call begins before the wait for it is recorded, mark the
 * call now, so that no flow goes back in time. */
static void mark_call(struct replay *r, uint32_t event, uint32_t wait,
		      uint32_t *ends)
{
	const struct file_event *e = &r->file->events[wait];

	if (wait > event && has_fibers(r, e->ring))
		ends[wait] = replay_mark(r, r->rings[e->ring].track, MARK_CALL,
					 0);
}

static void apply_all(struct replay *r)
{
	struct file *f = r->file;
	uint32_t    *partners = pairs_find(f);
	uint32_t    *ends = array_zeros(f->event_count, sizeof(*ends));

	for (uint32_t i = 0; i < f->event_count; i++)
		ends[i] = TIMELINE_NONE;
	for (uint32_t i = 0; i < f->event_count; i++) {
		const struct file_event *e = &f->events[i];
		struct step              s = { .event = e, .call = ends[i] };

		s.ring = &r->rings[e->ring];
		s.fiber = fiber_find(r, e->ring, e->fiber);
		r->now = e->time;
		end_idle(r, s.ring);
		mark_loss(r, &s);
		if (e->kind == SENNIT_TRACED_CALL_BEGIN &&
		    partners[i] != UINT32_MAX)
			mark_call(r, i, partners[i], ends);
		ends[i] = apply(r, &s);
		begin_ring(r, s.ring);
	}
	for (uint32_t i = 0; i < f->event_count; i++)
		if (partners[i] != UINT32_MAX)
			replay_flow(r, ends[partners[i]], ends[i]);
	free(partners);
	free(ends);
}

/* --- begin and end ------------------------------------------------------- */

static void begin_rings(struct replay *r)
{
	char name[48];

	for (uint32_t i = 0; i < r->file->ring_count; i++) {
		const struct file_ring *ring = &r->file->rings[i];

		r->rings[i].track = r->rings[i].idle = TIMELINE_NONE;
		r->time->lost += ring->lost;
		if (ring->kind == SENNIT_TRACE_RING_OTHERS)
			continue;
		if (ring->kind == SENNIT_TRACE_RING_BOUND)
			snprintf(name, sizeof(name), "bound thread %u",
				 (unsigned int)ring->thread);
		else
			snprintf(name, sizeof(name), "worker %u",
				 (unsigned int)ring->number);
		r->rings[i].track = replay_track(r, TRACK_WORKER, name);
	}
}

/* Assign the entries, which are sorted by ring, to their rings. Rings without
 * events begin at once. */
static void give_earlier(struct replay *r, const struct earlier *all,
			 uint32_t count)
{
	const struct file *f = r->file;
	bool *has_events = array_zeros(f->ring_count, sizeof(*has_events));

	for (uint32_t i = 0; i < count; i++) {
		struct ring *ring = &r->rings[all[i].ring];

		if (!ring->earlier_count++)
			ring->earlier = &all[i];
	}
	for (uint32_t i = 0; i < f->event_count; i++)
		has_events[f->events[i].ring] = true;
	for (uint32_t i = 0; i < f->ring_count; i++)
		if (!has_events[i])
			begin_ring(r, &r->rings[i]);
	free(has_events);
}

void replay(struct timeline *t, struct file *f)
{
	struct replay   r = { .time = t, .file = f };
	struct earlier *earlier;
	uint32_t        earlier_count;

	*t = (struct timeline){ .events = f->event_count,
				.is_cut = f->is_cut,
				.workers = f->workers };
	r.rings = array_zeros(f->ring_count, sizeof(*r.rings));
	begin_rings(&r);
	waits_index(&r);
	earlier = earlier_find(f, &earlier_count, &t->lost);
	give_earlier(&r, earlier, earlier_count);
	apply_all(&r);
	for (uint32_t i = 0; i < f->ring_count; i++)
		reset_ring(&r, &r.rings[i]);
	t->length = r.now;
	t->names = f->names.names;
	t->name_count = f->names.count;
	tdestroy(r.fibers, fiber_free);
	free(earlier);
	free(r.rings);
	free(r.numbers);
}
