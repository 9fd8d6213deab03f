/* SPDX-License-Identifier: Apache-2.0 */
/* group_join.h - lets the opener of a group wait until all members have
 * ended. */
#ifndef SN_GROUP_JOIN_H
#define SN_GROUP_JOIN_H

#include "wait/wait.h"
#include "worker/group_member.h"

/* Whether all members have ended. Call this on the opener's thread, before it
 * sleeps. */
static inline bool sn_group_is_over(const sennit_group *g)
{
	/* <- group.end */
	return !(a_load_acq(&g->others_) + g->here_ * GROUP_ONE);
}

/* Sleep until all members have ended. */
void sn_group_sleep(sennit_group *g);

#endif
