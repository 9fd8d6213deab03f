/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - what ends with a task besides itself.
 *
 * Tasks that have something of the kind are marked, by the fiber they run on;
 * the loop looks at one word after each task, and comes here if it is not 0.
 */
#ifndef SN_MARKS_H
#define SN_MARKS_H

#include "sched/worker.h"

/* The task of f, which runs, has returned with marks: end what they say. May
 * wait. */
COLD void sn_marks_end(struct sennit_fiber *f);

/* What a stack has of its own while another task runs on it. */
struct marks_aside {
	uint32_t       marks;
	struct locals *locals;
	char           name[SENNIT_NAME_SIZE];
};

/* Whether there is anything to put aside. */
static inline bool sn_marks_has_any(const struct sennit_fiber *f)
{
	return f->marks || f->locals;
}

/* On f, which runs, another task is about to run, and has run. */
COLD void sn_marks_put_aside(struct sennit_fiber *f, struct marks_aside *aside);
COLD void sn_marks_take_back(struct sennit_fiber      *f,
			     const struct marks_aside *aside);

#endif
