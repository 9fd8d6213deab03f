/* SPDX-License-Identifier: Apache-2.0 */
/* members.h - opens a group and spawns members; both must succeed. */
#ifndef SN_TEST_MEMBERS_H
#define SN_TEST_MEMBERS_H

#include "with_workers.h"

static inline void open_on(struct world *w, sennit_group *g, uint32_t flags)
{
	sennit_group_init_on(g, w->s, SENNIT_NEVER, flags);
}

static inline void must_spawn(sennit_group *g, sennit_member_fn *run,
			      void *argument)
{
	EXPECT(sennit_group_spawn(g, run, argument) == 0);
}

#endif
