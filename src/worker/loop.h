/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - decides what a worker does next: resume a fiber, start a task, or
 * idle. */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "worker/worker.h"

/* Suspend the running fiber until it is made ready; others run meanwhile. errno
 * keeps its value. */
void sn_loop_suspend(struct worker *w);

/* Let other fibers, and sometimes a task, run first. */
void sn_loop_yield(struct worker *w);

/* Run w's tasks and fibers until nothing is left, from the thread's own
 * stack. */
void sn_loop_run_dry(struct worker *w);

/* The main function of a worker's thread between entering and leaving: it stays
 * on the thread's own stack until there is work, then switches to stacks of the
 * pool. */
void sn_loop_run(struct worker *w);

#endif
