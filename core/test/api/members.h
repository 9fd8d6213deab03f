/* SPDX-License-Identifier: Apache-2.0 */
/* members.h - groups: openers and members. */
#ifndef SN_TEST_MEMBERS_H
#define SN_TEST_MEMBERS_H

#include "testing/with_workers.h"

/* --- members ----------------------------------------------------------- */

/* Opens a group and spawns members; both must succeed. */

static inline void open_on(struct world *w, sennit_group *g, uint32_t flags)
{
	sennit_group_init_on(g, w->s, SENNIT_NEVER, flags);
}

static inline void must_spawn(sennit_group *g, sennit_member_fn *run,
			      void *argument)
{
	EXPECT(sennit_group_spawn(g, run, argument) == 0);
}

/* --- group opener ------------------------------------------------------ */

/* A task that opens a group, whose members end at once. */

static inline int end_at_once(void *unused)
{
	return 0;
}

/* The argument points at the number of members, an int. */
static inline void open_a_group(void *members)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = *(int *)members; i; i--)
		EXPECT(!sennit_group_spawn(&g, end_at_once, NULL));
	EXPECT(!sennit_group_wait(&g));
}

#endif
