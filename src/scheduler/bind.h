/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h - binds threads of the program to a scheduler. */
#ifndef SN_BIND_H
#define SN_BIND_H

#include "worker/worker.h"

/* Give the calling thread, which is unbound, a worker of s. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_bind(sennit_scheduler *s);

/* Run all tasks of the calling thread's worker, then free the worker. *s may be
 * gone afterwards. */
void sn_unbind(struct worker *w);

#endif
