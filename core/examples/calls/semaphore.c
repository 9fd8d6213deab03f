/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - the permits of a semaphore. */
#include "calls.h"

static void show(sennit_scheduler *s)
{
	sennit_semaphore own;

	(void)s;
	sennit_semaphore_init(&own, 2);
	CHECK(!sennit_semaphore_acquire(&own, 2));
	CHECK(sennit_semaphore_count(&own) == 0);
	sennit_semaphore_release(&own, 1);
	CHECK(sennit_semaphore_count(&own) == 1);
	CHECK(sennit_semaphore_try_acquire(&own, 1));
	sennit_semaphore_destroy(&own);
}

int main(void)
{
	return run(show);
}
