/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - scenes with notifications: one event and several, tickets,
 * futures, loans of a pool. */
#include "soak.h"

enum { ROUNDS = 12 };

/* --- auto events as tokens: one, any of several, two at once ------------ */

enum { TOKENS = 4 };

struct tokens {
	sennit_event  set[TOKENS];
	sennit_event *all[TOKENS];
	atomic_uint   holders[TOKENS];
};

static void hold(struct tokens *t, size_t i, uint64_t *random)
{
	book_in(events, 1);
	CLAIM(!atomic_fetch_add(&t->holders[i], 1));
	if (random_below(random, 2))
		sennit_yield();
	atomic_fetch_sub(&t->holders[i], 1);
	book_out(events, 1);
	sennit_event_set(&t->set[i]);
}

static void take_two(struct tokens *t, uint64_t *random)
{
	const size_t  i = random_below(random, TOKENS);
	const size_t  j = (i + 1) % TOKENS;
	sennit_event *two[] = { &t->set[i], &t->set[j] };

	if (!went_well(
		    sennit_event_wait_all_until(two, 2, some_deadline(random))))
		return;
	hold(t, i, random);
	hold(t, j, random);
}

static void take_tokens(void *shared, uint64_t *random)
{
	struct tokens *t = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t which = random_below(random, TOKENS);

		switch (random_below(random, 3)) {
		case 0:
			if (went_well(sennit_event_wait_until(
				    &t->set[which], some_deadline(random))))
				hold(t, which, random);
			break;
		case 1:
			if (went_well(sennit_event_wait_any_until(
				    t->all, TOKENS, &which,
				    some_deadline(random))))
				hold(t, which, random);
			break;
		default:
			take_two(t, random);
		}
	}
}

void scene_events(uint64_t *random)
{
	struct tokens t;

	for (unsigned i = 0; i < TOKENS; i++) {
		sennit_event_init(&t.set[i],
				  SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
		t.all[i] = &t.set[i];
		atomic_init(&t.holders[i], 0);
	}
	play_parts(take_tokens, &t, 2 + random_below(random, 6), random);
	for (unsigned i = 0; i < TOKENS; i++) {
		CLAIM(sennit_event_is_set(&t.set[i]));
		sennit_event_destroy(&t.set[i]);
	}
}

/* --- turns -------------------------------------------------------------- */

struct line {
	sennit_ticket_queue queue;
	uint64_t            served; /* written by the task whose ticket is
				     * due */
};

static void serve(struct line *l)
{
	l->served++;
	book_out(turns, 1);
}

struct called {
	struct line      *line;
	sennit_ticket     ticket;
	sennit_wait_group done;
};

static void be_called(void *argument)
{
	struct called *c = argument;

	serve(c->line);
	sennit_ticket_done(&c->ticket);
	sennit_wait_group_done(&c->done);
}

static void take_turns(void *shared, uint64_t *random)
{
	struct line  *l = shared;
	struct called c = { .line = l };

	for (unsigned i = 0; i < ROUNDS; i++) {
		book_in(turns, 1);
		sennit_ticket_queue_take(&l->queue, &c.ticket);
		if (!random_below(random, 4)) {
			sennit_wait_group_init(&c.done, 1);
			if (sennit_ticket_on_call(&c.ticket, be_called, &c))
				abort();
			sennit_wait_group_wait(&c.done);
			continue;
		}
		if (!went_well(sennit_ticket_wait_until(&c.ticket,
							some_deadline(random))))
			if (sennit_ticket_wait_until(&c.ticket,
						     SENNIT_UNCANCELLED))
				abort();
		serve(l);
		if (random_below(random, 2))
			sennit_yield();
		sennit_ticket_done(&c.ticket);
	}
}

void scene_tickets(uint64_t *random)
{
	const uint32_t n = 1 + random_below(random, 8);
	struct line    l = { .served = 0 };

	play_parts(take_turns, &l, n, random);
	CLAIM(l.served == n * ROUNDS);
	sennit_ticket_queue_destroy(&l.queue);
}

/* --- loans -------------------------------------------------------------- */

struct tool {
	atomic_uint holders;
	bool        clean;
};

static int make_tool(void *unused, void *item)
{
	struct tool *t = item;

	(void)unused;
	atomic_init(&t->holders, 0);
	t->clean = true;
	return 0;
}

static void borrow(void *shared, uint64_t *random)
{
	sennit_pool *p = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		void        *item;
		struct tool *t;

		if (!went_well(sennit_pool_borrow_until(p, &item,
							some_deadline(random))))
			continue;
		t = item;
		book_in(loans, 1);
		CLAIM(!atomic_fetch_add(&t->holders, 1) && t->clean);
		t->clean = false;
		if (random_below(random, 2))
			sennit_yield();
		t->clean = true;
		atomic_fetch_sub(&t->holders, 1);
		book_out(loans, 1);
		sennit_pool_return(p, item);
	}
}

void scene_pool(uint64_t *random)
{
	const sennit_pool_config config = {
		.size = sizeof(config),
		.item_size = sizeof(struct tool),
		.count = random_below(random, 4),
		.policy = random_below(random, 2),
		.construct = make_tool,
	};
	sennit_pool p;

	if (sennit_pool_init(&p, &config))
		abort();
	play_parts(borrow, &p, 2 + random_below(random, 6), random);
	sennit_pool_destroy(&p);
}

/* --- futures ------------------------------------------------------------ */

enum { FUTURES = 4 };

struct outcomes {
	sennit_future       each[FUTURES];
	sennit_continuation then[FUTURES];
	sennit_future      *all[FUTURES];
	sennit_wait_group   then_done;
};

static int find_out(void *argument, void **value)
{
	if ((uintptr_t)argument % 2)
		sennit_yield();
	*value = argument;
	book_out(futures, 1);
	return (uintptr_t)argument % 4 == 3 ? -EIO : 0;
}

static void go_on(void *argument, void *value, int error)
{
	struct outcomes *o = argument;

	CLAIM(error ? error == -EIO && !value : value != NULL);
	book_out(continuations, 1);
	sennit_wait_group_done(&o->then_done);
}

static void look_at(void *shared, uint64_t *random)
{
	struct outcomes *o = shared;
	size_t           which = 0;
	void            *value;
	int              err;

	if (went_well(sennit_future_wait_any_until(o->all, FUTURES, &which,
						   some_deadline(random))))
		CLAIM(sennit_future_is_set(o->all[which]));
	err = sennit_future_get_until(o->all[which], &value,
				      SENNIT_UNCANCELLED);
	CLAIM(!err ? value == (void *)(which + 4) : err == -EIO);
	if (went_well(sennit_future_wait_all_until(o->all, FUTURES,
						   some_deadline(random))))
		for (unsigned i = 0; i < FUTURES; i++)
			CLAIM(sennit_future_is_set(o->all[i]));
}

void scene_futures(uint64_t *random)
{
	struct outcomes o;
	bool            early[FUTURES];

	memset(&o, 0, sizeof(o));
	sennit_wait_group_init(&o.then_done, FUTURES);
	book_in(futures, FUTURES);
	book_in(continuations, FUTURES);
	for (uintptr_t i = 0; i < FUTURES; i++) {
		o.all[i] = &o.each[i];
		o.then[i].run = go_on;
		o.then[i].argument = &o;
		o.then[i].flags = random_below(random, 2)
					  ? SENNIT_CONTINUATION_INLINE
					  : 0;
		early[i] = random_below(random, 2);
		if (early[i])
			sennit_future_then(&o.each[i], &o.then[i]);
		if (sennit_future_spawn(&o.each[i], find_out, (void *)(i + 4)))
			abort();
	}
	play_parts(look_at, &o, 1 + random_below(random, 4), random);
	for (unsigned i = 0; i < FUTURES; i++)
		if (!early[i])
			sennit_future_then(&o.each[i], &o.then[i]);
	sennit_wait_group_wait(&o.then_done);
	if (sennit_future_wait_all_until(o.all, FUTURES, SENNIT_UNCANCELLED))
		abort();
}
