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

/* What a thread's own stack has while a task runs on it. */
struct marks_aside {
	uint32_t marks;
	char     name[SENNIT_NAME_SIZE];
};

/* A task is about to run on w's thread's own stack, and has run. */
void sn_marks_put_aside(struct worker *w, struct marks_aside *aside);
void sn_marks_take_back(struct worker *w, const struct marks_aside *aside);

#endif
