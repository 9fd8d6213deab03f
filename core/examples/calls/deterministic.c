/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.c - a test that marks where it could be disturbed, and leaves a
 * choice to the seed. In an ordinary library the marks do nothing.
 */
#include "calls.h"
#include "sennit/deterministic.h"

static sennit_mutex lock;
static unsigned     balance;

static int pay_in(void *unused)
{
	unsigned seen;

	(void)unused;
	sennit_mutex_lock(&lock);
	seen = balance;
	/* Without the mutex another thread could come here. */
	sennit_explore_point();
	balance = seen + 1;
	sennit_mutex_unlock(&lock);
	return 0;
}

static void show(sennit_scheduler *s)
{
	const uint32_t tasks = 2 + sennit_explore_choose(3);
	const uint32_t word = 1;
	sennit_group   g;

	(void)s;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uint32_t i = 0; i < tasks; i++)
		CHECK(sennit_group_spawn(&g, pay_in, NULL) == 0);
	CHECK(sennit_group_wait(&g) == 0);
	CHECK(balance == tasks);

	/* For authors of pollers: how the poller's thread sleeps and is woken.
	 * It does not sleep here, because the word has changed already. */
	CHECK(sennit_explore_sleep(&word, 0, SENNIT_NEVER));
	sennit_explore_wake(&word);
	printf("%s\n", sennit_explore_is_possible() ? "SENNIT_SEED repeats this"
						    : "an ordinary library");
}

int main(void)
{
	return run(show);
}
