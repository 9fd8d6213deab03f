/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - wait for a condition, with a deadline, and by a shared object. */
#include "calls.h"

static sennit_mutex lock;
static sennit_cond  changed;
static unsigned     fuel;

static bool is_full(void *limit)
{
	return fuel >= *(const unsigned *)limit;
}

static int fill(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&lock);
	fuel = 100;
	sennit_cond_notify_all(&changed);
	sennit_mutex_unlock(&lock);
	return 0;
}

static void wait_for_fuel(void)
{
	unsigned     limit = 100;
	sennit_group g;

	sennit_cond_init(&changed);
	sennit_mutex_lock(&lock);
	CHECK(sennit_cond_wait_until(&changed, &lock,
				     sennit_after(SENNIT_MILLISECOND)) ==
	      -ETIMEDOUT);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, fill, NULL) == 0);
	CHECK(!sennit_cond_wait_until_true(&changed, &lock, is_full, &limit,
					   soon()));
	sennit_mutex_unlock(&lock);
	CHECK(sennit_group_wait(&g) == 0);
	sennit_cond_destroy(&changed);
}

static void show(sennit_scheduler *s)
{
	(void)s;
	wait_for_fuel();
}

int main(void)
{
	return run(show);
}
