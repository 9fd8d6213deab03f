/* SPDX-License-Identifier: Apache-2.0 */
/* deadlines.h - ends the waits of a worker's own fibers whose deadline has
 * passed. */
#ifndef SN_DEADLINES_H
#define SN_DEADLINES_H

#include "sched/state.h"

/* Fire the timers that are due: their fibers become ready. Returns whether any
 * did. */
bool sn_deadlines_fire(struct worker *w, sennit_time now);

#endif
