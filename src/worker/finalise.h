/* SPDX-License-Identifier: Apache-2.0 */
/* finalise.h - how a scheduler ends.
 *
 *	last one out of the gate --sweep--> work found: roll back
 *	                                 \-> nothing:   DONE, wake every worker
 *	workers exit one by one, leaving their threads to be joined
 *	last one inside leaves the rest to a client who waits, or does it: frees
 *	the scheduler, tells who wants to know, lets the other clients go
 *
 * `inside` counts the threads that may still touch the scheduler: its workers,
 * the blocking threads that make blocking calls, whoever sweeps from outside,
 * and one more until DONE.
 */
#ifndef SN_FINALISE_H
#define SN_FINALISE_H

#include "worker/scheduler.h"

/* The caller made both counts of the gate zero: look whether there is work, and
 * end the scheduler if there is none. *s may be gone on return, unless the
 * caller is inside. */
void sn_finalise_sweep(sennit_scheduler *s);

/* A worker's thread, which is out of the gate, leaves the scheduler for good;
 * or a blocking thread's. At any time. */
void sn_finalise_worker_exits(sennit_scheduler *s);

/* The same of one that is in the gate: it leaves that first. */
void sn_finalise_worker_leaves(sennit_scheduler *s);

/* Give a reference back. *s may be gone on return. */
void sn_finalise_release(sennit_scheduler *s);

/* Give a reference back and wait for the end; false: the deadline passed, and
 * the reference is the caller's again. */
bool sn_finalise_wait(sennit_scheduler *s, sennit_time deadline);

/* End a scheduler none of whose workers has run a task: told to exit, waited
 * for and freed. started: how many have threads. */
void sn_finalise_abandon(sennit_scheduler *s, uint32_t started);

/* Free all that *s owns, but not its own memory. */
void sn_finalise_clear(sennit_scheduler *s);

/* Free the memory of *s itself, unless a weak handle keeps it. */
void sn_finalise_free(sennit_scheduler *s);

/* One weak handle less, or the scheduler's own share: the last frees the block
 * of *s. */
void sn_finalise_drop(sennit_scheduler *s);

#endif
