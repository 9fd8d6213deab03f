/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/fiber.h"

#include "trace/array.h"

#include <sennit/trace_format.h>

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_PIECE = 16, NAME_SIZE = 256 };

static int compare(const void *a, const void *b)
{
	const struct fiber *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct fiber *fiber_find(struct replay *r, uint32_t ring, uint32_t number)
{
	struct fiber  key = { .ring = ring, .number = number };
	struct fiber *x, **found = tfind(&key, &r->fibers, compare);

	if (found)
		return *found;
	x = array_zeros(1, sizeof(*x));
	x->ring = ring;
	x->number = number;
	x->track = x->pause = x->wait = x->mark = TIMELINE_NONE;
	if (!tsearch(x, &r->fibers, compare))
		array_grow(NULL, UINT32_MAX, 1); /* prints a message and
						  * exits */
	return x;
}

void fiber_free(void *fiber)
{
	struct fiber *x = fiber;

	free(x->frames);
	free(x->name);
	free(x);
}

uint32_t fiber_running_track(struct replay *r, struct fiber *x)
{
	char name[32];

	if (r->rings[x->ring].track != TIMELINE_NONE)
		return r->rings[x->ring].track;
	if (x->track == TIMELINE_NONE) {
		snprintf(name, sizeof(name), "thread %u",
			 (unsigned int)x->number);
		x->track = replay_track(r, TRACK_WORKER, name);
	}
	return x->track;
}

static uint32_t own_track(struct replay *r, struct fiber *x)
{
	char name[32];

	if (x->track == TIMELINE_NONE) {
		snprintf(name, sizeof(name), "fiber %u.%u",
			 (unsigned int)r->file->rings[x->ring].number,
			 (unsigned int)x->number);
		x->track = replay_track(r, TRACK_FIBER, name);
	}
	return x->track;
}

static void open_on_worker(struct replay *r, struct fiber *x, uint32_t depth)
{
	struct frame *f = &x->frames[depth];
	uint32_t      outer = depth ? x->frames[depth - 1].worker_slice
				    : TIMELINE_NONE;

	f->worker_slice = replay_open(r, fiber_running_track(r, x), f->kind,
				      f->name, outer);
	r->time->slices[f->worker_slice].plain = f->plain;
}

void fiber_account(struct replay *r, struct fiber *x)
{
	struct frame *f = fiber_top(x);

	if (x->is_running && f && f->task != TIMELINE_NONE)
		r->time->tasks[f->task].ran += r->now - x->since;
	x->since = r->now;
}

static void list(struct replay *r, struct fiber *x)
{
	if (x->is_listed)
		return;
	x->is_listed = true;
	x->next = r->rings[x->ring].fibers;
	r->rings[x->ring].fibers = x;
}

static uint32_t add_task(struct replay *r, uint32_t name)
{
	struct timeline *t = r->time;
	uint32_t         at = ARRAY_ADD(t->tasks, t->task_count);

	t->tasks[at] = (struct task){ .begin = r->now, .name = name };
	return at;
}

void fiber_push(struct replay *r, struct fiber *x, uint32_t kind, uint32_t name)
{
	struct frame *outer = fiber_top(x);
	struct frame  f = { .begin = r->now,
			    .edge = replay_edge(r),
			    .kind = kind,
			    .name = name,
			    .plain = name,
			    .task = TIMELINE_NONE,
			    .worker_slice = TIMELINE_NONE,
			    .fiber_slice = TIMELINE_NONE };
	uint32_t      depth;

	fiber_account(r, x);
	if (kind == SLICE_TASK) {
		f.task = add_task(r, name);
		f.task_frame = x->frame_count;
	} else if (outer) {
		f.task = outer->task;
		f.task_frame = outer->task_frame;
	}
	list(r, x);
	depth = ARRAY_ADD(x->frames, x->frame_count);
	x->frames[depth] = f;
	if (x->is_running && depth < TIMELINE_DEPTH)
		open_on_worker(r, x, depth);
}

static void close_on_worker(struct replay *r, struct frame *f)
{
	if (f->worker_slice != TIMELINE_NONE)
		replay_close(r, f->worker_slice);
	f->worker_slice = TIMELINE_NONE;
}

void fiber_pop(struct replay *r, struct fiber *x)
{
	struct frame *f;

	fiber_account(r, x);
	f = &x->frames[--x->frame_count];
	close_on_worker(r, f);
	if (f->fiber_slice != TIMELINE_NONE)
		replay_close(r, f->fiber_slice);
	if (f->kind == SLICE_TASK)
		r->time->tasks[f->task].end = r->now;
}

void fiber_frame(struct replay *r, struct fiber *x)
{
	if (!x->frame_count)
		fiber_push(
			r, x, SLICE_TASK,
			names_put(&r->file->names,
				  x->number ? "(began earlier)" : "(thread)"));
}

void fiber_run(struct replay *r, struct fiber *x)
{
	struct ring *ring = &r->rings[x->ring];
	uint32_t     depth;

	if (x->is_running)
		return;
	/* The threads of a ring without a track run concurrently. */
	if (ring->track != TIMELINE_NONE && ring->running)
		fiber_stop(r, ring->running);
	ring->running = x;
	x->is_running = true;
	x->since = r->now;
	list(r, x);
	for (depth = 0; depth < x->frame_count && depth < TIMELINE_DEPTH;
	     depth++)
		open_on_worker(r, x, depth);
}

void fiber_stop(struct replay *r, struct fiber *x)
{
	uint32_t depth = x->frame_count;

	if (!x->is_running)
		return;
	fiber_account(r, x);
	if (depth > TIMELINE_DEPTH)
		depth = TIMELINE_DEPTH;
	while (depth--)
		close_on_worker(r, &x->frames[depth]);
	x->is_running = false;
	if (r->rings[x->ring].running == x)
		r->rings[x->ring].running = NULL;
}

uint32_t fiber_show(struct replay *r, struct fiber *x)
{
	struct timeline *t = r->time;
	uint32_t         depth, slice = TIMELINE_NONE;

	for (depth = 0; depth < x->frame_count && depth < TIMELINE_DEPTH;
	     depth++) {
		struct frame *f = &x->frames[depth];

		if (f->fiber_slice == TIMELINE_NONE) {
			f->fiber_slice = ARRAY_ADD(t->slices, t->slice_count);
			t->slices[f->fiber_slice] =
				(struct slice){ .begin = f->begin,
						.opened = f->edge,
						.track = own_track(r, x),
						.name = f->name,
						.plain = f->plain,
						.outer = slice,
						.kind = f->kind };
		}
		slice = f->fiber_slice;
	}
	return slice;
}

static void rename_frame(struct timeline *t, struct frame *f, uint32_t name)
{
	f->name = name;
	if (f->worker_slice != TIMELINE_NONE)
		t->slices[f->worker_slice].name = name;
	if (f->fiber_slice != TIMELINE_NONE)
		t->slices[f->fiber_slice].name = name;
}

void fiber_set_name(struct replay *r, struct fiber *x, const char *name)
{
	struct frame    *f = fiber_top(x);
	struct timeline *t = r->time;
	struct names    *names = &r->file->names;
	char             text[4 * NAME_SIZE + 4096 + 8];

	if (!f || f->task == TIMELINE_NONE)
		return;
	snprintf(text, sizeof(text), "%s (%s)", name,
		 names->names[t->tasks[f->task].name]);
	rename_frame(t, &x->frames[f->task_frame], names_put(names, text));
}

void fiber_rename(struct replay *r, struct fiber *x, const struct file_event *e)
{
	struct frame *f = fiber_top(x);
	struct names *names = &r->file->names;
	uint32_t      name;

	if (!f || f->task == TIMELINE_NONE || e->detail % NAME_PIECE ||
	    e->detail + NAME_PIECE >= NAME_SIZE)
		return;
	if (!x->name)
		x->name = array_zeros(NAME_SIZE, 1);
	memset(x->name + e->detail, 0, (size_t)NAME_SIZE - e->detail);
	memcpy(x->name + e->detail, &e->a, sizeof(e->a));
	memcpy(x->name + e->detail + sizeof(e->a), &e->b, sizeof(e->b));
	name = names_add(names, x->name, NAME_SIZE); /* may move the names */
	fiber_set_name(r, x, names->names[name]);
}
