/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - the owner of a mutex, for calls that unlock it during their
 * wait. */
#ifndef SN_MUTEX_H
#define SN_MUTEX_H

#include "wait/wait.h"
#include "sennit/mutex.h"

/* Whether the caller holds *m. Only the holder writes owner_, so a stale value
 * never equals the caller. */
static inline bool sn_mutex_is_held(const sennit_mutex *m)
{
	return a_load_rlx(&m->owner_) == sn_wait_identity();
}

#endif
