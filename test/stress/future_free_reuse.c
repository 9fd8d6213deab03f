/* SPDX-License-Identifier: Apache-2.0 */
/* future_free_reuse.c - a waiter overwrites its future as soon as its wait
 * returns. The setter must not touch it afterwards. */
#include "deadlines.h"
#include "../random.h"
#include "passing.h"

enum { SEVERAL = 3 };

struct cell {
	sennit_future       future[SEVERAL];
	sennit_future      *list[SEVERAL];
	sennit_continuation c;
	atomic_uint         sequels;
	atomic_uint         order; /* 1 + index of the future to set; 0: none */
	atomic_bool         over;
	unsigned            rounds;
	uint64_t            random;
};

static void serve(void *argument)
{
	struct cell *c = argument;

	while (!atomic_load(&c->over)) {
		const unsigned order = atomic_exchange(&c->order, 0);

		if (order)
			sennit_future_set(&c->future[order - 1], c);
		else
			let_others_run();
	}
}

static void count_sequel(void *argument, void *value, int error)
{
	struct cell *c = argument;

	EXPECT(value == c && error == 0);
	atomic_fetch_add(&c->sequels, 1);
}

/* Overwrite, pause, check. */
static void reuse(struct cell *c)
{
	const volatile unsigned char *bytes = (void *)c->future;
	unsigned                      pauses = random_below(&c->random, 4);
	unsigned                      i;

	memset(c->future, PATTERN, sizeof(c->future));
	while (pauses--)
		sennit_yield();
	for (i = 0; i < sizeof(c->future); i++)
		EXPECT(bytes[i] == PATTERN);
}

static void wait_in_cell(struct cell *c, unsigned which)
{
	sennit_time t = SENNIT_NEVER;
	size_t      told = which;
	void       *value = c;

	if (random_below(&c->random, 2))
		t = sennit_after(100 * SENNIT_SECOND);
	switch (random_below(&c->random, 3)) {
	case 0:
		EXPECT(sennit_future_get_until(&c->future[which], &value, t) ==
		       0);
		break;
	case 1:
		while (!sennit_future_is_set(&c->future[which]))
			let_others_run();
		break;
	default:
		EXPECT(sennit_future_wait_any_until(c->list, SEVERAL, &told,
						    t) == 0);
	}
	EXPECT(told == which && value == c);
	reuse(c);
}

static void use_once(struct cell *c)
{
	const unsigned which = random_below(&c->random, SEVERAL);
	const bool     sequel = random_below(&c->random, 2);
	const unsigned sequels = atomic_load(&c->sequels);

	memset(c->future, 0, sizeof(c->future));
	memset(&c->c, 0, sizeof(c->c));
	c->c.run = count_sequel;
	c->c.argument = c;
	if (random_below(&c->random, 2))
		c->c.flags = SENNIT_CONTINUATION_INLINE;
	if (sequel)
		sennit_future_then(&c->future[which], &c->c);
	atomic_store(&c->order, 1 + which);
	wait_in_cell(c, which);
	if (sequel)
		EXPECT_SOON(atomic_load(&c->sequels) == sequels + 1);
}

static void use_cell(void *argument)
{
	struct cell *c = argument;
	unsigned     i;

	for (i = 0; i < SEVERAL; i++)
		c->list[i] = &c->future[i];
	for (i = 0; i < c->rounds; i++)
		use_once(c);
	atomic_store(&c->over, true);
}

TEST_WITH_WORKERS(nobody_touches_a_future_that_was_waited_for)
{
	struct cell cells[PAIRS];
	void       *each[PAIRS];
	unsigned    i;

	memset(cells, 0, sizeof(cells));
	for (i = 0; i < PAIRS; i++) {
		cells[i].random = random_stream(i);
		cells[i].rounds = (unsigned)scaled(500);
		each[i] = &cells[i];
	}
	run_pairs(w->s, serve, use_cell, each);
}
