/* SPDX-License-Identifier: Apache-2.0 */
/* by_seed.c - tests code of your own in many orders, each repeated by its
 * seed. */
#include <sennit.h>
#include <sennit/deterministic.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the code under test ------------------------------------------------ */

struct account {
	sennit_mutex lock;
	int          balance;
};

static void pay_in(struct account *a, int amount)
{
	int before;

	sennit_mutex_lock(&a->lock);
	before = a->balance;
	/* Another may run here; without the lock it is wrong. */
	sennit_explore_point();
	a->balance = before + amount;
	sennit_mutex_unlock(&a->lock);
}

/* --- the test ----------------------------------------------------------- */

static int customer(void *account)
{
	pay_in(account, 1);
	pay_in(account, 2);
	return 0;
}

static void scenario(void *unused)
{
	struct account    a = { .balance = 0 };
	sennit_scheduler *s;
	sennit_group      g;
	int               err = 0;

	(void)unused;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		abort();
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 3 && !err; i++)
		err = sennit_group_spawn(&g, customer, &a);
	if (sennit_group_wait(&g) || err || a.balance != 9)
		abort(); /* prints the seed, in a deterministic build */
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		abort();
}

int main(void)
{
	int err = sennit_explore(1, 100, scenario, NULL);

	if (err == -ENOSYS) { /* an ordinary build: one run, in some order */
		scenario(NULL);
		err = 0;
	}
	if (!err)
		printf("the balance is right in all orders that were tried\n");
	return err ? 1 : 0;
}
