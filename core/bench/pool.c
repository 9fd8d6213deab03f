/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - borrow an item, write to it, return it. */
#include "harness.h"

#define ITEM   64
#define ITEMS  1000
#define FIBERS 64
#define ROUNDS 10000
#define MANY   100000

static sennit_pool       pool;
static sennit_wait_group left;
static sennit_wait_group arrived;

static void open_pool(size_t count)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = ITEM,
				       .count = count };

	bench_check(!sennit_pool_init(&pool, &c), "pool: no memory");
}

static void borrow_and_return(void)
{
	void *item = NULL;

	bench_check(!sennit_pool_borrow(&pool, &item), "pool: no item");
	++*(uint64_t *)item;
	sennit_pool_return(&pool, item);
}

static void alone(struct bench_run *r)
{
	sennit_time begin;

	open_pool(ITEMS);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		borrow_and_return();
	bench_elapsed(r, begin);
	sennit_pool_destroy(&pool);
}

/* Uses items of all chunks of an unbounded pool in turn. */
static void alone_unbounded(struct bench_run *r)
{
	void       *items[ITEMS] = { NULL };
	sennit_time begin;

	open_pool(0);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i += ITEMS) {
		for (unsigned k = 0; k < ITEMS; k++)
			bench_check(!sennit_pool_borrow(&pool, &items[k]),
				    "pool: no item");
		for (unsigned k = ITEMS; k-- > 0;)
			sennit_pool_return(&pool, items[k]);
	}
	bench_elapsed(r, begin);
	sennit_pool_destroy(&pool);
}

static void with_malloc(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		volatile uint64_t *item = malloc(ITEM);

		*item = i;
		free((void *)item);
	}
	bench_elapsed(r, begin);
}

static void borrow_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++)
		borrow_and_return();
	sennit_wait_group_done(&left);
}

static void contend_for(struct bench_run *r, size_t count)
{
	sennit_time begin;

	open_pool(count);
	begin = sennit_now();
	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(borrow_often, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	sennit_pool_destroy(&pool);
}

static void contend(struct bench_run *r)
{
	contend_for(r, FIBERS);
}

static void contend_for_four(struct bench_run *r)
{
	contend_for(r, 4);
}

static void borrow_once(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&arrived);
	borrow_and_return();
	sennit_wait_group_done(&left);
}

/* All wait for one item and pass it on. */
static void queue_up(struct bench_run *r)
{
	void       *item;
	sennit_time begin;

	open_pool(1);
	bench_check(!sennit_pool_borrow(&pool, &item), "pool: no item");
	begin = sennit_now();
	sennit_wait_group_init(&left, MANY);
	sennit_wait_group_init(&arrived, MANY);
	for (unsigned i = 0; i < MANY; i++)
		spawn(borrow_once, NULL);
	sennit_wait_group_wait(&arrived);
	sennit_pool_return(&pool, item);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	sennit_pool_destroy(&pool);
}

const struct bench_row bench_pool[] = {
	{ .names = { "pool/uncontended" },
	  .n = 10000000,
	  .workers = BENCH_NONE,
	  .place = BENCH_OUTSIDE,
	  .run = alone },
	{ .names = { "pool/unbounded-1000" },
	  .n = 10000000,
	  .workers = BENCH_NONE,
	  .place = BENCH_OUTSIDE,
	  .run = alone_unbounded },
	{ .names = { "pool/reference-malloc" },
	  .n = 10000000,
	  .workers = BENCH_NONE,
	  .place = BENCH_OUTSIDE,
	  .run = with_malloc },
	BENCH_ROW("pool/64-fibers", FIBERS *ROUNDS, BENCH_EACH, contend),
	BENCH_ROW("pool/64-fibers-4-items", FIBERS *ROUNDS, BENCH_EACH,
		  contend_for_four),
	BENCH_ROW("pool/many-waiters", MANY, BENCH_EACH, queue_up),
	{ .run = NULL },
};
