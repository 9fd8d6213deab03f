/* SPDX-License-Identifier: Apache-2.0 */
/* future_set_vs_wait.c - two setters race for each future, while others wait
 * with and without deadlines, for one or for several, poll, and attach
 * continuations. All must see the same outcome, each continuation must run
 * once, and the last one to leave overwrites and frees the future. A further
 * test: a waiter whose futures are set while it begins to wait. */
#include "testing/crowd.h"
#include "deadlines.h"
#include "testing/random.h"

#include <errno.h>

enum { FIBERS = 8, THREADS = 2, SETTERS = 2, ALL = FIBERS + THREADS + SETTERS };
enum { PATTERN = 0xa5 };

/* --- many for one future ------------------------------------------------ */

struct item {
	sennit_future future;
	atomic_uint   users;
	atomic_uint   visitors; /* visitors so far */
	atomic_uint   wins;
	atomic_int    outcome; /* as the first visitor saw it; 0: not seen
			        * yet */
};

struct fair {
	struct item **items;
	unsigned      count;
	atomic_uint   next;
	atomic_uint   attached, ran;
};

static char tokens[SETTERS];

static void leave(struct item *i)
{
	if (atomic_fetch_sub(&i->users, 1) > 1)
		return;
	EXPECT(atomic_load(&i->wins) == 1);
	EXPECT(sennit_future_is_set(&i->future));
	memset(i, PATTERN, sizeof(*i));
	free(i);
}

/* A nonzero number for a value or an error. */
static int outcome_of(const void *value, int error)
{
	return error ? error : 1 + (int)((const char *)value - tokens);
}

static void compare(struct item *i, const void *value, int error)
{
	const int mine = outcome_of(value, error);
	int       theirs = 0;

	EXPECT(!!value == !error);
	EXPECT(mine == 1 || mine == 2 || mine == -1000 || mine == -1001);
	if (!atomic_compare_exchange_strong(&i->outcome, &theirs, mine))
		EXPECT(theirs == mine);
}

struct sequel {
	sennit_continuation c;
	struct item        *item;
	struct fair        *fair;
};

static void run_sequel(void *argument, void *value, int error)
{
	struct sequel *q = argument;
	struct fair   *f = q->fair;

	compare(q->item, value, error);
	leave(q->item);
	memset(q, PATTERN, sizeof(*q));
	free(q);
	atomic_fetch_add(&f->ran, 1);
}

static void attach(struct fair *f, struct item *i, uint64_t *random)
{
	struct sequel *q = calloc(1, sizeof(*q));

	atomic_fetch_add(&i->users, 1);
	atomic_fetch_add(&f->attached, 1);
	q->item = i;
	q->fair = f;
	q->c.run = run_sequel;
	q->c.argument = q;
	if (random_below(random, 2))
		q->c.flags = SENNIT_CONTINUATION_INLINE;
	sennit_future_then(&i->future, &q->c);
}

static void get(struct item *i, sennit_time deadline)
{
	void *value = NULL;
	int   err = sennit_future_get_until(&i->future, &value, deadline);

	if (err != -ETIMEDOUT)
		compare(i, value, err);
}

/* Wait for this item and those after it, none of which this visitor has
 * left. */
static void wait_for_several(struct fair *f, unsigned at, uint64_t *random)
{
	sennit_future *list[4];
	const bool     for_ever = random_below(random, 2);
	size_t         n = 0, which = 0;

	while (n < 4 && at + n < f->count) {
		list[n] = &f->items[at + n]->future;
		n++;
	}
	if (for_ever)
		EXPECT(!sennit_future_wait_any(list, n, &which));
	else if (sennit_future_wait_any_until(list, n, &which, soon(random)))
		return;
	EXPECT(which < n && sennit_future_is_set(list[which]));
	get(f->items[at + which], 0);
}

static void visit(struct fair *f, unsigned at, uint64_t *random)
{
	struct item *i = f->items[at];

	atomic_fetch_add(&i->visitors, 1);
	switch (random_below(random, 6)) {
	case 0:
		attach(f, i, random);
		break;
	case 1:
		get(i, soon(random));
		break;
	case 2:
		get(i, SENNIT_NEVER);
		break;
	case 3:
		get(i, 0);
		break;
	default:
		wait_for_several(f, at, random);
	}
}

static void attend(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));
	unsigned     at;

	for (at = 0; at < f->count; at++) {
		visit(f, at, &random);
		leave(f->items[at]);
	}
}

/* Wait until there are waiters, and until both setters are there. All visitors
 * come, because everything they may wait for first has been set. */
static void let_some_come(struct item *i, unsigned some)
{
	while (atomic_load(&i->visitors) < some)
		let_others_run();
}

/* Never waits for a future, so all futures get set. */
static void set_all(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));
	unsigned     at;
	int          err;

	for (at = 0; at < f->count; at++) {
		struct item *i = f->items[at];
		const int    mine = (int)random_below(&random, SETTERS);

		let_some_come(i, at % (FIBERS + THREADS + 1));
		if (random_below(&random, 2))
			err = sennit_future_try_set(&i->future, &tokens[mine]);
		else
			err = sennit_future_try_set_error(&i->future,
							  -1000 - mine);
		EXPECT(err == 0 || err == -EALREADY);
		atomic_fetch_add(&i->wins, err == 0);
		leave(i);
	}
}

static void make_items(struct fair *f)
{
	f->count = (unsigned)scaled(LOAD(4000));
	f->items = calloc(f->count, sizeof(*f->items));
	for (unsigned i = 0; i < f->count; i++) {
		f->items[i] = calloc(1, sizeof(*f->items[i]));
		atomic_init(&f->items[i]->users, ALL);
	}
}

TEST_WITH_WORKERS(all_see_the_outcome_of_the_setter_that_won)
{
	struct fair  f = { .count = 0 };
	struct crowd visitors = { .run = attend,
				  .argument = &f,
				  .tasks = FIBERS,
				  .unbound = THREADS };
	struct crowd setters = { .run = set_all,
				 .argument = &f,
				 .tasks = SETTERS - 1,
				 .unbound = 1 };

	make_items(&f);
	gather(&visitors);
	gather(&setters);
	disperse(&visitors);
	disperse(&setters);
	assert_soon(atomic_load(&f.ran) == atomic_load(&f.attached));
	free(f.items);
}

/* --- set while the waiter links its parts ------------------------------- */

struct race {
	sennit_future  future[SENNIT_FUTURE_WAIT_MAX];
	sennit_future *list[SENNIT_FUTURE_WAIT_MAX];
	atomic_uint    round; /* begun by the waiter */
	atomic_uint    next, finished;
	unsigned       rounds;
};

/* Each setter sets every second future, and begins anywhere. */
static void set_round(struct race *r, unsigned mine, uint64_t *random)
{
	const unsigned first = random_below(random, SENNIT_FUTURE_WAIT_MAX);
	unsigned       delay = random_below(random, 300);

	while (delay--)
		atomic_load(&r->round);
	for (unsigned i = 0; i < SENNIT_FUTURE_WAIT_MAX; i++) {
		const unsigned at = (first + i) % SENNIT_FUTURE_WAIT_MAX;

		if (at % SETTERS == mine)
			sennit_future_set(&r->future[at], NULL);
	}
}

static void set_in_races(void *argument)
{
	struct race   *r = argument;
	const unsigned mine = atomic_fetch_add(&r->next, 1);
	uint64_t       random = random_stream(mine);

	for (unsigned i = 1; i <= r->rounds; i++) {
		while (atomic_load(&r->round) < i)
			let_others_run();
		set_round(r, mine, &random);
		atomic_fetch_add(&r->finished, 1);
	}
}

static void wait_in_races(void *argument)
{
	struct race *r = argument;
	unsigned     i, f;
	size_t       which;

	for (i = 1; i <= r->rounds; i++) {
		memset(r->future, 0, sizeof(r->future));
		atomic_store(&r->round, i);
		EXPECT(!sennit_future_wait_any(r->list, SENNIT_FUTURE_WAIT_MAX,
					       &which));
		EXPECT(which < SENNIT_FUTURE_WAIT_MAX);
		EXPECT(sennit_future_is_set(&r->future[which]));
		while (atomic_load(&r->finished) < SETTERS * i)
			let_others_run();
		for (f = 0; f < SENNIT_FUTURE_WAIT_MAX; f++)
			sennit_future_destroy(&r->future[f]);
	}
}

static void race(bool waiter_is_thread, bool setter_is_thread)
{
	struct race  r = { .next = 0 };
	struct crowd waiter = { .run = wait_in_races,
				.argument = &r,
				.tasks = !waiter_is_thread,
				.unbound = waiter_is_thread };
	struct crowd setters = { .run = set_in_races,
				 .argument = &r,
				 .tasks = SETTERS - setter_is_thread,
				 .unbound = setter_is_thread };

	r.rounds = (unsigned)scaled(LOAD(TORTURED(800, 4000)));
	for (unsigned i = 0; i < SENNIT_FUTURE_WAIT_MAX; i++)
		r.list[i] = &r.future[i];
	gather(&waiter);
	gather(&setters);
	disperse(&waiter);
	disperse(&setters);
}

TEST_WITH_SEVERAL(one_that_is_set_while_it_is_linked_is_not_missed)
{
	race(false, false);
	race(false, true);
	race(true, false);
	race(true, true);
}
