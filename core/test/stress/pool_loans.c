/* SPDX-License-Identifier: Apache-2.0 */
/* pool_loans.c - fibers, bound and unbound threads borrow with random
 * deadlines, keep an item for a while or pass it on. Every item must have one
 * holder, and all must come back. The last borrower frees the pool. */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"

#include <errno.h>

enum { ALIVE = 0x11fe, SHELVES = 4, ITEMS = 5 };

struct item {
	atomic_uint holders;
	unsigned    life; /* written by the holder */
	uint64_t    uses; /* written by the holder */
};

struct fund {
	sennit_pool     pool;
	_Atomic(void *) shelves[SHELVES]; /* borrowed items that were passed
					     * on */
	atomic_uint     next;
	unsigned        rounds;
	atomic_uint     constructs;
	atomic_int      alive;
};

/* Sometimes it fails or waits. */
static int construct(void *context, void *memory)
{
	struct fund   *f = context;
	struct item   *i = memory;
	const unsigned n = atomic_fetch_add(&f->constructs, 1);

	if (n % 7 == 3)
		return -EIO;
	if (n % 5 == 3)
		sennit_yield();
	memset(i, 0, sizeof(*i));
	i->life = ALIVE;
	atomic_fetch_add(&f->alive, 1);
	return 0;
}

static void destroy(void *context, void *memory)
{
	struct fund *f = context;
	struct item *i = memory;

	EXPECT(i->life == ALIVE);
	i->life = 0;
	atomic_fetch_sub(&f->alive, 1);
}

static void give_back(struct fund *f, struct item *i)
{
	EXPECT(atomic_fetch_sub(&i->holders, 1) == 1);
	sennit_pool_return(&f->pool, i);
}

static void borrow_one(struct fund *f, uint64_t *random)
{
	void        *memory;
	struct item *i;

	if (sennit_pool_borrow_until(&f->pool, &memory, soon(random)))
		return;
	i = memory;
	EXPECT(atomic_fetch_add(&i->holders, 1) == 0);
	EXPECT(i->life == ALIVE);
	i->uses++;
	if (!random_below(random, 8))
		sennit_yield();
	if (!random_below(random, 4))
		i = atomic_exchange(&f->shelves[random_below(random, SHELVES)],
				    i);
	if (i)
		give_back(f, i);
}

static void borrow_often(void *argument)
{
	struct fund *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));

	for (unsigned i = 0; i < f->rounds; i++)
		borrow_one(f, &random);
}

static struct fund fund;

static void open_fund(size_t count, uint32_t policy)
{
	memset(&fund, 0, sizeof(fund));
	fund.rounds = (unsigned)scaled(TORTURED(200, LOAD(2000)));
	EXPECT(sennit_pool_init(&fund.pool,
				&(const sennit_pool_config){
					.size = sizeof(sennit_pool_config),
					.item_size = sizeof(struct item),
					.count = count,
					.policy = policy,
					.construct = construct,
					.destroy = destroy,
					.context = &fund }) == 0);
}

static void lend(const struct world *w, size_t count, uint32_t policy)
{
	struct item *left;

	open_fund(count, policy);
	run_crowd((struct crowd){ .s = w->s,
				  .run = borrow_often,
				  .argument = &fund,
				  .tasks = 12,
				  .bound = 1,
				  .unbound = 2 });
	for (unsigned i = 0; i < SHELVES; i++)
		if ((left = atomic_load(&fund.shelves[i])))
			give_back(&fund, left);
	sennit_pool_destroy(&fund.pool);
	assert_int_equal(atomic_load(&fund.alive), 0);
}

TEST_WITH_WORKERS(every_item_has_one_holder)
{
	lend(w, ITEMS, SENNIT_POOL_PRESERVE);
	lend(w, ITEMS, SENNIT_POOL_RECONSTRUCT);
}

TEST_WITH_WORKERS(every_item_of_an_unbounded_pool_has_one_holder)
{
	lend(w, 0, SENNIT_POOL_PRESERVE);
	lend(w, 0, SENNIT_POOL_RECONSTRUCT);
}

/* --- a pool that the last borrower frees -------------------------------- */

static void borrow_last(void *argument)
{
	sennit_pool *p = argument;
	void        *item;

	EXPECT(sennit_pool_borrow(p, &item) == 0);
	sennit_pool_return(p, item);
	sennit_pool_destroy(p);
	memset(p, 0xa5, sizeof(*p));
	free(p);
}

TEST_WITH_WORKERS(nobody_touches_a_pool_that_was_freed)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = 8,
				       .count = 1 };
	const unsigned rounds = (unsigned)scaled(TORTURED(200, LOAD(2000)));

	for (unsigned i = 0; i < rounds; i++) {
		sennit_pool *p = malloc(sizeof(*p));
		struct crowd last = { .run = borrow_last,
				      .argument = p,
				      .tasks = i % 8 != 0,
				      .unbound = i % 8 == 0 };
		void        *item;

		EXPECT(sennit_pool_init(p, &c) == 0);
		EXPECT(sennit_pool_borrow(p, &item) == 0);
		gather(&last);
		if (i % 3)
			sennit_yield();
		sennit_pool_return(p, item);
		disperse(&last);
	}
}
