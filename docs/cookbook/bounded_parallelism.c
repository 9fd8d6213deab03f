/* SPDX-License-Identifier: Apache-2.0 */
/* bounded_parallelism.c - a thousand downloads, at most four at a time. */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>

enum { ITEMS = 1000, AT_ONCE = 4 };

static sennit_semaphore places;
static atomic_int       running, peak, done;

/* Stands for a request that waits for the network. */
static void request(void)
{
	int now = atomic_fetch_add(&running, 1) + 1;
	int seen = atomic_load(&peak);

	while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
		;
	sennit_yield();
	atomic_fetch_sub(&running, 1);
}

static int download(void *unused)
{
	(void)unused;
	request();
	atomic_fetch_add(&done, 1);
	sennit_semaphore_release(&places, 1); /* on each way out */
	return 0;
}

static int run(void)
{
	sennit_group g;
	int          err = 0, ended;

	sennit_semaphore_init(&places, AT_ONCE);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < ITEMS && !err; i++) {
		err = sennit_semaphore_acquire(&places, 1);
		err = err ? err : sennit_group_spawn(&g, download, NULL);
	}
	ended = sennit_group_wait(&g);
	return ended ? ended : err;
}

static int program(void *unused)
{
	int err;

	(void)unused;
	err = run();
	if (err)
		return 1;
	printf("%d done, never more than %d at once: %s\n", done, AT_ONCE,
	       peak <= AT_ONCE ? "yes" : "no");
	return done == ITEMS && peak <= AT_ONCE ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
