/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - add, done, wait. */
#include "testing/with_workers.h"

#include <errno.h>

TEST_IN_EACH_PLACE(it_counts)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	sennit_wait_group_wait(&g); /* returns at once */
	EXPECT(sennit_wait_group_wait_until(&g, 0) == 0);
	sennit_wait_group_add(&g, 3);
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_done(&g));
	sennit_wait_group_wait(&g);
	sennit_wait_group_add(&g, 1); /* reused */
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_done(&g));
	sennit_wait_group_wait(&g);
	sennit_wait_group_destroy(&g);
}

TEST_IN_EACH_PLACE(it_counts_up_to_its_maximum)
{
	sennit_wait_group g;

	sennit_wait_group_init(&g, SENNIT_WAIT_GROUP_MAX - 1);
	sennit_wait_group_add(&g, 1);
	sennit_wait_group_add(&g, 0);
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(sennit_wait_group_wait_until(&g, 1) == -ETIMEDOUT);
}
