/* SPDX-License-Identifier: Apache-2.0 */
/* shared_kinds.c - created locks, barriers, queues, futures, channels and
 * pools: one count for all of them. */
#include "with_workers.h"

#include "../counting_allocator.h"

#include <errno.h>

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);
static const sennit_allocator    half = { .allocate = counting_take };

static atomic_uint made, destroyed;

static int make(void *context, void *item)
{
	(void)context;
	memset(item, 1, 8);
	atomic_fetch_add(&made, 1);
	return 0;
}

static void destroy(void *context, void *item)
{
	(void)context;
	(void)item;
	atomic_fetch_add(&destroyed, 1);
}

static sennit_pool_config config_with(const sennit_allocator *a)
{
	return (sennit_pool_config){ .item_size = 8,
				     .construct = make,
				     .destroy = destroy,
				     .allocator = a };
}

/* --- one of each --------------------------------------------------------- */

struct kinds {
	sennit_rwlock       *lock;
	sennit_barrier      *barrier;
	sennit_ticket_queue *queue;
	sennit_future       *future;
	sennit_channel      *channel;
	sennit_pool         *pool;
};

static void create(struct kinds *k, const sennit_allocator *a, int err)
{
	const sennit_pool_config c = config_with(a);

	memset(k, 0, sizeof(*k));
	assert_int_equal(sennit_rwlock_create(&k->lock, a), err);
	assert_int_equal(sennit_barrier_create(&k->barrier, 2, a), err);
	assert_int_equal(sennit_ticket_queue_create(&k->queue, a), err);
	assert_int_equal(sennit_future_create(&k->future, a), err);
	assert_int_equal(sennit_channel_create(&k->channel, 8, 4, a), err);
	assert_int_equal(sennit_pool_create(&k->pool, &c), err);
}

static void retain(const struct kinds *k)
{
	assert_ptr_equal(sennit_rwlock_retain(k->lock), k->lock);
	assert_ptr_equal(sennit_barrier_retain(k->barrier), k->barrier);
	assert_ptr_equal(sennit_ticket_queue_retain(k->queue), k->queue);
	assert_ptr_equal(sennit_future_retain(k->future), k->future);
	assert_ptr_equal(sennit_channel_retain(k->channel), k->channel);
	assert_ptr_equal(sennit_pool_retain(k->pool), k->pool);
}

static void release(const struct kinds *k)
{
	sennit_rwlock_release(k->lock);
	sennit_barrier_release(k->barrier);
	sennit_ticket_queue_release(k->queue);
	sennit_future_release(k->future);
	sennit_channel_release(k->channel);
	sennit_pool_release(k->pool);
}

TEST_ALONE(the_last_release_frees_all)
{
	struct kinds k;
	int64_t      bytes;
	void        *item;
	uint64_t     value = 5;

	atomic_store(&made, 0);
	atomic_store(&destroyed, 0);
	create(&k, &counting, 0);
	assert_int_equal(sennit_channel_send(k.channel, &value), 0);
	assert_int_equal(sennit_pool_borrow(k.pool, &item), 0);
	sennit_pool_return(k.pool, item);
	retain(&k);
	bytes = (int64_t)atomic_load(&tally.bytes);
	assert_true(bytes > 0);
	release(&k);
	assert_int_equal((int64_t)atomic_load(&tally.bytes), bytes);
	value = 0;
	assert_int_equal(sennit_channel_receive(k.channel, &value), 0);
	assert_int_equal(value, 5);
	release(&k);
	assert_int_equal(atomic_load(&tally.bytes), 0);
	assert_int_equal(atomic_load(&made), atomic_load(&destroyed));
}

TEST_ALONE(creating_fails_and_changes_nothing)
{
	struct kinds              k;
	struct counting_allocator memory = { .failing = 1 };
	const sennit_allocator    none = COUNTING_ALLOCATOR(&memory);
	const sennit_pool_config  wrong = { .item_size = 0,
					    .allocator = &counting };
	sennit_channel           *c = NULL;
	sennit_pool              *p = NULL;

	create(&k, &half, -EINVAL);
	assert_true(!k.lock && !k.barrier && !k.queue && !k.future &&
		    !k.channel && !k.pool);
	assert_int_equal(sennit_rwlock_create(&k.lock, &none), -ENOMEM);
	assert_null(k.lock);
	assert_int_equal(sennit_pool_create(&p, &wrong), -EINVAL);
	assert_null(p);
	/* The second block, the channel's values. */
	memory = (struct counting_allocator){ .failing = 2 };
	assert_int_equal(sennit_channel_create(&c, 8, 4, &none), -ENOMEM);
	assert_null(c);
	assert_int_equal(atomic_load(&memory.bytes), 0);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

/* --- in use -------------------------------------------------------------- */

struct share {
	struct kinds      k;
	sennit_wait_group done;
	atomic_uint       sum;
};

static void use(void *argument)
{
	struct share *s = argument;
	struct kinds  k = s->k;
	sennit_ticket t;
	uint64_t      one = 1;
	void         *item;

	sennit_ticket_queue_take(k.queue, &t);
	sennit_rwlock_lock_shared(k.lock);
	sennit_rwlock_unlock_shared(k.lock);
	EXPECT(sennit_pool_borrow(k.pool, &item) == 0);
	sennit_pool_return(k.pool, item);
	EXPECT(!sennit_future_wait(k.future));
	sennit_barrier_wait(k.barrier);
	EXPECT(!sennit_ticket_wait(&t));
	sennit_ticket_done(&t);
	EXPECT(sennit_channel_send(k.channel, &one) == 0);
	atomic_fetch_add(&s->sum, (unsigned)one);
	release(&k);
	sennit_wait_group_done(&s->done);
}

TEST_WITH_WORKERS(each_user_keeps_them)
{
	struct share s;

	for (unsigned round = 0; round < LOAD(200); round++) {
		memset(&s, 0, sizeof(s));
		create(&s.k, &counting, 0);
		sennit_wait_group_init(&s.done, 2);
		retain(&s.k);
		must_schedule(use, &s);
		retain(&s.k);
		must_schedule(use, &s);
		sennit_future_set(s.k.future, NULL);
		release(&s.k);
		sennit_wait_group_wait(&s.done);
		assert_int_equal(atomic_load(&s.sum), 2);
		assert_int_equal(atomic_load(&tally.bytes), 0);
	}
}
