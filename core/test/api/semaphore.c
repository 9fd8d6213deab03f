/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - permits are counted. */
#include "testing/with_workers.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(it_counts)
{
	sennit_semaphore s = SENNIT_SEMAPHORE_INIT;

	EXPECT(sennit_semaphore_count(&s) == 0);
	EXPECT(sennit_semaphore_acquire_until(&s, 1, 0) == -ETIMEDOUT);
	EXPECT(sennit_semaphore_acquire_until(&s, 0, 0) == 0);
	sennit_semaphore_release(&s, 3);
	EXPECT(sennit_semaphore_count(&s) == 3);
	EXPECT(sennit_semaphore_acquire_until(&s, 4, 0) == -ETIMEDOUT);
	EXPECT(sennit_semaphore_count(&s) == 3); /* all or none */
	EXPECT(!sennit_semaphore_acquire(&s, 2));
	EXPECT(sennit_semaphore_acquire_until(&s, 1, 1) == 0);
	EXPECT(sennit_semaphore_acquire_until(&s, 1, 1) == -ETIMEDOUT);
	sennit_semaphore_release(&s, 0);
	EXPECT(sennit_semaphore_count(&s) == 0);
	sennit_semaphore_destroy(&s);
}

TEST_IN_EACH_PLACE(it_counts_up_to_its_maximum)
{
	const uint32_t   most = SENNIT_SEMAPHORE_MAX;
	sennit_semaphore s;

	sennit_semaphore_init(&s, most - 1);
	sennit_semaphore_release(&s, 1);
	EXPECT(sennit_semaphore_count(&s) == most);
	sennit_semaphore_release(&s, 0);
	EXPECT(sennit_semaphore_acquire_until(&s, most, SENNIT_NEVER) == 0);
	EXPECT(sennit_semaphore_acquire_until(&s, 1, 0) == -ETIMEDOUT);
	sennit_semaphore_release(&s, most);
	EXPECT(!sennit_semaphore_acquire(&s, 1));
	EXPECT(sennit_semaphore_count(&s) == most - 1);
}
