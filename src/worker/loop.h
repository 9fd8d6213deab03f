/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - what a worker does next: resume, start, or idle. */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "worker/worker.h"

/* Set the running fiber aside until it is made ready; others run meanwhile.
 * errno keeps its value. */
void sn_loop_suspend(struct worker *w);

/* Let other fibers, and now and then a task, run first. */
void sn_loop_yield(struct worker *w);

/* Run w's tasks and fibers until nothing is left, from the thread's own
 * stack. */
void sn_loop_run_dry(struct worker *w);

/* The life of a worker's thread between entering and leaving: on the thread's
 * own stack until there is work, then on the pool's. */
void sn_loop_run(struct worker *w);

#endif
