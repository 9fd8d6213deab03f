/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_look.h - finding out whether a mutex is free, without disturbing who
 * works with it. */
#ifndef SN_MUTEX_LOOK_H
#define SN_MUTEX_LOOK_H

#include "worker/worker.h"
#include "sennit/mutex.h"

/* The calling worker, as worker_ names it; 0: an unbound thread. */
static inline uint32_t sn_mutex_serial(void)
{
	return sn_self ? sn_self->serial : 0;
}

/* Take the lock if it is free and nobody changes the queue. */
bool sn_mutex_barge(sennit_mutex *m);

/* Look some times, and take the lock when it is free and stays so. */
bool sn_mutex_look(sennit_mutex *m);

/* The same as a guard: again and again for GUARD_NS, until the deadline, or
 * until the worker has something else to do. */
bool sn_mutex_look_long(sennit_mutex *m, sennit_time deadline);

/* Whether the calling worker has something else to do. */
bool sn_mutex_is_busy(void);

#endif
