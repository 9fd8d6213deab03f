/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/group_member.h"

#include <errno.h>

/* --- errors ------------------------------------------------------------- */

void sn_group_keep_error(sennit_group *g, int error)
{
	uint32_t kept = 0;

	/* group.end makes it visible. */
	while (!a_cas_rlx(&g->error_, &kept, (uint32_t)error))
		if ((int)kept != -ECANCELED || error == -ECANCELED)
			return;
}

void sn_group_fail(sennit_group *g, int error)
{
	MISUSE(error > 0, "sennit_group_spawn",
	       "a member returned neither 0 nor a negative error");
	sn_group_keep_error(g, error);
	/* A stale value is harmless: sn_wake_cancelled checks again. */
	if (!(g->flags_ & SENNIT_GROUP_KEEP_GOING) &&
	    !a_load_rlx(&g->scope_.cancelled_))
		sn_wake_cancelled(&g->scope_);
}

/* --- the end ------------------------------------------------------------ */

void sn_group_end_elsewhere(sennit_group *g)
{
	/* -> group.end: what the member did <- group.end: what others did, and
	 * the opener's record */
	uint32_t old = a_sub_acqrel(&g->others_, GROUP_ONE);

	TORTURE_POINT(); /* the group may be gone, except in this case: */
	if (old == (GROUP_ONE | GROUP_WAITED))
		sn_wake(g->waiter_);
}
