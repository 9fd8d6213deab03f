/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - what a worker does with nothing to do: spin, then park.
 *
 *	search --found--> work
 *	   |  ^
 *	   v  | woken, or work appeared at the last look
 *	announce, look again, leave the gate, sleep, enter the gate
 *
 * With a budget of CPUs (slots.h) a worker gives its slot after it has left the
 * gate, and has one again before it enters.
 *
 * The first sleep of an idle worker lasts FIRST_NAP at most: a worker's push
 * onto its own deque has no fence, so the last look may have missed it. The
 * process barrier after the nap makes it visible; then sleep has no end but a
 * wake-up or a deadline.
 */
#ifndef SN_IDLE_H
#define SN_IDLE_H

#include "worker/worker.h"

/* Wait until w has a fiber to resume or a task to start; may return without.
 * False: the scheduler has ended, or w is closed and has nothing left to do:
 * the worker's thread shall leave. */
SENNIT_MUST_USE bool sn_idle(struct worker *w);

/* Wait until w has a fiber to resume or the time has come, whatever tasks there
 * are: for bound threads, whose tasks can only come from themselves, and for
 * workers that cannot get a stack to run one on. */
void sn_idle_for_fiber(struct worker *w, sennit_time until);

#endif
