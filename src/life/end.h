/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the end of a scheduler.
 *
 *	last one out of the gate --sweep--> work found: roll back
 *	                                 \-> nothing:   DONE, wake every worker
 *	the worker threads exit one by one and are joined
 *	the last one inside leaves the rest to a waiting client, or does it:
 *	free the scheduler, call the notices, release the other clients
 *
 * `inside` counts the threads that may still access the scheduler: its workers,
 * the blocking threads, each sweeper from outside, and one more until DONE.
 */
#ifndef SN_END_H
#define SN_END_H

#include "sched/state.h"

/* The caller was told by the gate to end the scheduler: check for work, and end
 * it if there is none. *s may be gone on return, unless the caller counts as
 * inside. */
void sn_end_now(sennit_scheduler *s);

/* A worker's thread, which has left the gate, leaves the scheduler for good; or
 * a blocking thread does. At any time. */
void sn_end_thread_gone(sennit_scheduler *s);

/* The same for a thread that is in the gate: it leaves the gate first. */
void sn_end_thread_leaves_gate(sennit_scheduler *s);

/* Release a reference. *s may be gone on return. */
void sn_end_release(sennit_scheduler *s);

/* Release a reference and wait for the end. Returns false if the deadline
 * passed; the caller then has its reference back. */
bool sn_end_wait(sennit_scheduler *s, sennit_time deadline);

/* End a scheduler that has run no task: its threads exit and are joined, and it
 * is freed. `started` is the number of workers with threads. */
void sn_end_abandon(sennit_scheduler *s, uint32_t started);

/* Free everything that *s owns, except for its own memory. */
void sn_end_clear(sennit_scheduler *s);

/* Free the memory of *s itself, unless a weak handle keeps it. */
void sn_end_free(sennit_scheduler *s);

/* Drop a weak handle, or the scheduler's own keeper. The last one frees the
 * block of *s. */
void sn_end_drop(sennit_scheduler *s);

/* --- end check ------------------------------------------------------------ */

/* Whether a scheduler has ended, after the gate has said that it may have. */

/* The caller was told by the gate to end the scheduler. Returns whether it has
 * ended; the caller must then wake all that wait for it. Called by a thread
 * that counts as inside. */
bool sn_end_check(sennit_scheduler *s);

/* Whether a worker is active, that is, not asleep for want of work. A hint. */
bool sn_end_check_sees_active(sennit_scheduler *s);

#endif
