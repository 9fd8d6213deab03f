/* SPDX-License-Identifier: Apache-2.0 */
/* wait_free_reuse.c - the object of a wait is overwritten and reused as soon as
 * the wait returns. A signaller that still accesses it causes a changed
 * pattern, a lost wake or a sanitizer's report. */
#include "../api/with_workers.h"
#include "../random.h"
#include "passing.h"

/* A cell is an event, then a wait group, and so on. */
union thing {
	sennit_event      event;
	sennit_wait_group group;
	unsigned char     bytes[64];
};

struct cell {
	union thing thing;
	atomic_uint kind; /* kind of the object to signal */
	atomic_bool over;
	unsigned    rounds;
	uint64_t    random;
};

enum { NOTHING, EVENT, GROUP };

static void signal_cell(struct cell *c, unsigned kind)
{
	if (kind == EVENT)
		sennit_event_set(&c->thing.event);
	else
		sennit_wait_group_done(&c->thing.group);
}

static void serve(void *argument)
{
	struct cell *c = argument;

	while (!atomic_load(&c->over)) {
		const unsigned kind = atomic_exchange(&c->kind, NOTHING);

		if (kind)
			signal_cell(c, kind);
		else
			sennit_yield();
	}
}

/* Overwrite, pause, check. */
static void reuse(struct cell *c)
{
	const volatile unsigned char *bytes = c->thing.bytes;
	unsigned                      pauses = random_below(&c->random, 4);
	unsigned                      i;

	memset(&c->thing, PATTERN, sizeof(c->thing));
	while (pauses--)
		sennit_yield();
	for (i = 0; i < sizeof(c->thing); i++)
		EXPECT(bytes[i] == PATTERN);
}

static void wait_in_cell(struct cell *c, unsigned kind)
{
	sennit_time t = SENNIT_NEVER;

	if (random_below(&c->random, 2))
		t = sennit_after(100 * SENNIT_SECOND);
	memset(&c->thing, 0, sizeof(c->thing));
	if (kind == EVENT) {
		sennit_event_init(&c->thing.event,
				  random_below(&c->random, 2)
					  ? SENNIT_EVENT_AUTO
					  : SENNIT_EVENT_MANUAL,
				  false);
		atomic_store(&c->kind, kind);
		EXPECT(sennit_event_wait_until(&c->thing.event, t) == 0);
	} else {
		sennit_wait_group_init(&c->thing.group, 1);
		atomic_store(&c->kind, kind);
		EXPECT(sennit_wait_group_wait_until(&c->thing.group, t) == 0);
	}
	reuse(c);
}

static void use_cell(void *argument)
{
	struct cell *c = argument;
	unsigned     i;

	for (i = 0; i < c->rounds; i++)
		wait_in_cell(c, i % 2 ? EVENT : GROUP);
	atomic_store(&c->over, true);
}

TEST_WITH_WORKERS(nobody_touches_what_was_waited_for)
{
	struct cell cells[PAIRS];
	void       *each[PAIRS];
	unsigned    i;

	memset(cells, 0, sizeof(cells));
	for (i = 0; i < PAIRS; i++) {
		cells[i].random = random_stream(i);
		cells[i].rounds = (unsigned)scaled(200);
		each[i] = &cells[i];
	}
	run_pairs(w->s, serve, use_cell, each);
}

/* --- a mutex that passes from owner to owner; the last one reuses it ---- */

struct passed {
	sennit_mutex lock;
	unsigned     owners; /* under lock */
};

static void leave(void *passed)
{
	struct passed *p = passed;
	unsigned       left;

	sennit_mutex_lock(&p->lock);
	left = --p->owners;
	sennit_mutex_unlock(&p->lock);
	if (!left)
		scrap(p, sizeof(*p));
}

static void *make_passed(void)
{
	struct passed *p = calloc(1, sizeof(*p));

	sennit_mutex_init(&p->lock);
	p->owners = 2;
	return p;
}

TEST_WITH_WORKERS(nobody_touches_a_mutex_that_was_handed_on)
{
	struct passing g = { .make = make_passed,
			     .leave = leave,
			     .rounds = (unsigned)scaled(LOAD(4000)) };

	pass_around(&g, w->s);
}
