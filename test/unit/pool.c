/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - blocks that move between caches, and the memory that they use. */
#include "core/pool.h"

#include "base/memory.h"

#include "../random.h"
#include "scarce.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#define WORDS (POOL_BLOCK / sizeof(uintptr_t))

enum { MANY = 1000 };

struct supply {
	struct scarce    chunks;
	sennit_allocator memory;
};

static void open_pool(struct pool *p, struct supply *s, unsigned chunks)
{
	*s = (struct supply){ { .left = chunks }, SCARCE(&s->chunks) };
	sn_pool_init(p, &s->memory);
}

static void close_pool(struct pool *p, struct supply *s)
{
	sn_pool_free(p);
	assert_int_equal(s->chunks.held, 0);
	assert_int_equal(s->chunks.bytes, 0);
}

/* Fill the whole block with a number, so that an overlap is detected. */
static void sign(void *block, uintptr_t number)
{
	uintptr_t *word = block;

	for (size_t i = 0; i < WORDS; i++)
		word[i] = number;
}

static bool is_signed(const void *block, uintptr_t number)
{
	const uintptr_t *word = block;

	for (size_t i = 0; i < WORDS; i++)
		if (word[i] != number)
			return false;
	return true;
}

static void *take(struct pool_cache *c, uintptr_t number)
{
	void *block = sn_pool_take(c);

	assert_non_null(block);
	assert_int_equal((uintptr_t)block % POOL_BLOCK, 0);
	sign(block, number);
	return block;
}

static void blocks_are_aligned_and_do_not_overlap(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	for (uintptr_t i = 0; i < MANY; i++)
		block[i] = take(&c, i);
	for (uintptr_t i = 0; i < MANY; i++)
		assert_true(is_signed(block[i], i));
	close_pool(&p, &s);
}

static void an_unused_pool_allocates_nothing(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;

	(void)state;
	open_pool(&p, &s, 0);
	sn_pool_cache_init(&c, &p);
	sn_pool_cache_drain(&c);
	close_pool(&p, &s);
}

static void a_block_given_is_the_next_one_taken(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block;

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	take(&c, 0);
	block = take(&c, 1);
	sn_pool_give(&c, block);
	assert_ptr_equal(sn_pool_take(&c), block);
	close_pool(&p, &s);
}

/* Blocks taken from one cache and given to another come back in batches and
 * cost no new memory. */
static void what_one_cache_gives_another_takes(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache from, to;
	void             *block[MANY];
	unsigned          chunks = 0;

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&from, &p);
	sn_pool_cache_init(&to, &p);
	for (unsigned round = 0; round < 50; round++) {
		for (uintptr_t i = 0; i < MANY; i++)
			block[i] = take(&from, i);
		for (uintptr_t i = 0; i < MANY; i++) {
			assert_true(is_signed(block[i], i));
			sn_pool_give(&to, block[i]);
			assert_true(to.count < 2 * POOL_BATCH);
		}
		if (round == 1) /* `to` now has the blocks that it keeps */
			chunks = s.chunks.held;
	}
	assert_int_equal(s.chunks.held, chunks);
	/* The peak in use, plus what two caches may keep. */
	assert_true(s.chunks.bytes <= 2 * (MANY + 4 * POOL_BATCH) * POOL_BLOCK);
	close_pool(&p, &s);
}

static void threads_without_a_cache_share_one_list(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	unsigned          chunks;

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	for (uintptr_t i = 0; i < MANY; i++) {
		block[i] = sn_pool_take_shared(&p);
		assert_non_null(block[i]);
		assert_int_equal((uintptr_t)block[i] % POOL_BLOCK, 0);
		sign(block[i], i);
	}
	chunks = s.chunks.held;
	for (uintptr_t i = 0; i < MANY; i++) {
		assert_true(is_signed(block[i], i));
		sn_pool_give_shared(&p, block[i]);
	}
	for (uintptr_t i = 0; i < MANY; i++) /* a cache returns the same
					      * blocks */
		block[i] = take(&c, i);
	for (uintptr_t i = 0; i < MANY; i++)
		assert_true(is_signed(block[i], i));
	assert_int_equal(s.chunks.held, chunks);
	close_pool(&p, &s);
}

static void a_full_batch_is_broken_up_for_who_has_no_cache(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	for (uintptr_t i = 0; i < MANY; i++)
		block[i] = take(&c, i);
	for (uintptr_t i = 0; i < MANY; i++)
		sn_pool_give(&c, block[i]);
	s.chunks.left = 0;
	for (uintptr_t i = 0; i < MANY - 2 * POOL_BATCH; i++) {
		block[i] = sn_pool_take_shared(&p);
		assert_non_null(block[i]);
		sign(block[i], i);
	}
	for (uintptr_t i = 0; i < MANY - 2 * POOL_BATCH; i++)
		assert_true(is_signed(block[i], i));
	close_pool(&p, &s);
}

static unsigned take_all(struct pool_cache *c, void **block)
{
	unsigned n = 0;

	while ((block[n] = sn_pool_take(c)))
		sign(block[n], n), n++;
	return n;
}

static void no_memory_leaves_everything_intact(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	unsigned          n;

	(void)state;
	open_pool(&p, &s, 3);
	sn_pool_cache_init(&c, &p);
	n = take_all(&c, block);
	assert_true(n > 0);
	assert_null(sn_pool_take(&c));
	assert_null(sn_pool_take_shared(&p));
	for (uintptr_t i = 0; i < n; i++) {
		assert_true(is_signed(block[i], i));
		sn_pool_give(&c, block[i]);
	}
	assert_int_equal(take_all(&c, block), n);
	s.chunks.left = 1; /* memory is available again */
	assert_non_null(sn_pool_take(&c));
	close_pool(&p, &s);
}

static void a_drained_cache_leaves_every_block_to_others(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache from, to;
	void             *block[MANY];
	unsigned          n;

	(void)state;
	for (unsigned kept = 0; kept <= 2 * POOL_BATCH; kept++) {
		open_pool(&p, &s, 4);
		sn_pool_cache_init(&from, &p);
		sn_pool_cache_init(&to, &p);
		n = take_all(&from, block);
		for (unsigned i = 0; i < n; i++)
			if (i < kept)
				sn_pool_give(&from, block[i]);
			else
				sn_pool_give_shared(&p, block[i]);
		sn_pool_cache_drain(&from);
		assert_int_equal(from.count, 0);
		assert_null(from.free);
		assert_int_equal(sn_pool_idle(&p), n);
		assert_int_equal(take_all(&to, block), n);
		assert_int_equal(sn_pool_idle(&p), 0);
		close_pool(&p, &s);
	}
}

static void unused_chunks_go_back_when_trimmed(void **state)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	size_t            bytes;

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	for (uintptr_t i = 0; i < MANY; i++)
		block[i] = take(&c, i);
	bytes = s.chunks.bytes;
	for (uintptr_t i = 1; i < MANY; i++)
		sn_pool_give(&c, block[i]);
	sn_pool_cache_drain(&c);
	sn_pool_trim(&p);
	assert_true(s.chunks.bytes > 0); /* one block is in use */
	assert_true(s.chunks.bytes < bytes);
	assert_true(is_signed(block[0], 0));
	for (uintptr_t i = 1; i < MANY; i++)
		block[i] = take(&c, i);
	for (uintptr_t i = 0; i < MANY; i++) {
		assert_true(is_signed(block[i], i));
		sn_pool_give(&c, block[i]);
	}
	sn_pool_cache_drain(&c);
	sn_pool_trim(&p);
	assert_int_equal(s.chunks.bytes, 0);
	sn_pool_give(&c, take(&c, 0));
	close_pool(&p, &s);
}

static void blocks_nobody_needed_are_known(void **state)
{
	struct supply s;
	struct pool   p;
	void         *block;
	size_t        idle;

	(void)state;
	open_pool(&p, &s, UINT32_MAX);
	block = sn_pool_take_shared(&p);
	sn_pool_give_shared(&p, block);
	sn_pool_unused(&p);
	idle = sn_pool_unused(&p);
	assert_true(idle > 0);
	block = sn_pool_take_shared(&p);
	sn_pool_give_shared(&p, block);
	assert_int_equal(sn_pool_unused(&p), idle - 1);
	assert_int_equal(sn_pool_unused(&p), idle);
	close_pool(&p, &s);
}

/* --- many threads -------------------------------------------------------- */

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

static void no_block_has_two_holders(void **state)
{
	static struct market m = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct trader        t[THREADS];
	uint32_t             wrong = 0;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unused_pool_allocates_nothing),
		cmocka_unit_test(blocks_are_aligned_and_do_not_overlap),
		cmocka_unit_test(a_block_given_is_the_next_one_taken),
		cmocka_unit_test(what_one_cache_gives_another_takes),
		cmocka_unit_test(threads_without_a_cache_share_one_list),
		cmocka_unit_test(
			a_full_batch_is_broken_up_for_who_has_no_cache),
		cmocka_unit_test(no_memory_leaves_everything_intact),
		cmocka_unit_test(a_drained_cache_leaves_every_block_to_others),
		cmocka_unit_test(unused_chunks_go_back_when_trimmed),
		cmocka_unit_test(blocks_nobody_needed_are_known),
		cmocka_unit_test(no_block_has_two_holders),
	};

	return random_report(
		cmocka_run_group_tests_name("pool", tests, NULL, NULL));
}
