/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_pool.c - misuse of pools. */
#include "testing/misuse.h"

static sennit_pool pool, other;
static char       *item;

static void init_and_borrow(sennit_pool *p, const sennit_pool_config *c)
{
	void *place;

	if (sennit_pool_init(p, c) || sennit_pool_borrow(p, &place))
		_exit(4);
	item = place;
}

/* A pool of `count` items, or unbounded, with one item borrowed. */
static void borrow_from(sennit_pool *p, size_t count)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = 24,
				       .count = count };

	init_and_borrow(p, &c);
}

static void return_twice(void)
{
	sennit_pool_return(&pool, item);
	sennit_pool_return(&pool, item);
}

static void count_destroyed(void *context, void *unused)
{
	static unsigned destroyed;

	if (++destroyed == 2)
		_exit(5); /* it is too late to detect it */
}

static const sennit_pool_config with_hook = {
	.size = sizeof(with_hook),
	.item_size = 1,
	.policy = SENNIT_POOL_RECONSTRUCT,
	.destroy = count_destroyed,
};

static void task_borrows(void *unused)
{
	void *place;

	(void)!sennit_pool_borrow(&pool, &place);
}

MISUSE_BY(an_item_returned_twice, "sennit_pool_return", borrow_from(&pool, 4),
	  return_twice());
MISUSE_BY(an_item_returned_twice_is_destroyed_once, "sennit_pool_return",
	  init_and_borrow(&pool, &with_hook), return_twice());
MISUSE_BY(nothing_returned, "sennit_pool_return", borrow_from(&pool, 4),
	  sennit_pool_return(&pool, NULL));
MISUSE_BY(the_middle_of_an_item_returned, "sennit_pool_return",
	  borrow_from(&pool, 4), sennit_pool_return(&pool, item + 8));
MISUSE_BY(the_next_item_returned_that_was_never_lent, "sennit_pool_return",
	  borrow_from(&pool, 4), sennit_pool_return(&pool, item + 32));
MISUSE_BY(an_item_returned_to_another_pool, "sennit_pool_return",
	  borrow_from(&other, 0), borrow_from(&pool, 0),
	  sennit_pool_return(&other, item));
MISUSE_BY(destroying_a_pool_with_an_item_on_loan, "sennit_pool_destroy",
	  borrow_from(&pool, 4), sennit_pool_destroy(&pool));
MISUSE_BY(destroying_a_pool_that_is_waited_for, "sennit_pool_destroy",
	  borrow_from(&pool, 1), let_wait(o, task_borrows, NULL),
	  sennit_pool_destroy(&pool));
