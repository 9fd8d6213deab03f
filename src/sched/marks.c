/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/marks.h"

#include "core/depths.h"
#include "sched/local.h"

/* Consumes what is shown, for a node of a DAG is no end of the task that it is
 * run by. */
static void measure(struct sennit_fiber *f)
{
	struct depths *d = sn_worker_of(f)->scheduler->depths;
	uintptr_t      task = (uintptr_t)sn_sight_shown(&f->sight);

	if (task)
		sn_depths_note(d, task, sn_fiber_depth(f));
	sn_sight_task(&f->sight, NULL);
}

/* The name last: destructors of local values belong to the task. */
void sn_marks_end(struct sennit_fiber *f)
{
	if (f->marks & MARK_LOCALS)
		sn_local_end(f);
	if (f->marks & MARK_NAME)
		sn_nametag_write(&f->name, "");
	if (f->marks & MARK_DEPTH)
		measure(f);
	f->marks &= MARK_DEPTH;
}

/* A thread's values stay where the child of a fork would look for them. */
static bool is_threads(const struct sennit_fiber *f)
{
	return f == &sn_worker_of(f)->main;
}

void sn_marks_put_aside(struct sennit_fiber *f, struct marks_aside *aside)
{
	aside->marks = f->marks;
	f->marks = 0;
	if (is_threads(f)) {
		sn_local_leave(sn_worker_of(f));
	} else {
		aside->locals = f->locals;
		f->locals = NULL;
	}
	if (aside->marks & MARK_NAME) {
		CHECK(sn_nametag_read(&f->name, aside->name),
		      "a name changed behind its owner's back");
		sn_nametag_write(&f->name, "");
	}
}

void sn_marks_take_back(struct sennit_fiber *f, const struct marks_aside *aside)
{
	f->marks = aside->marks;
	if (is_threads(f))
		sn_local_enter(sn_worker_of(f));
	else
		f->locals = aside->locals;
	if (aside->marks & MARK_NAME)
		sn_nametag_write(&f->name, aside->name);
}
