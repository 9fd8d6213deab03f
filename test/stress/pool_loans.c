/* SPDX-License-Identifier: Apache-2.0 */
/* pool_loans.c - fibers, bound and unbound threads borrow with random
 * deadlines, keep an item for a while or pass it on. Every item must have one
 * holder, and all must come back. The last borrower frees the pool. */
#include "../api/with_workers.h"
#include "../random.h"
#include "deadlines.h"

#include <errno.h>

enum { TASKS = 12, BOUND = 1, UNBOUND = 2, ALL = TASKS + BOUND + UNBOUND };
enum { ALIVE = 0x11fe, SHELVES = 4, ITEMS = 5 };

struct item {
	atomic_uint holders;
	unsigned    life; /* written by the holder */
	uint64_t    uses; /* written by the holder */
};

struct fund {
	sennit_scheduler *s;
	sennit_pool       pool;
	_Atomic(void *)   shelves[SHELVES]; /* borrowed items that were passed
					     * on */
	sennit_wait_group done;
	atomic_uint       next;
	unsigned          rounds;
	atomic_uint       constructs;
	atomic_int        alive;
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
	unsigned     i;

	for (i = 0; i < f->rounds; i++)
		borrow_one(f, &random);
	sennit_wait_group_done(&f->done);
}

static void *borrow_unbound(void *argument)
{
	borrow_often(argument);
	return NULL;
}

static void *borrow_bound(void *argument)
{
	struct fund *f = argument;

	EXPECT(sennit_bind(f->s) == 0);
	borrow_often(f);
	sennit_unbind();
	return NULL;
}

static struct fund fund;

static void open_fund(const struct world *w, size_t count, uint32_t policy)
{
	memset(&fund, 0, sizeof(fund));
	fund.s = w->s;
	fund.rounds = (unsigned)scaled(TORTURED(200, LOAD(2000)));
	sennit_wait_group_init(&fund.done, ALL);
	EXPECT(sennit_pool_init(&fund.pool,
				&(const sennit_pool_config){
					.item_size = sizeof(struct item),
					.count = count,
					.policy = policy,
					.construct = construct,
					.destroy = destroy,
					.context = &fund }) == 0);
}

static void lend(const struct world *w, size_t count, uint32_t policy)
{
	pthread_t    threads[BOUND + UNBOUND];
	struct item *left;
	unsigned     i;

	open_fund(w, count, policy);
	for (i = 0; i < BOUND; i++)
		threads[i] = must_start_thread(borrow_bound, &fund);
	for (; i < BOUND + UNBOUND; i++)
		threads[i] = must_start_thread(borrow_unbound, &fund);
	for (i = 0; i < TASKS; i++)
		must_schedule(borrow_often, &fund);
	sennit_wait_group_wait(&fund.done);
	for (i = 0; i < BOUND + UNBOUND; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < SHELVES; i++)
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

struct last {
	sennit_pool       *pool;
	sennit_wait_group *done;
};

static void borrow_last(void *argument)
{
	const struct last *l = argument;
	void              *item;

	EXPECT(sennit_pool_borrow(l->pool, &item) == 0);
	sennit_pool_return(l->pool, item);
	sennit_pool_destroy(l->pool);
	memset(l->pool, 0xa5, sizeof(*l->pool));
	free(l->pool);
	sennit_wait_group_done(l->done);
}

static void *borrow_last_as_thread(void *argument)
{
	borrow_last(argument);
	return NULL;
}

static void round_of(struct last *l, unsigned i)
{
	const sennit_pool_config c = { .item_size = 8, .count = 1 };
	const bool               thread = i % 8 == 0;
	pthread_t                t = pthread_self();
	void                    *item;

	l->pool = malloc(sizeof(*l->pool));
	EXPECT(sennit_pool_init(l->pool, &c) == 0);
	EXPECT(sennit_pool_borrow(l->pool, &item) == 0);
	sennit_wait_group_add(l->done, 1);
	if (thread)
		t = must_start_thread(borrow_last_as_thread, l);
	else
		must_schedule(borrow_last, l);
	if (i % 3)
		sennit_yield();
	sennit_pool_return(l->pool, item);
	sennit_wait_group_wait(l->done);
	if (thread)
		pthread_join(t, NULL);
}

TEST_WITH_WORKERS(nobody_touches_a_pool_that_was_freed)
{
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;
	struct last       l = { .done = &done };
	const unsigned    rounds = (unsigned)scaled(TORTURED(200, LOAD(2000)));
	unsigned          i;

	for (i = 0; i < rounds; i++)
		round_of(&l, i);
}
