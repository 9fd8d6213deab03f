/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - lock within some time, and share a mutex. */
#include "calls.h"

static sennit_mutex lock;

static int try_to_lock(void *unused)
{
	(void)unused;
	return sennit_mutex_lock_until(&lock, sennit_after(SENNIT_MILLISECOND));
}

static void show(sennit_scheduler *s)
{
	sennit_group g;

	(void)s;
	sennit_mutex_init(&lock); /* or all bytes zero */
	CHECK(sennit_mutex_try_lock(&lock));
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	CHECK(sennit_group_spawn(&g, try_to_lock, NULL) == 0);
	CHECK(sennit_group_wait(&g) == -ETIMEDOUT); /* it is held here */
	sennit_mutex_unlock(&lock);
	sennit_mutex_destroy(&lock);
}

int main(void)
{
	return run(show);
}
