/* SPDX-License-Identifier: Apache-2.0 */
/* tie.h - notices a thread that exits with its worker still on it.
 *
 * A key of the thread's own holds its worker from before the thread is bound,
 * or a worker's initialiser runs, until it is unbound or its loop has ended.
 * The key's destructor runs only if that did not happen.
 */
#ifndef SN_TIE_H
#define SN_TIE_H

#include "sched/worker.h"

/* Make the key, once in the process. 0, or -EAGAIN or -ENOMEM of the system,
 * which stays its answer. */
SENNIT_MUST_USE int sn_tie_prepare(void);

/* The calling thread must not exit before sn_tie_undo. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_tie(struct worker *w);
void                sn_tie_undo(void);

#endif
