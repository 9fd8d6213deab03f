/* SPDX-License-Identifier: Apache-2.0 */
/* group_opener.h - a task that opens a group, whose members end at once. */
#ifndef SN_TEST_GROUP_OPENER_H
#define SN_TEST_GROUP_OPENER_H

#include "with_workers.h"

static inline int end_at_once(void *unused)
{
	(void)unused;
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
