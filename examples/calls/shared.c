/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - objects that live as long as their last user. */
#include "calls.h"

/* A user with its own reference, which it releases. */
static void answer(void *future)
{
	sennit_future_set(future, NULL);
	sennit_future_release(future);
}

static void ask(void)
{
	sennit_future *f = NULL;

	CHECK(sennit_future_create(&f, NULL) == 0);
	CHECK(sennit_schedule(answer, sennit_future_retain(f)) == 0);
	CHECK(!sennit_future_wait(f));
	sennit_future_release(f);
}

static void meet(void)
{
	sennit_rwlock  *l = NULL;
	sennit_barrier *b = NULL;

	CHECK(sennit_rwlock_create(&l, NULL) == 0);
	sennit_rwlock_lock(sennit_rwlock_retain(l));
	sennit_rwlock_unlock(l);
	sennit_rwlock_release(l);
	sennit_rwlock_release(l);

	CHECK(sennit_barrier_create(&b, 1, NULL) == 0);
	CHECK(sennit_barrier_wait(sennit_barrier_retain(b)));
	sennit_barrier_release(b);
	sennit_barrier_release(b);
}

static void pass_on(void)
{
	sennit_channel      *c = NULL;
	sennit_ticket_queue *q = NULL;
	sennit_ticket        t;
	int                  sent = 7, received = 0;

	CHECK(sennit_channel_create(&c, sizeof(int), 1, NULL) == 0);
	CHECK(sennit_channel_send(sennit_channel_retain(c), &sent) == 0);
	sennit_channel_release(c);
	CHECK(sennit_channel_receive(c, &received) == 0 && received == 7);
	sennit_channel_release(c);

	CHECK(sennit_ticket_queue_create(&q, NULL) == 0);
	sennit_ticket_queue_take(sennit_ticket_queue_retain(q), &t);
	CHECK(!sennit_ticket_wait(&t));
	sennit_ticket_done(&t);
	sennit_ticket_queue_release(q);
	sennit_ticket_queue_release(q);
}

static void lend(void)
{
	const sennit_pool_config config = { .item_size = 64 };
	sennit_pool             *p = NULL;
	void                    *item = NULL;

	CHECK(sennit_pool_create(&p, &config) == 0);
	CHECK(sennit_pool_borrow(sennit_pool_retain(p), &item) == 0);
	sennit_pool_return(p, item);
	sennit_pool_release(p);
	sennit_pool_release(p);
}

static void show(sennit_scheduler *s)
{
	(void)s;
	ask();
	meet();
	pass_on();
	lend();
}

int main(void)
{
	return run(show);
}
