/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - the permits of a semaphore, also of a shared one. */
#include "calls.h"

static void show(sennit_scheduler *s)
{
	sennit_semaphore  own;
	sennit_semaphore *shared;

	(void)s;
	sennit_semaphore_init(&own, 2);
	CHECK(!sennit_semaphore_take(&own, 2));
	CHECK(sennit_semaphore_count(&own) == 0);
	sennit_semaphore_give(&own, 1);
	CHECK(sennit_semaphore_count(&own) == 1);
	sennit_semaphore_destroy(&own);

	/* Each user holds a reference, which is no permit. */
	CHECK(sennit_semaphore_create(&shared, 3, NULL) == 0);
	CHECK(sennit_semaphore_retain(shared) == shared);
	sennit_semaphore_release(shared);
	CHECK(sennit_semaphore_count(shared) == 3);
	sennit_semaphore_release(shared);
}

int main(void)
{
	return run(show);
}
