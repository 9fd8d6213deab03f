/* SPDX-License-Identifier: Apache-2.0 */
/* pool_borrowers.c - many borrowers of one pool: which gets an item, and when.
 * No item is lost or lent twice. */
#include "crowd.h"
#include "with_workers.h"

#include <errno.h>

static void must_init_numbers(sennit_pool *p, size_t count)
{
	EXPECT(sennit_pool_init(p, &(const sennit_pool_config){
					   .item_size = sizeof(unsigned),
					   .count = count }) == 0);
}

static void *must_borrow(sennit_pool *p)
{
	void *item = NULL;

	EXPECT(sennit_pool_borrow(p, &item) == 0);
	EXPECT(item != NULL);
	return item;
}

/* --- many borrowers ----------------------------------------------------- */

enum { ITEMS = 3, BORROWERS = 60, THREADS = 4, ROUNDS = 50 };

struct library {
	sennit_pool       pool;
	sennit_wait_group done;
	sennit_time       deadline;
	atomic_uint       out, most, refused;
};

/* Only the borrower of an item may change the number in it. */
static void read_one(struct library *l)
{
	void    *item;
	unsigned now, most = atomic_load(&l->most);

	if (sennit_pool_borrow_until(&l->pool, &item, l->deadline)) {
		atomic_fetch_add(&l->refused, 1);
		return;
	}
	now = atomic_fetch_add(&l->out, 1) + 1;
	while (now > most &&
	       !atomic_compare_exchange_weak(&l->most, &most, now))
		;
	++*(unsigned *)item;
	sennit_yield();
	++*(unsigned *)item;
	atomic_fetch_sub(&l->out, 1);
	sennit_pool_return(&l->pool, item);
}

static void read_many(void *argument)
{
	struct library *l = argument;
	unsigned        i;

	for (i = 0; i < ROUNDS; i++)
		read_one(l);
	sennit_wait_group_done(&l->done);
}

static void *read_many_as_thread(void *argument)
{
	read_many(argument);
	return NULL;
}

static int begin_at_zero(void *context, void *item)
{
	(void)context;
	*(unsigned *)item = 0;
	return 0;
}

static void open_library(struct library *l, pthread_t *threads)
{
	const sennit_pool_config c = { .item_size = sizeof(unsigned),
				       .count = ITEMS,
				       .construct = begin_at_zero };
	unsigned                 i;

	EXPECT(sennit_pool_init(&l->pool, &c) == 0);
	sennit_wait_group_init(&l->done, BORROWERS + THREADS);
	for (i = 0; i < BORROWERS; i++)
		must_schedule(read_many, l);
	for (i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(read_many_as_thread, l);
	sennit_wait_group_wait(&l->done);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Borrow all items at once. Returns the sum of their numbers. */
static unsigned take_stock(struct library *l)
{
	void    *items[ITEMS], *none;
	unsigned i, sum = 0;

	for (i = 0; i < ITEMS; i++) {
		items[i] = must_borrow(&l->pool);
		sum += *(unsigned *)items[i];
	}
	EXPECT(sennit_pool_borrow_until(&l->pool, &none, 0) == -ETIMEDOUT);
	for (i = 0; i < ITEMS; i++)
		sennit_pool_return(&l->pool, items[i]);
	sennit_pool_destroy(&l->pool);
	return sum;
}

TEST_WITH_WORKERS(no_item_is_lent_twice_at_a_time)
{
	struct library l = { .deadline = SENNIT_NEVER };
	pthread_t      threads[THREADS];

	open_library(&l, threads);
	assert_true(atomic_load(&l.most) <= ITEMS);
	assert_int_equal(atomic_load(&l.refused), 0);
	assert_int_equal(take_stock(&l), 2 * ROUNDS * (BORROWERS + THREADS));
}

TEST_WITH_WORKERS(no_item_gets_lost_by_deadlines)
{
	struct library l = { .deadline = sennit_after(SENNIT_MILLISECOND) };
	pthread_t      threads[THREADS];
	unsigned       lent;

	open_library(&l, threads);
	assert_true(atomic_load(&l.most) <= ITEMS);
	lent = ROUNDS * (BORROWERS + THREADS) - atomic_load(&l.refused);
	assert_int_equal(take_stock(&l), 2 * lent);
}

/* --- order -------------------------------------------------------------- */

/* Same-thread tasks and the task that schedules them share a worker. So when
 * the scheduling task runs again, the new task is waiting. */
struct queue_up {
	sennit_pool       pool;
	sennit_wait_group done;
	atomic_uint       arrived, left;
	unsigned          order[16];
};

static void queue_up(void *argument)
{
	struct queue_up *q = argument;
	const unsigned   mine = q->arrived++;
	void            *item = must_borrow(&q->pool);

	q->order[q->left++] = mine;
	sennit_pool_return(&q->pool, item);
	sennit_wait_group_done(&q->done);
}

static void form_a_queue(void *argument)
{
	struct queue_up *q = argument;
	void            *item = must_borrow(&q->pool);
	unsigned         i;

	for (i = 0; i < 16; i++) {
		must_schedule_here(queue_up, q);
		EXPECT_SOON(q->arrived == i + 1);
	}
	sennit_pool_return(&q->pool, item);
	sennit_wait_group_wait(&q->done);
	for (i = 0; i < 16; i++)
		EXPECT(q->order[i] == i);
}

TEST_WITH_WORKERS(the_longest_waiter_is_served_first)
{
	struct queue_up q = { .arrived = 0 };

	must_init_numbers(&q.pool, 1);
	sennit_wait_group_init(&q.done, 16);
	in_a_task(form_a_queue, &q);
	sennit_pool_destroy(&q.pool);
}

/* Symptom of a lost wake: two items returned, one waiter served. */
TEST_WITHOUT(returns_in_a_row_serve_as_many)
{
	struct queue_up q = { .arrived = 0 };
	void           *items[4];
	unsigned        i;

	must_init_numbers(&q.pool, 4);
	sennit_wait_group_init(&q.done, 4);
	for (i = 0; i < 4; i++)
		items[i] = must_borrow(&q.pool);
	for (i = 0; i < 4; i++)
		must_schedule_here(queue_up, &q);
	assert_soon(fibers_of(w->s) == 4);
	for (i = 0; i < 4; i++)
		sennit_pool_return(&q.pool, items[i]);
	sennit_wait_group_wait(&q.done);
	assert_int_equal(q.left, 4);
	sennit_pool_destroy(&q.pool);
}

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

/* The pool is destroyed as soon as the last loan is back. */
static void borrow_and_destroy(void *argument)
{
	sennit_pool *p = argument;

	sennit_pool_return(p, must_borrow(p));
	sennit_pool_destroy(p);
	memset(p, 0xa5, sizeof(*p));
	free(p);
}

TEST_WITH_WORKERS(a_pool_may_be_freed_by_its_last_borrower)
{
	struct errand e = { .run = borrow_and_destroy };
	unsigned      i;

	for (i = 0; i < 200; i++) {
		sennit_pool *p = malloc(sizeof(*p));
		void        *item;

		must_init_numbers(p, 1);
		item = must_borrow(p);
		e.argument = p;
		sennit_wait_group_init(&e.done, 1);
		must_schedule(run_errand, &e);
		sennit_yield();
		sennit_pool_return(p, item);
		sennit_wait_group_wait(&e.done);
	}
}

/* --- reports ------------------------------------------------------------ */

TEST_WITH_WORKERS(a_report_names_the_pool)
{
	struct queue_up q = { .arrived = 0 };
	void           *item;

	must_init_numbers(&q.pool, 1);
	sennit_wait_group_init(&q.done, 1);
	item = must_borrow(&q.pool);
	must_schedule(queue_up, &q);
	assert_soon(fibers_of(w->s) == 1);
	assert_int_equal(waiting_for(w->s, &q.pool), 1);
	assert_int_equal(said_to_be(w->s, &q.pool), SENNIT_WAITS_FOR_POOL);
	sennit_pool_return(&q.pool, item);
	sennit_wait_group_wait(&q.done);
	sennit_pool_destroy(&q.pool);
}
