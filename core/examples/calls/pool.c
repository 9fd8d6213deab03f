/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - a pool of two buffers. */
#include "calls.h"

static sennit_pool buffers;

static int use(void *unused)
{
	void *buffer;
	int   err = sennit_pool_borrow(&buffers, &buffer); /* may wait */

	(void)unused;
	if (err)
		return err;
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_pool_return(&buffers, buffer);
	return 0;
}

static void show(sennit_scheduler *s)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = 4096,
				       .count = 2 };
	sennit_group             g;

	(void)s;
	CHECK(sennit_pool_init(&buffers, &c) == 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 5; i++)
		CHECK(sennit_group_spawn(&g, use, NULL) == 0);
	CHECK(sennit_group_wait(&g) == 0);
	sennit_pool_destroy(&buffers);
}

int main(void)
{
	return run(show);
}
