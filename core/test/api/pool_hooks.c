/* SPDX-License-Identifier: Apache-2.0 */
/* pool_hooks.c - what a pool calls: construct, destroy, the allocator. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

#include <errno.h>

enum { ITEMS = 4, ALIVE = 0x11fe, DEAD = 0xdead };

/* Counts calls. Each item records whether it is alive. */
struct factory {
	atomic_uint constructed, destroyed, wrong;
	atomic_uint failing; /* the number of constructs that fail from now
			      * on */
	bool        waits;   /* construct sleeps */
};

struct product {
	unsigned life;
	unsigned uses;
};

static int construct(void *context, void *item)
{
	struct factory *f = context;
	struct product *p = item;

	if (f->waits)
		sennit_sleep(1000);
	if (atomic_load(&f->failing)) {
		atomic_fetch_sub(&f->failing, 1);
		return -EIO;
	}
	*p = (struct product){ .life = ALIVE };
	atomic_fetch_add(&f->constructed, 1);
	return 0;
}

static void destroy(void *context, void *item)
{
	struct factory *f = context;
	struct product *p = item;

	if (p->life != ALIVE)
		atomic_fetch_add(&f->wrong, 1);
	p->life = DEAD;
	atomic_fetch_add(&f->destroyed, 1);
}

static void open_pool(sennit_pool *p, struct factory *f,
		      enum sennit_pool_policy policy, size_t count)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = sizeof(struct product),
				       .count = count,
				       .policy = policy,
				       .construct = construct,
				       .destroy = destroy,
				       .context = f };

	assert_int_equal(sennit_pool_init(p, &c), 0);
}

static struct product *must_borrow(sennit_pool *p)
{
	void *item = NULL;

	assert_int_equal(sennit_pool_borrow(p, &item), 0);
	assert_int_equal(((struct product *)item)->life, ALIVE);
	return item;
}

static void assert_counts(struct factory *f, unsigned constructed,
			  unsigned destroyed)
{
	assert_int_equal(atomic_load(&f->constructed), constructed);
	assert_int_equal(atomic_load(&f->destroyed), destroyed);
	assert_int_equal(atomic_load(&f->wrong), 0);
}

/* --- policies ----------------------------------------------------------- */

static void preserve(size_t count)
{
	struct factory  f = { .wrong = 0 };
	struct product *items[ITEMS];
	sennit_pool     p;
	unsigned        i, round;

	open_pool(&p, &f, SENNIT_POOL_PRESERVE, count);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ITEMS - 1; i++) {
			items[i] = must_borrow(&p);
			assert_int_equal(items[i]->uses++, round);
		}
		for (i = ITEMS - 1; i > 0; i--)
			sennit_pool_return(&p, items[i - 1]);
		assert_counts(&f, ITEMS - 1, 0);
	}
	sennit_pool_destroy(&p);
	assert_counts(&f, ITEMS - 1, ITEMS - 1);
}

static void reconstruct(size_t count)
{
	struct factory  f = { .wrong = 0 };
	struct product *items[ITEMS];
	sennit_pool     p;
	unsigned        i, round;

	open_pool(&p, &f, SENNIT_POOL_RECONSTRUCT, count);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ITEMS; i++) {
			items[i] = must_borrow(&p);
			assert_int_equal(items[i]->uses++, 0);
		}
		for (i = 0; i < ITEMS; i++)
			sennit_pool_return(&p, items[i]);
		assert_counts(&f, ITEMS * (round + 1), ITEMS * (round + 1));
	}
	sennit_pool_destroy(&p);
	assert_counts(&f, 5 * ITEMS, 5 * ITEMS);
}

TEST_ALONE(preserved_items_are_made_once_and_keep_their_state)
{
	preserve(ITEMS);
	preserve(0);
}

TEST_ALONE(reconstructed_items_are_made_for_each_loan)
{
	reconstruct(ITEMS);
	reconstruct(0);
}

/* --- hooks that fail or wait -------------------------------------------- */

static void fail_once(enum sennit_pool_policy policy, size_t count)
{
	struct factory f = { .wrong = 0 };
	sennit_pool    p;
	void          *item = &p;

	open_pool(&p, &f, policy, count);
	for (unsigned i = 0; i < 3; i++) {
		atomic_store(&f.failing, 1);
		assert_int_equal(sennit_pool_borrow(&p, &item), -EIO);
		assert_ptr_equal(item, &p); /* unchanged */
	}
	sennit_pool_return(&p, must_borrow(&p));
	atomic_store(&f.failing, 1);
	sennit_pool_destroy(&p);
	assert_counts(&f, 1, 1);
}

TEST_ALONE(who_borrows_gets_the_error_of_construct)
{
	fail_once(SENNIT_POOL_PRESERVE, 1);
	fail_once(SENNIT_POOL_PRESERVE, 0);
	fail_once(SENNIT_POOL_RECONSTRUCT, 1);
	fail_once(SENNIT_POOL_RECONSTRUCT, 0);
}

struct queue_up {
	sennit_pool       pool;
	sennit_wait_group done;
	atomic_uint       served, refused;
};

static void queue_up(void *argument)
{
	struct queue_up *q = argument;
	void            *item;

	if (sennit_pool_borrow(&q->pool, &item)) {
		atomic_fetch_add(&q->refused, 1);
	} else {
		atomic_fetch_add(&q->served, 1);
		sennit_pool_return(&q->pool, item);
	}
	sennit_wait_group_done(&q->done);
}

/* A borrower whose construct fails passes the item on to the next waiter. */
TEST_WITH_WORKERS(a_failed_construct_leaves_the_item_to_the_next)
{
	struct queue_up q = { .served = 0 };
	struct factory  f = { .waits = true };
	struct product *item;

	open_pool(&q.pool, &f, SENNIT_POOL_RECONSTRUCT, 1);
	item = must_borrow(&q.pool);
	sennit_wait_group_init(&q.done, 10);
	for (unsigned i = 0; i < 10; i++)
		must_schedule(queue_up, &q);
	assert_soon(fibers_of(w->s) == 10);
	atomic_store(&f.failing, 4);
	sennit_pool_return(&q.pool, item);
	sennit_wait_group_wait(&q.done);
	assert_int_equal(atomic_load(&q.refused), 4);
	assert_int_equal(atomic_load(&q.served), 6);
	sennit_pool_destroy(&q.pool);
	assert_counts(&f, 7, 7);
}

/* --- memory ------------------------------------------------------------- */

static sennit_pool_config config_of(const sennit_allocator *a, size_t count)
{
	return (sennit_pool_config){ .size = sizeof(sennit_pool_config),
				     .item_size = 24,
				     .count = count,
				     .allocator = a };
}

TEST_ALONE(a_bounded_pool_without_memory_is_refused)
{
	struct counting_allocator m = { .failing = 1 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&m);
	const sennit_pool_config  c = config_of(&a, 10);
	sennit_pool               p;

	assert_int_equal(sennit_pool_init(&p, &c), -ENOMEM);
	assert_int_equal(sennit_pool_init(&p, &c), 0);
	assert_true(atomic_load(&m.bytes) >= 240);
	sennit_pool_destroy(&p);
	assert_int_equal(atomic_load(&m.bytes), 0);
}

enum { PLENTY = 1000 };

/* The k-th growth fails once. That borrower gets an error, the next one an
 * item. */
static void survive_failure_of(unsigned k)
{
	struct counting_allocator m = { .failing = k };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&m);
	const sennit_pool_config  c = config_of(&a, 0);
	sennit_pool               p;
	void                     *items[PLENTY];
	unsigned                  i, refused = 0;

	assert_int_equal(sennit_pool_init(&p, &c), 0);
	assert_int_equal(atomic_load(&m.calls), 0);
	for (i = 0; i < PLENTY; i++)
		while (sennit_pool_borrow(&p, &items[i]) == -ENOMEM)
			refused++;
	assert_int_equal(refused, 1);
	for (i = 0; i < PLENTY; i++)
		sennit_pool_return(&p, items[i]);
	sennit_pool_destroy(&p);
	assert_int_equal(atomic_load(&m.bytes), 0);
}

TEST_ALONE(an_unbounded_pool_survives_a_lack_of_memory)
{
	unsigned k;

	for (k = 1; k <= 6; k++)
		survive_failure_of(k);
}

/* Many borrowers grow the same pool at once. It stays below twice the memory
 * that it needs; an item with its tag has less than 64 bytes. */
struct rush {
	sennit_pool       pool;
	sennit_wait_group done;
	void             *items[PLENTY];
	atomic_uint       next;
};

static void borrow_in_a_rush(void *argument)
{
	struct rush *r = argument;
	unsigned     i;

	while ((i = atomic_fetch_add(&r->next, 1)) < PLENTY)
		EXPECT(sennit_pool_borrow(&r->pool, &r->items[i]) == 0);
	sennit_wait_group_done(&r->done);
}

TEST_WITH_WORKERS(all_may_grow_a_pool_at_once)
{
	struct counting_allocator m = { .failing = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&m);
	const sennit_pool_config  c = config_of(&a, 0);
	struct rush               r = { .next = 0 };

	assert_int_equal(sennit_pool_init(&r.pool, &c), 0);
	sennit_wait_group_init(&r.done, 8);
	for (unsigned i = 0; i < 8; i++)
		must_schedule(borrow_in_a_rush, &r);
	sennit_wait_group_wait(&r.done);
	assert_true(atomic_load(&m.bytes) < 2 * 64 * (PLENTY + 8));
	for (unsigned i = 0; i < PLENTY; i++)
		sennit_pool_return(&r.pool, r.items[i]);
	sennit_pool_destroy(&r.pool);
	assert_int_equal(atomic_load(&m.bytes), 0);
}
