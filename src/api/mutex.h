/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - who holds a mutex, for calls that give it back on the way. */
#ifndef SN_MUTEX_H
#define SN_MUTEX_H

#include "wait/wait.h"
#include "sennit/mutex.h"

/* Whether the caller holds *m. The holder alone writes owner_, so a stale value
 * is not the caller's. */
static inline bool sn_mutex_is_held(const sennit_mutex *m)
{
	return a_load_rlx(&m->owner_) == sn_wait_identity();
}

#endif
