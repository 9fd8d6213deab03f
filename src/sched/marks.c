/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/marks.h"

#include "sched/local.h"

/* The name last: destructors of local values belong to the task. */
void sn_marks_end(struct sennit_fiber *f)
{
	if (f->marks & MARK_LOCALS)
		sn_local_end(f);
	if (f->marks & MARK_NAME)
		sn_nametag_write(&f->name, "");
	f->marks = 0;
}

void sn_marks_put_aside(struct worker *w, struct marks_aside *aside)
{
	struct sennit_fiber *f = &w->main;

	aside->marks = f->marks;
	f->marks = 0;
	sn_local_leave(w);
	if (aside->marks & MARK_NAME) {
		CHECK(sn_nametag_read(&f->name, aside->name),
		      "a name changed behind its owner's back");
		sn_nametag_write(&f->name, "");
	}
}

void sn_marks_take_back(struct worker *w, const struct marks_aside *aside)
{
	struct sennit_fiber *f = &w->main;

	f->marks = aside->marks;
	sn_local_enter(w);
	if (aside->marks & MARK_NAME)
		sn_nametag_write(&f->name, aside->name);
}
