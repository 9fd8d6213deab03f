/* SPDX-License-Identifier: Apache-2.0 */
/* group_join.h - the opener of a group waits until all members have ended. */
#ifndef SN_GROUP_JOIN_H
#define SN_GROUP_JOIN_H

#include "wait/wait.h"
#include "worker/group_member.h"

/* On the opener's thread, before it sleeps: whether all members have ended. */
static inline bool sn_group_is_over(const sennit_group *g)
{
	/* <- group.end */
	return !(a_load_acq(&g->others_) + g->here_ * GROUP_ONE);
}

/* Sleep until all members have ended. */
void sn_group_sleep(sennit_group *g);

#endif
