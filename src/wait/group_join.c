/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/group_join.h"

#include <errno.h>

/* --- errors ------------------------------------------------------------- */

void sn_group_keep_error(sennit_group *g, int error)
{
	uint32_t kept = 0;

	/* Shown by group.end. */
	while (!a_cas_rlx(&g->error_, &kept, (uint32_t)error))
		if ((int)kept != -ECANCELED || error == -ECANCELED)
			return;
}

void sn_group_fail(sennit_group *g, int error)
{
	MISUSE(error > 0, "sennit_group_spawn",
	       "a member returned neither 0 nor a negative error");
	sn_group_keep_error(g, error);
	/* Stale: sn_wait_cancel looks again. */
	if (!(g->flags_ & SENNIT_GROUP_KEEP_GOING) &&
	    !a_load_rlx(&g->scope_.cancelled_))
		sn_wait_cancel(&g->scope_);
}

/* --- the end ------------------------------------------------------------ */

void sn_group_end_elsewhere(sennit_group *g)
{
	/* -> group.end: what the member did <- group.end: the others, and the
	 * opener's record */
	uint32_t old = a_sub_acqrel(&g->others_, GROUP_ONE);

	TORTURE_POINT(); /* the group may be gone, unless: */
	if (old == (GROUP_ONE | GROUP_WAITED))
		sn_wait_wake(g->waiter_);
}

void sn_loop_member_ended(struct worker *w, sennit_group *g, int error)
{
	sn_group_end(g, w, error);
}

void sn_group_sleep(sennit_group *g)
{
	uint32_t      here = g->here_ * GROUP_ONE;
	struct waiter n;

	sn_waiter_init(&n, SN_UNCANCELLED);
	sn_wait_show(&n, SENNIT_WAITS_FOR_GROUP, g, g->scope_.deadline_);
	g->waiter_ = &n;
	g->here_ = 0;
	a_store_rlx(&g->home_, sn_group_no_home(g)); /* our thread's to see */
	TORTURE_POINT();
	/* -> group.end: the record <- group.end: what members did */
	if (a_add_acqrel(&g->others_, here + GROUP_WAITED) + here)
		(void)!sn_wait(&n, SN_UNCANCELLED);
	else if (n.fiber)
		sn_fiber_state_run(&n.fiber->state);
}
