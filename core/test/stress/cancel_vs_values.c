/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_vs_values.c - members send, receive, select, take permits and borrow
 * by the calls without a deadline, until a cancel or the group's deadline ends
 * them. No value, permit, item or token may be lost or double. */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "deadlines.h"

#include <errno.h>

enum { MEMBERS = 12, PERMITS = 3, ITEMS = 2, PLACES = 2 };

/* The channels: a rendezvous, and one with places. */
struct bazaar {
	struct world    *w;
	sennit_group     g;
	sennit_channel   bare, stored;
	uint64_t         places[PLACES];
	sennit_semaphore permits;
	sennit_pool      pool;
	sennit_event     token, never;
	atomic_ullong    sent, received; /* sums */
	atomic_uint      holders, streams;
};

static int send(struct bazaar *b, uint64_t *random)
{
	const uint64_t  value = 1 + random_below(random, 1000);
	sennit_channel *c = random_below(random, 2) ? &b->bare : &b->stored;
	int             err = sennit_channel_send(c, &value);

	if (!err)
		atomic_fetch_add(&b->sent, value);
	return err;
}

static int receive(struct bazaar *b, uint64_t *random)
{
	sennit_channel *c = random_below(random, 2) ? &b->bare : &b->stored;
	uint64_t        value = 0;
	int             err = sennit_channel_receive(c, &value);

	EXPECT(!err == !!value);
	if (!err)
		atomic_fetch_add(&b->received, value);
	return err;
}

static int select_one(struct bazaar *b, uint64_t *random)
{
	const uint64_t out = 1 + random_below(random, 1000);
	uint64_t       in = 0;
	sennit_case    cases[] = {
		   sennit_case_send(&b->bare, &out),
		   sennit_case_receive(&b->bare, &in),
		   sennit_case_send(&b->stored, &out),
		   sennit_case_receive(&b->stored, &in),
		   sennit_case_event(&b->never),
	};
	size_t which = 0;
	int    err = sennit_select(cases, 5, &which);

	EXPECT(which < 4);
	if (err)
		return err;
	EXPECT(!cases[which].result);
	if (which % 2)
		atomic_fetch_add(&b->received, in);
	else
		atomic_fetch_add(&b->sent, out);
	return 0;
}

static int take_permits(struct bazaar *b, uint64_t *random)
{
	const uint32_t n = 1 + random_below(random, PERMITS);
	int            err = sennit_semaphore_acquire(&b->permits, n);

	if (err)
		return err;
	sennit_yield();
	sennit_semaphore_release(&b->permits, n);
	return 0;
}

static int borrow(struct bazaar *b)
{
	uint32_t *item = NULL;
	int       err = sennit_pool_borrow(&b->pool, (void **)&item);

	EXPECT(!err == !!item);
	if (err)
		return err;
	EXPECT(++*item == 1);
	sennit_yield();
	--*item;
	sennit_pool_return(&b->pool, item);
	return 0;
}

static int pass_token(struct bazaar *b, uint64_t *random)
{
	sennit_event *const both[] = { &b->never, &b->token };
	size_t              which = 0;
	int                 err;

	if (random_below(random, 2)) {
		err = sennit_event_wait(&b->token);
	} else {
		err = sennit_event_wait_any(both, 2, &which);
		EXPECT(err || which == 1);
	}
	if (err)
		return err;
	EXPECT(!atomic_fetch_add(&b->holders, 1));
	sennit_yield();
	atomic_fetch_sub(&b->holders, 1);
	sennit_event_set(&b->token);
	return 0;
}

static int act(struct bazaar *b, uint64_t *random)
{
	switch (random_below(random, 7)) {
	case 0:
		return send(b, random);
	case 1:
		return receive(b, random);
	case 2:
	case 3:
		return select_one(b, random);
	case 4:
		return take_permits(b, random);
	case 5:
		return borrow(b);
	default:
		return pass_token(b, random);
	}
}

static int visit(void *argument)
{
	struct bazaar *b = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&b->streams, 1));
	int            err = 0;

	while (!err) {
		err = act(b, &random);
		if (!err)
			err = sennit_check_cancelled();
	}
	EXPECT(err == -ETIMEDOUT || err == -ECANCELED);
	return err;
}

static int visit_in_a_group(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 2; i++)
		if (sennit_group_spawn(&g, visit, argument))
			break;
	return sennit_group_wait(&g);
}

/* As a member it knows that the group has not ended. */
static int close_later(void *argument)
{
	struct bazaar *b = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&b->streams, 1));
	int            err;

	err = sennit_sleep(random_below(&random, 300) * SENNIT_MICROSECOND);
	sennit_group_cancel(&b->g);
	return err;
}

/* What is in the channel counts as received. */
static void clear(struct bazaar *b)
{
	uint64_t value;
	void    *item[ITEMS];

	while (!sennit_channel_receive_until(&b->stored, &value, 0))
		atomic_fetch_add(&b->received, value);
	EXPECT(sennit_channel_receive_until(&b->bare, &value, 0) == -ETIMEDOUT);
	EXPECT(atomic_load(&b->sent) == atomic_load(&b->received));
	EXPECT(sennit_semaphore_count(&b->permits) == PERMITS);
	for (int i = 0; i < ITEMS; i++)
		EXPECT(!sennit_pool_borrow_until(&b->pool, &item[i], 0));
	for (int i = 0; i < ITEMS; i++)
		sennit_pool_return(&b->pool, item[i]);
	EXPECT(!sennit_event_wait_until(&b->token, 0));
	EXPECT(sennit_event_wait_until(&b->token, 0) == -ETIMEDOUT);
	sennit_event_set(&b->token);
}

static void open_bazaar(struct bazaar *b, uint64_t *random)
{
	const bool        ends = random_below(random, 2);
	const sennit_time end = sennit_after(random_below(random, 300000));

	sennit_group_init_on(&b->g, b->w->s, ends ? end : SENNIT_NEVER, 0);
	for (int i = 0; i < MEMBERS; i++)
		(void)!sennit_group_spawn(&b->g,
					  i % 4 ? visit : visit_in_a_group, b);
	if (!ends)
		EXPECT(!sennit_group_spawn(&b->g, close_later, b));
	EXPECT(sennit_group_wait(&b->g) < 0);
	clear(b);
}

TEST_WITH_WORKERS(no_value_is_lost)
{
	const sennit_pool_config items = { .size = sizeof(items),
					   .item_size = sizeof(uint32_t),
					   .count = ITEMS };
	const sennit_channel     bare = SENNIT_CHANNEL_INIT(sizeof(uint64_t));
	struct bazaar            b = { .w = w, .bare = bare };
	const sennit_channel     stored = SENNIT_CHANNEL_INIT_ARRAY(b.places);
	uint64_t                 random = random_stream(2000000);
	void                    *item[ITEMS];

	b.stored = stored;
	sennit_semaphore_init(&b.permits, PERMITS);
	sennit_event_init(&b.token, SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	assert_int_equal(sennit_pool_init(&b.pool, &items), 0);
	for (int i = 0; i < ITEMS; i++) {
		assert_int_equal(sennit_pool_borrow(&b.pool, &item[i]), 0);
		*(uint32_t *)item[i] = 0;
	}
	for (int i = 0; i < ITEMS; i++)
		sennit_pool_return(&b.pool, item[i]);
	for (unsigned i = 0; i < scaled(LOAD(600)); i++)
		open_bazaar(&b, &random);
	sennit_channel_destroy(&b.bare);
	sennit_channel_destroy(&b.stored);
	sennit_semaphore_destroy(&b.permits);
	sennit_event_destroy(&b.token);
	sennit_pool_destroy(&b.pool);
}
