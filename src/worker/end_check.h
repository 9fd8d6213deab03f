/* SPDX-License-Identifier: Apache-2.0 */
/* end_check.h - whether a scheduler has ended, after the gate has said that it
 * may have. Builds with SENNIT_END=count have src/end/count/worker/end_check.c
 * instead of the code here.
 */
#ifndef SN_END_CHECK_H
#define SN_END_CHECK_H

#include "worker/scheduler.h"

/* The caller was told by the gate to end the scheduler. Returns whether it has
 * ended; the caller must then wake all that wait for it. Called by a thread
 * that counts as inside. */
bool sn_end_check(sennit_scheduler *s);

/* Whether a worker is active, that is, not asleep for want of work. A hint. */
bool sn_end_check_sees_active(sennit_scheduler *s);

#endif
