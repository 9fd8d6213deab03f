/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_pool.c - misuse of pools. */
#include "misuse.h"

struct place {
	char bytes[24];
};

static sennit_pool pool, other;

/* A pool of `count` items, or unbounded, with one item borrowed. */
static struct place *borrow_from(sennit_pool *p, size_t count, uint32_t policy)
{
	const sennit_pool_config c = { .item_size = sizeof(struct place),
				       .count = count,
				       .policy = policy,
				       .destroy = NULL };
	void                    *item;

	if (sennit_pool_init(p, &c) || sennit_pool_borrow(p, &item))
		_exit(4);
	return item;
}

static void commit_return_twice(const struct offence *o)
{
	struct place *item = borrow_from(&pool, 4, SENNIT_POOL_PRESERVE);

	(void)o;
	sennit_pool_return(&pool, item);
	sennit_pool_return(&pool, item);
}

TEST_WITH_COUNTS(an_item_returned_twice)
{
	assert_misuse(w, "sennit_pool_return", commit_return_twice);
}

static unsigned destroyed;

static void count_destroyed(void *context, void *item)
{
	(void)context;
	(void)item;
	if (++destroyed == 2)
		_exit(5); /* it is too late to detect it */
}

static void commit_return_twice_with_hook(const struct offence *o)
{
	const sennit_pool_config c = { .item_size = 1,
				       .policy = SENNIT_POOL_RECONSTRUCT,
				       .destroy = count_destroyed };
	void                    *item;

	(void)o;
	if (sennit_pool_init(&pool, &c) || sennit_pool_borrow(&pool, &item))
		_exit(4);
	sennit_pool_return(&pool, item);
	sennit_pool_return(&pool, item);
}

TEST_WITH_COUNTS(an_item_returned_twice_is_destroyed_once)
{
	assert_misuse(w, "sennit_pool_return", commit_return_twice_with_hook);
}

static void commit_return_null(const struct offence *o)
{
	(void)o;
	borrow_from(&pool, 4, SENNIT_POOL_PRESERVE);
	sennit_pool_return(&pool, NULL);
}

TEST_WITH_COUNTS(nothing_returned)
{
	assert_misuse(w, "sennit_pool_return", commit_return_null);
}

static void commit_return_inside(const struct offence *o)
{
	struct place *item = borrow_from(&pool, 4, SENNIT_POOL_PRESERVE);

	(void)o;
	sennit_pool_return(&pool, &item->bytes[8]);
}

TEST_WITH_COUNTS(the_middle_of_an_item_returned)
{
	assert_misuse(w, "sennit_pool_return", commit_return_inside);
}

static void commit_return_never_lent(const struct offence *o)
{
	char *item = (char *)borrow_from(&pool, 4, SENNIT_POOL_PRESERVE);

	(void)o;
	sennit_pool_return(&pool, item + 32); /* the next item */
}

TEST_WITH_COUNTS(an_item_returned_that_was_never_lent)
{
	assert_misuse(w, "sennit_pool_return", commit_return_never_lent);
}

static void commit_return_to_another(const struct offence *o)
{
	struct place *item = borrow_from(&pool, 0, SENNIT_POOL_PRESERVE);

	(void)o;
	borrow_from(&other, 0, SENNIT_POOL_PRESERVE);
	sennit_pool_return(&other, item);
}

TEST_WITH_COUNTS(an_item_returned_to_another_pool)
{
	assert_misuse(w, "sennit_pool_return", commit_return_to_another);
}

static void commit_destroy_with_loan(const struct offence *o)
{
	(void)o;
	borrow_from(&pool, 4, SENNIT_POOL_PRESERVE);
	sennit_pool_destroy(&pool);
}

TEST_WITH_COUNTS(destroying_a_pool_with_an_item_on_loan)
{
	assert_misuse(w, "sennit_pool_destroy", commit_destroy_with_loan);
}

static void task_borrows(void *argument)
{
	void *item;

	(void)!sennit_pool_borrow(argument, &item);
}

static void commit_destroy_waited_for(const struct offence *o)
{
	borrow_from(&pool, 1, SENNIT_POOL_PRESERVE);
	must_schedule(task_borrows, &pool);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_pool_destroy(&pool);
}

TEST_WITH_COUNTS(destroying_a_pool_that_is_waited_for)
{
	assert_misuse(w, "sennit_pool_destroy", commit_destroy_waited_for);
}
