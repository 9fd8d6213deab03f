/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - what a worker does without work: it spins, then parks.
 *
 *	search --found--> work
 *	   |  ^
 *	   v  | woken, or work appeared at the last look
 *	announce, look again, leave the gate, sleep, enter the gate
 *
 * With a CPU budget (slots.h) a worker gives its slot back after it has left
 * the gate, and takes one before it enters the gate again.
 *
 * The first sleep of an idle worker lasts at most FIRST_NAP, because a worker's
 * push onto its own deque has no fence, so the last look may have missed it.
 * The process barrier after that sleep makes such pushes visible. Later sleeps
 * end only by a wake or a deadline.
 */
#ifndef SN_IDLE_H
#define SN_IDLE_H

#include "worker/worker.h"

/* Wait until w has a fiber to resume or a task to start. May return spuriously.
 * Returns false if the worker's thread must leave: the scheduler has ended, or
 * w is draining and has nothing left to do. */
SENNIT_MUST_USE bool sn_idle(struct worker *w);

/* Wait until w has a fiber to resume, or until the time `until`, even if there
 * are tasks. For bound threads, whose tasks can only come from themselves, and
 * for workers that cannot get a stack for a task. */
void sn_idle_for_fiber(struct worker *w, sennit_time until);

#endif
