/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/group_join.h"

void sn_group_sleep(sennit_group *g)
{
	uint32_t      here = g->here_ * GROUP_ONE;
	struct waiter n;

	sn_waiter_init(&n, SN_UNCANCELLED);
	sn_wait_show(&n, SENNIT_WAITS_FOR_GROUP, g, g->scope_.deadline_);
	g->waiter_ = &n;
	g->here_ = 0;
	a_store_rlx(&g->home_, sn_group_no_home(g)); /* relaxed: only this
						      * thread reads it */
	TORTURE_POINT();
	/* -> group.end: the record <- group.end: what members did */
	if (a_add_acqrel(&g->others_, here + GROUP_WAITED) + here)
		(void)!sn_wait(&n, SN_UNCANCELLED);
	else if (n.fiber)
		sn_fiber_state_run(&n.fiber->state);
}
