/* SPDX-License-Identifier: Apache-2.0 */
/* pool_threads.c - threads that take, give and pass on blocks at the same
 * time: no block has two holders. */
#include "scarce.h"
#include "testing/random.h"

#include <pthread.h>

enum { THREADS = 3, SLOTS = 1024 };

/* Threads exchange blocks through the slots. One thread mostly fills the slots
 * and one mostly empties them, so batches move. One thread has no cache. */
struct market {
	struct pool     pool;
	pthread_mutex_t lock;
	void           *slot[SLOTS]; /* under lock */
	uintptr_t       mark[SLOTS]; /* under lock: the number in the block */
};

enum trade { BRINGS, FETCHES, DOES_BOTH };

struct trader {
	struct market *market;
	uint64_t       random;
	uint64_t       rounds;
	enum trade     trade;
	uint32_t       wrong;
	pthread_t      thread;
};

static void *get_block(struct trader *t, struct pool_cache *c)
{
	return t->trade == DOES_BOTH ? sn_pool_take_shared(c->pool)
				     : sn_pool_take(c);
}

static void give_block(struct trader *t, struct pool_cache *c, void *block)
{
	if (t->trade == DOES_BOTH)
		sn_pool_give_shared(c->pool, block);
	else
		sn_pool_give(c, block);
	if (random_below(&t->random, 512) == 0)
		sn_pool_trim(c->pool);
}

/* Exchange a slot's block for *block; a NULL *block empties the slot. */
static void exchange(struct trader *t, void **block, uintptr_t *mark)
{
	struct market  *m = t->market;
	const uint32_t  at = random_below(&t->random, SLOTS);
	void *const     old = m->slot[at];
	const uintptr_t old_mark = m->mark[at];

	m->slot[at] = *block;
	m->mark[at] = *mark;
	*block = old;
	*mark = old_mark;
}

static void *trade(void *argument)
{
	struct trader    *t = argument;
	struct market    *m = t->market;
	struct pool_cache c;

	sn_pool_cache_init(&c, &m->pool);
	for (uint64_t i = t->rounds; i; i--) {
		uintptr_t mark = (uintptr_t)random_from(&t->random);
		void     *block = NULL;

		if (t->trade == BRINGS || (t->trade == DOES_BOTH && i % 2)) {
			block = get_block(t, &c);
			sign(block, mark);
		}
		pthread_mutex_lock(&m->lock);
		exchange(t, &block, &mark);
		pthread_mutex_unlock(&m->lock);
		if (!block)
			continue;
		t->wrong += !is_signed(block, mark);
		give_block(t, &c, block);
	}
	sn_pool_cache_drain(&c);
	return NULL;
}

TEST(no_block_has_two_holders)
{
	static struct market m = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct trader        t[THREADS];
	uint32_t             wrong = 0;

	sn_pool_init(&m.pool, &sn_memory_libc);
	for (uint32_t i = 0; i < THREADS; i++) {
		t[i] = (struct trader){ .market = &m,
					.random = random_stream(i + 1),
					.rounds = scaled(2000000),
					.trade = (enum trade)i };
		assert_int_equal(
			pthread_create(&t[i].thread, NULL, trade, &t[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(t[i].thread, NULL);
		wrong += t[i].wrong;
	}
	assert_int_equal(wrong, 0);
	sn_pool_free(&m.pool);
	pthread_mutex_destroy(&m.lock);
}
