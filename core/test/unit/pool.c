/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - blocks that move between caches, and the memory that they use. */
#include "scarce.h"
#include "testing/random.h"

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

static void *take(struct pool_cache *c, uintptr_t number)
{
	void *block = sn_pool_take(c);

	assert_non_null(block);
	assert_int_equal((uintptr_t)block % POOL_BLOCK, 0);
	sign(block, number);
	return block;
}

TEST(blocks_are_aligned_and_do_not_overlap)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];

	open_pool(&p, &s, UINT32_MAX);
	sn_pool_cache_init(&c, &p);
	for (uintptr_t i = 0; i < MANY; i++)
		block[i] = take(&c, i);
	for (uintptr_t i = 0; i < MANY; i++)
		assert_true(is_signed(block[i], i));
	close_pool(&p, &s);
}

TEST(an_unused_pool_allocates_nothing)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;

	open_pool(&p, &s, 0);
	sn_pool_cache_init(&c, &p);
	sn_pool_cache_drain(&c);
	close_pool(&p, &s);
}

TEST(a_block_given_is_the_next_one_taken)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block;

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
TEST(what_one_cache_gives_another_takes)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache from, to;
	void             *block[MANY];
	unsigned          chunks = 0;

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

TEST(threads_without_a_cache_share_one_list)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	unsigned          chunks;

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

TEST(a_full_batch_is_broken_up_for_who_has_no_cache)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];

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

TEST(no_memory_leaves_everything_intact)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	unsigned          n;

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

TEST(a_drained_cache_leaves_every_block_to_others)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache from, to;
	void             *block[MANY];
	unsigned          n;

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

TEST(unused_chunks_go_back_when_trimmed)
{
	struct supply     s;
	struct pool       p;
	struct pool_cache c;
	void             *block[MANY];
	size_t            bytes;

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

TEST(blocks_nobody_needed_are_known)
{
	struct supply s;
	struct pool   p;
	void         *block;
	size_t        idle;

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
