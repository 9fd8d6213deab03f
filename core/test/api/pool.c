/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - bounded and unbounded pools, with and without hooks. */
#include "testing/with_workers.h"

#include <errno.h>

static void must_init(sennit_pool *p, const sennit_pool_config *config)
{
	EXPECT(sennit_pool_init(p, config) == 0);
}

static void must_init_numbers(sennit_pool *p, size_t count)
{
	must_init(p, &(const sennit_pool_config){
			     .size = sizeof(sennit_pool_config),
			     .item_size = sizeof(unsigned),
			     .count = count });
}

static void *must_borrow(sennit_pool *p)
{
	void *item = NULL;

	EXPECT(sennit_pool_borrow(p, &item) == 0);
	EXPECT(item != NULL);
	return item;
}

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(a_bounded_pool_lends_what_it_has_last_returned_first)
{
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);
	sennit_pool       p;
	void             *items[3], *none = &p;

	must_init_numbers(&p, 3);
	for (unsigned i = 0; i < 3; i++)
		EXPECT(sennit_pool_borrow_until(&p, &items[i], 0) == 0);
	EXPECT(items[0] != items[1] && items[1] != items[2]);
	EXPECT(items[0] != items[2]);
	EXPECT(sennit_pool_borrow_until(&p, &none, 0) == -ETIMEDOUT);
	EXPECT(sennit_pool_borrow_until(&p, &none, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_pool_borrow_until(&p, &none, 1) == -ETIMEDOUT); /* in the
								       * past */
	EXPECT(none == &p); /* unchanged */
	sennit_pool_return(&p, items[1]);
	EXPECT(sennit_pool_borrow_until(&p, &none, 1) == 0);
	EXPECT(none == items[1]);
	for (unsigned i = 0; i < 3; i++)
		sennit_pool_return(&p, items[i]);
	for (unsigned i = 3; i > 0; i--)
		EXPECT(must_borrow(&p) == items[i - 1]);
	for (unsigned i = 0; i < 3; i++)
		sennit_pool_return(&p, items[i]);
	sennit_pool_destroy(&p);
}

enum { PLENTY = 1000 };

TEST_IN_EACH_PLACE(an_unbounded_pool_never_runs_out)
{
	sennit_pool p;
	unsigned   *items[PLENTY];
	unsigned    i, round;

	must_init_numbers(&p, 0);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < PLENTY; i++) {
			items[i] = must_borrow(&p);
			*items[i] = i;
		}
		for (i = 0; i < PLENTY; i++) {
			EXPECT(*items[i] == i);
			sennit_pool_return(&p, items[i]);
		}
	}
	sennit_pool_destroy(&p);
	must_init_numbers(&p, 0);
	sennit_pool_destroy(&p); /* an unused pool */
}

/* Every byte of every item must be writable, and every item correctly
 * placed. */
static void try_layout(size_t size, size_t alignment, size_t count)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size = size,
					    .alignment = alignment,
					    .count = count };
	unsigned char           *items[20];
	sennit_pool              p;

	if (!alignment)
		alignment = _Alignof(max_align_t);
	must_init(&p, &config);
	for (unsigned i = 0; i < 20; i++) {
		items[i] = must_borrow(&p);
		EXPECT((uintptr_t)items[i] % alignment == 0);
		memset(items[i], (int)i, size);
	}
	for (unsigned i = 0; i < 20; i++) {
		EXPECT(items[i][0] == i && items[i][size - 1] == i);
		sennit_pool_return(&p, items[i]);
	}
	sennit_pool_destroy(&p);
}

TEST_ALONE(items_have_their_size_and_alignment)
{
	static const size_t sizes[] = { 1, 3, 8, 24, 64, 100, 5000 };
	size_t              i, alignment;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (alignment = 1; alignment <= 4096; alignment *= 4) {
			try_layout(sizes[i], alignment, 0);
			try_layout(sizes[i], alignment, 20);
		}
		try_layout(sizes[i], 0, 20);
	}
}

TEST_ALONE(a_config_that_makes_no_sense_is_refused)
{
	const sennit_pool_config no_size = { .size = sizeof(no_size),
					     .count = 1 };
	const sennit_pool_config odd = { .size = sizeof(odd),
					 .item_size = 8,
					 .alignment = 24 };
	const sennit_pool_config policy = { .size = sizeof(policy),
					    .item_size = 8,
					    .policy = 2 };
	const sennit_pool_config reserved = { .size = sizeof(reserved),
					      .item_size = 8,
					      .reserved_ = 1 };
	const sennit_pool_config many = { .size = sizeof(many),
					  .item_size = 8,
					  .count = SIZE_MAX };
	const sennit_pool_config large = { .size = sizeof(large),
					   .item_size = SIZE_MAX,
					   .count = 1 };
	sennit_pool              p;

	assert_int_equal(sennit_pool_init(&p, &no_size), -EINVAL);
	assert_int_equal(sennit_pool_init(&p, &odd), -EINVAL);
	assert_int_equal(sennit_pool_init(&p, &policy), -EINVAL);
	assert_int_equal(sennit_pool_init(&p, &reserved), -EINVAL);
	assert_int_equal(sennit_pool_init(&p, &many), -ENOMEM);
	assert_int_equal(sennit_pool_init(&p, &large), -ENOMEM);
}

/* --- several -------------------------------------------------------------- */

static void return_it(void *argument)
{
	void **pool_and_item = argument;

	sennit_pool_return(pool_and_item[0], pool_and_item[1]);
}

TEST_WITH_WORKERS(whoever_has_an_item_may_return_it)
{
	sennit_pool p;
	void       *pool_and_item[2] = { &p, NULL };

	must_init_numbers(&p, 1);
	pool_and_item[1] = must_borrow(&p);
	in_a_task(return_it, pool_and_item);
	pool_and_item[1] = must_borrow(&p);
	in_a_thread(return_it, pool_and_item);
	sennit_pool_destroy(&p);
}
