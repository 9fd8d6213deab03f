/* SPDX-License-Identifier: Apache-2.0 */
/* group_member.h - counts the members of a group that have not ended.
 *
 *	here_    on the opener's thread: spawned - ended; plain
 *	others_  everywhere else: (spawned - ended) * GROUP_ONE + GROUP_WAITED
 *
 * Either may be negative, because a member that is spawned on one thread may
 * end on another. Their sum is the count. home_ is the opener's worker. When
 * the opener has to sleep, it clears home_, adds here_ to others_ and sets
 * GROUP_WAITED in the same step. From then on everything is counted in others_,
 * and the last member that ends wakes the opener.
 *
 * Invariants
 *   - A member is counted before it can end.
 *   - A member that has uncounted itself no longer accesses the group,
 *     unless it was the last and WAITED was set. Then the opener sleeps,
 *     and only this member wakes it.
 *
 * Checked by test/model/scope.pml.
 */
#ifndef SN_GROUP_MEMBER_H
#define SN_GROUP_MEMBER_H

#include "worker/wake.h"

#define GROUP_WAITED UINT32_C(1)
#define GROUP_ONE    UINT32_C(2)

/* Record an error of *g that a member returned, or that a spawn failed with,
 * unless a recorded error has priority. */
COLD void sn_group_keep_error(sennit_group *g, int error);

/* The same for the error of a member. It may cancel the other members. */
COLD void sn_group_fail(sennit_group *g, int error);

/* One member less, on any thread. */
void sn_group_end_elsewhere(sennit_group *g);

/* The value of home_ when no worker may use here_. */
static inline void *sn_group_no_home(sennit_group *g)
{
	return g;
}

/* Whether members on w, the caller's worker, are counted without atomics. Only
 * the thread of home_ changes home_, so a worker that sees itself there is
 * right. */
static inline bool sn_group_is_home(const sennit_group  *g,
				    const struct worker *w)
{
	return a_load_rlx(&g->home_) == w;
}

/* A member has ended with `error` on w, the caller's worker. */
static inline void sn_group_end(sennit_group *g, struct worker *w, int error)
{
	if (unlikely(error))
		sn_group_fail(g, error);
	if (likely(sn_group_is_home(g, w)))
		g->here_--;
	else
		sn_group_end_elsewhere(g);
}

#endif
