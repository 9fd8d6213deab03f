/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h - threads of the client's that take part in a scheduler. */
#ifndef SN_BIND_H
#define SN_BIND_H

#include "worker/worker.h"

/* Give the calling, unbound thread a worker of s. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_bind(sennit_scheduler *s);

/* Run the calling thread's worker dry and take it away. *s may be gone. */
void sn_unbind(struct worker *w);

#endif
