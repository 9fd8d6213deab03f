/* SPDX-License-Identifier: Apache-2.0 */
/* fork_room.h - whether the macros of fork_join.h push onto the caller's deque
 * themselves, without a fence. */
#ifndef SN_TEST_FORK_ROOM_H
#define SN_TEST_FORK_ROOM_H

#include "sennit/fork_join.h"

static inline bool macros_have_room(void)
{
	struct sennit_here_ me;
	const uint64_t      at = sennit_fork_begin_(&me, SENNIT_FORK_VERSION_);

	return (int32_t)((uint32_t)at - me.deque->limit) < 0;
}

#endif
