/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - counts the members of a group that have not ended.
 *
 *	here_    on the opener's thread: spawned - ended; plain
 *	others_  everywhere else: (spawned - ended) * ONE + WAITED
 *
 * Either may be below zero, for a member that is spawned on one thread may end
 * on another; their sum is the count. home_ is the opener's worker; when the
 * opener has to sleep it clears that, moves here_ to others_ and sets WAITED in
 * the same step; from then on all is counted there, and whoever takes the last
 * one wakes it.
 *
 * Invariants
 *   - A member is counted before it can end.
 *   - Who has taken its own one from the count touches the group no more,
 *     unless it was the last with WAITED set: then the opener sleeps, and only
 *     this one wakes it.
 *
 * Checked by test/model/scope.pml.
 */
#ifndef SN_GROUP_MEMBER_H
#define SN_GROUP_MEMBER_H

#include "worker/wake.h"

#define GROUP_WAITED UINT32_C(1)
#define GROUP_ONE    UINT32_C(2)

/* A member of *g has returned an error, or could not be spawned for it: keep it
 * unless there is one that goes before. */
COLD void sn_group_keep_error(sennit_group *g, int error);

/* The same for what a member has returned, which may cancel the others. */
COLD void sn_group_fail(sennit_group *g, int error);

/* One less, wherever the caller is. */
void sn_group_end_elsewhere(sennit_group *g);

/* home_ of a group that has no worker to count on: nobody is there. */
static inline void *sn_group_no_home(sennit_group *g)
{
	return g;
}

/* Whether what is counted on w, the caller's, needs no atomic. Only the thread
 * of home_ changes it, so whoever sees itself there is right. */
static inline bool sn_group_is_home(const sennit_group  *g,
				    const struct worker *w)
{
	return a_load_rlx(&g->home_) == w;
}

/* A member has ended on w, the caller's, with that error. */
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
