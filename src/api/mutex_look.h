/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_look.h - finds out whether a mutex is free without disturbing the
 * worker that uses it. */
#ifndef SN_MUTEX_LOOK_H
#define SN_MUTEX_LOOK_H

#include "worker/worker.h"
#include "sennit/mutex.h"

/* Take the lock if it is free and the queue is not locked. */
bool sn_mutex_barge(sennit_mutex *m);

/* Look several times, and take the lock if it is free and stays free. */
bool sn_mutex_look(sennit_mutex *m);

/* The same for a guard: repeat for GUARD_NS, until the deadline, or until the
 * worker has other work. */
bool sn_mutex_look_long(sennit_mutex *m, sennit_time deadline);

/* Whether the calling worker has other work. */
bool sn_mutex_is_busy(void);

#endif
