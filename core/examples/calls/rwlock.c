/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - readers and writers that do not wait for ever. */
#include "calls.h"

static sennit_rwlock lock;

static int try_both(void *unused)
{
	int err = sennit_rwlock_lock_shared_until(&lock, soon());

	(void)unused;
	if (err)
		return err; /* another reader holds it, so this cannot be */
	sennit_rwlock_unlock_shared(&lock);
	return sennit_rwlock_lock_until(&lock,
					sennit_after(SENNIT_MILLISECOND));
}

static void show(sennit_scheduler *s)
{
	sennit_group g;

	(void)s;
	sennit_rwlock_init(&lock); /* or all bytes zero */
	sennit_rwlock_lock_shared(&lock);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, try_both, NULL) == 0);
	CHECK(sennit_group_wait(&g) == -ETIMEDOUT); /* as a writer */
	CHECK(!sennit_rwlock_try_lock(&lock));
	CHECK(sennit_rwlock_try_lock_shared(&lock));
	sennit_rwlock_unlock_shared(&lock);
	sennit_rwlock_unlock_shared(&lock);
	sennit_rwlock_destroy(&lock);
}

int main(void)
{
	return run(show);
}
