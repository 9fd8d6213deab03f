/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/earlier.h"

#include "trace/array.h"
#include "trace/timeline.h"

#include <sennit/report.h>
#include <sennit/trace_format.h>

#include <stdlib.h>

/* A fiber's events: those of `order` from `first` on, `count` of them. */
struct span {
	struct file       *file;
	const uint32_t    *order;
	uint32_t           count;
	struct file_fiber *listed; /* or NULL */
	int64_t            begin;  /* of its ring */
	uint64_t          *lost;
};

/* What the events of a fiber show about the time before them. */
struct look {
	uint32_t depth; /* tasks that have begun among the events */
	uint32_t read;  /* events that belong to an earlier task */
	bool     needs_task, has_wait, has_resumed, has_task, is_over;
};

static const struct file *sorted; /* for compare_events() */

static int compare_events(const void *a, const void *b)
{
	uint32_t                 i = *(const uint32_t *)a;
	uint32_t                 k = *(const uint32_t *)b;
	const struct file_event *x = &sorted->events[i];
	const struct file_event *y = &sorted->events[k];

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	if (x->fiber != y->fiber)
		return x->fiber < y->fiber ? -1 : 1;
	return i < k ? -1 : i > k;
}

static struct file_event *event(const struct span *s, uint32_t i)
{
	return &s->file->events[s->order[i]];
}

static void set_task(struct span *s, struct earlier *e, struct look *l,
		     uint64_t function)
{
	e->task = file_name(s->file, SENNIT_TRACE_STRING_FUNCTION, function);
	l->has_task = true;
}

static void set_wait(const struct span *s, struct earlier *e, uint32_t kind,
		     uint64_t flow, int64_t since)
{
	e->waits_for = kind;
	e->flow = flow;
	e->waited = since < s->begin ? (uint64_t)s->begin - (uint64_t)since : 0;
}

/* Handle the first RESUME without its WAIT. `before`: the event before it,
 * which may be the STATE that contains when the wait began. */
static void resume(const struct span *s, struct earlier *e,
		   const struct file_event *at, int64_t since)
{
	if (at->a)
		since = file_time(s->file, at->a);
	if (at->detail)
		set_wait(s, e, at->detail, at->b, since);
}

/* Long: one case for each kind of event. */
static void look_at(struct span *s, struct earlier *e, struct look *l,
		    const struct file_event *at, int64_t *since)
{
	switch (at->kind) {
	case SENNIT_TRACED_TASK_BEGIN:
		if (at->detail == SENNIT_TRACE_OUTERMOST && at->fiber)
			l->is_over = true;
		l->depth++;
		return;
	case SENNIT_TRACED_TASK_END:
		if (l->depth)
			l->depth--;
		else
			set_task(s, e, l, at->a);
		return;
	case SENNIT_TRACED_STATE:
		if (at->b)
			*since = file_time_ns(s->file, at->b);
		if (!l->depth)
			set_task(s, e, l, at->a);
		return;
	case SENNIT_TRACED_STOP:
		l->is_over = true;
		return;
	case SENNIT_TRACED_WAIT:
		l->has_wait = true;
		break;
	case SENNIT_TRACED_RESUME:
		if (!l->has_wait && !l->has_resumed)
			resume(s, e, at, *since);
		l->has_resumed = true;
		break;
	case SENNIT_TRACED_SPAN_BEGIN:
	case SENNIT_TRACED_FIBER_NAME:
		break;
	default:
		return;
	}
	l->needs_task = l->needs_task || !l->depth;
}

static bool has_flow(const struct span *s, uint64_t flow)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (event(s, i)->b == flow &&
		    (event(s, i)->kind == SENNIT_TRACED_WAIT ||
		     event(s, i)->kind == SENNIT_TRACED_RESUME))
			return true;
	return false;
}

/* Report whether the list contains what the fiber waited for before the first
 * event. */
static bool is_listed_wait(const struct span *s, const struct earlier *e,
			   const struct look *l)
{
	const struct file_fiber *f = s->listed;

	return f->flow && f->waits_for && f->since <= s->begin && !e->flow &&
	       !l->has_resumed && !has_flow(s, f->flow);
}

/* Use the list, if its entry already held before the first event: the fiber has
 * waited since then, or is still in the task to which its events belong. */
static void ask_list(struct span *s, struct earlier *e, struct look *l)
{
	const struct file_fiber *f = s->listed;
	bool                     waits = is_listed_wait(s, e, l);

	if (waits)
		set_wait(s, e, f->waits_for, f->flow, f->since);
	if (!l->has_task && !l->depth && !l->is_over &&
	    (waits || l->needs_task || (!s->count && !f->flow))) {
		set_task(s, e, l, f->task);
		e->name = f->name;
	}
}

/* The task is not known: leave the events out. */
static void leave_out(struct span *s, const struct look *l)
{
	for (uint32_t i = 0; i < l->read; i++)
		switch (event(s, i)->kind) {
		case SENNIT_TRACED_WAIT:
		case SENNIT_TRACED_RESUME:
		case SENNIT_TRACED_SPAN_BEGIN:
		case SENNIT_TRACED_SPAN_END:
		case SENNIT_TRACED_FIBER_NAME:
			event(s, i)->kind = SENNIT_TRACED_NONE;
			++*s->lost;
			break;
		default:
			break;
		}
}

/* Returns whether anything was found. */
static bool find_one(struct span *s, struct earlier *e)
{
	struct look l = { .depth = 0 };
	int64_t     since = s->begin;

	while (l.read < s->count && !l.has_task && !l.is_over)
		look_at(s, e, &l, event(s, l.read++), &since);
	/* find the RESUME that belongs to the STATE */
	for (uint32_t i = l.read;
	     i < s->count && l.has_task && !l.has_wait && !l.has_resumed; i++) {
		if (event(s, i)->kind == SENNIT_TRACED_RESUME)
			look_at(s, e, &l, event(s, i), &since);
		else if (event(s, i)->kind != SENNIT_TRACED_FIBER_NAME)
			break;
	}
	if (s->listed)
		ask_list(s, e, &l);
	if (!l.has_task && l.needs_task && e->fiber)
		leave_out(s, &l);
	return l.has_task || (!e->fiber && e->flow);
}

/* Sort the events by ring and fiber. The caller frees the result. */
static uint32_t *sort(const struct file *f)
{
	uint32_t *order = array_zeros(f->event_count, sizeof(*order));

	for (uint32_t i = 0; i < f->event_count; i++)
		order[i] = i;
	sorted = f;
	if (f->event_count)
		qsort(order, f->event_count, sizeof(*order), compare_events);
	return order;
}

/* Return when the events of each ring begin. The caller frees the result. */
static int64_t *begins(const struct file *f)
{
	int64_t *begin = array_zeros(f->ring_count, sizeof(*begin));

	for (uint32_t i = f->event_count; i--;)
		begin[f->events[i].ring] = (int64_t)f->events[i].time;
	return begin;
}

static bool is_before(const struct file_fiber *x, const struct file_event *e)
{
	return x->ring != e->ring ? x->ring < e->ring : x->fiber < e->fiber;
}

/* --- waits in several parts ---------------------------------------------- */

/* A waiter of a mutex checks it now and then. The parts before and after a
 * check are one wait, which has the flow of the first part. */
struct part {
	uint64_t flow;
	uint64_t whole; /* the flow of the wait; 0: another part follows */
};

struct parts {
	struct part *parts;
	uint32_t     count;
	uint32_t     resume; /* the fiber's last RESUME, or NONE */
	uint64_t     whole;  /* the flow of the wait that it ended */
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static void add_part(struct parts *p, uint64_t flow, uint64_t whole)
{
	uint32_t at = p->count;

	/* the same part as before */
	if (at && p->parts[at - 1].flow == flow)
		at--;
	else
		at = ARRAY_ADD(p->parts, p->count);
	p->parts[at] = (struct part){ flow, whole };
}

/* The wait *e continues the wait that resumed last, which therefore has not
 * ended. If that one is lost, *e is an ordinary wait. */
static void go_on(struct file *f, struct parts *p, struct file_event *e)
{
	struct file_event *resume;

	e->detail &= (uint16_t)~SENNIT_TRACE_GOES_ON;
	if (p->resume == TIMELINE_NONE) {
		p->whole = e->b;
		return;
	}
	resume = &f->events[p->resume];
	if (!p->whole)
		p->whole = resume->b;
	add_part(p, resume->b, 0);
	add_part(p, e->b, p->whole);
	resume->kind = e->kind = SENNIT_TRACED_NONE;
	p->resume = TIMELINE_NONE;
}

static void read_part(struct file *f, struct parts *p, uint32_t at)
{
	struct file_event *e = &f->events[at];

	if (e->kind == SENNIT_TRACED_WAIT && e->detail & SENNIT_TRACE_GOES_ON) {
		go_on(f, p, e);
	} else if (e->kind == SENNIT_TRACED_WAIT) {
		p->resume = TIMELINE_NONE;
		p->whole = e->b;
	} else if (e->kind == SENNIT_TRACED_RESUME) {
		if (p->resume != TIMELINE_NONE)
			p->whole = 0; /* its WAIT is lost */
		p->resume = at;
	}
}

static const struct part *find_part(const struct parts *p, uint64_t flow)
{
	struct part key = { flow, 0 };

	return p->count ? bsearch(&key, p->parts, p->count, sizeof(key),
				  compare_parts)
			: NULL;
}

/* Replace the flow of each part by the flow of the whole wait. */
static void rename_parts(struct file *f, const struct parts *p)
{
	for (uint32_t i = 0; i < f->event_count; i++) {
		struct file_event *e = &f->events[i];
		const struct part *part =
			e->kind == SENNIT_TRACED_WAKE ||
					e->kind == SENNIT_TRACED_RESUME
				? find_part(p, e->b)
				: NULL;

		if (part && part->whole)
			e->b = part->whole;
		else if (part)
			e->kind = SENNIT_TRACED_NONE;
	}
	for (uint32_t i = 0; i < f->fiber_count; i++) {
		const struct part *part = find_part(p, f->fibers[i].flow);

		if (part && part->whole)
			f->fibers[i].flow = part->whole;
	}
}

static void join_parts(struct file *f, const uint32_t *order)
{
	struct parts p = { .resume = TIMELINE_NONE };

	for (uint32_t i = 0; i < f->event_count; i++) {
		const struct file_event *e = &f->events[order[i]];
		const struct file_event *last = i ? &f->events[order[i - 1]]
						  : NULL;

		if (!last || last->ring != e->ring || last->fiber != e->fiber) {
			p.resume = TIMELINE_NONE;
			p.whole = 0;
		}
		read_part(f, &p, order[i]);
	}
	if (p.count) {
		qsort(p.parts, p.count, sizeof(*p.parts), compare_parts);
		rename_parts(f, &p);
	}
	free(p.parts);
}

struct earlier *earlier_find(struct file *f, uint32_t *count, uint64_t *lost)
{
	struct earlier *found = NULL;
	uint32_t       *order = sort(f);
	int64_t        *begin = begins(f);
	uint32_t        listed = 0, at = 0;

	*count = 0;
	join_parts(f, order);
	while (at < f->event_count || listed < f->fiber_count) {
		struct span        s = { .file = f,
					 .order = order + at,
					 .lost = lost };
		struct earlier     e = { .task = TIMELINE_NONE,
					 .name = TIMELINE_NONE };
		struct file_event *first = at < f->event_count ? event(&s, 0)
							       : NULL;

		if (listed < f->fiber_count &&
		    (!first || is_before(&f->fibers[listed], first))) {
			s.listed = &f->fibers[listed++];
		} else {
			while (at + s.count < f->event_count &&
			       event(&s, s.count)->ring == first->ring &&
			       event(&s, s.count)->fiber == first->fiber)
				s.count++;
			at += s.count;
			if (listed < f->fiber_count &&
			    f->fibers[listed].ring == first->ring &&
			    f->fibers[listed].fiber == first->fiber)
				s.listed = &f->fibers[listed++];
		}
		e.ring = s.listed ? s.listed->ring : first->ring;
		e.fiber = s.listed ? s.listed->fiber : first->fiber;
		s.begin = begin[e.ring];
		if (f->rings[e.ring].kind != SENNIT_TRACE_RING_OTHERS &&
		    find_one(&s, &e)) {
			uint32_t to = ARRAY_ADD(found, *count);

			found[to] = e;
		}
	}
	free(order);
	free(begin);
	return found;
}
