/* SPDX-License-Identifier: Apache-2.0 */
/* in_turn.h - members of a group that wait for each other's locks, until the
 * group is cancelled. */
#ifndef SN_TEST_IN_TURN_H
#define SN_TEST_IN_TURN_H

#include "with_workers.h"

/* Lock *mine, say so, and lock *wanted when the other one holds it. */
static inline int lock_in_turn(sennit_mutex *mine, sennit_event *held,
			       sennit_event *other, sennit_mutex *wanted)
{
	int err;

	sennit_mutex_lock(mine);
	sennit_event_set(held);
	EXPECT(!sennit_event_wait_until(other, SENNIT_UNCANCELLED));
	err = sennit_mutex_lock_until(wanted, SENNIT_NEVER);
	if (!err)
		sennit_mutex_unlock(wanted);
	sennit_mutex_unlock(mine);
	return err;
}

#endif
