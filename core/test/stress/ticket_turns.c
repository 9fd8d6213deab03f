/* SPDX-License-Identifier: Apache-2.0 */
/* ticket_turns.c - tickets are taken, waited for with deadlines, called, and
 * done in turn and out of turn from everywhere at once. Each is freed as soon
 * as it is done, and its last owner frees a queue. Those done in turn must be
 * done in the order in which they were taken. */
#include "testing/crowd.h"
#include "testing/random.h"

/* A task that takes a ticket also draws a number, under a lock that gives both
 * the same order. So turns must come in the order of the numbers. */
struct office {
	sennit_ticket_queue q;
	sennit_mutex        door;   /* gives numbers and tickets the same
				     * order */
	uint64_t            number; /* under door */
	uint64_t            last;   /* in turn: the last number served */
	uint64_t            served; /* in turn */
	atomic_ullong       expected;
	sennit_wait_group   called; /* calls that have not been made */
	atomic_uint         next;
	unsigned            rounds;
};

struct client {
	sennit_ticket  t;
	struct office *o;
	uint64_t       number;
	bool           returns;
};

static struct client *let_in(struct office *o)
{
	struct client *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	c->o = o;
	sennit_mutex_lock(&o->door);
	c->number = ++o->number;
	sennit_ticket_queue_take(&o->q, &c->t);
	sennit_mutex_unlock(&o->door);
	return c;
}

static void leave(struct client *c)
{
	sennit_ticket_done(&c->t);
	memset(c, 0xa5, sizeof(*c));
	free(c);
}

/* In turn: no one else is served. */
static void serve(struct client *c)
{
	struct office *o = c->o;

	EXPECT(sennit_ticket_is_due(&c->t));
	EXPECT(o->last < c->number);
	o->last = c->number;
	o->served++;
	leave(c);
}

static void serve_called(void *argument)
{
	struct client *c = argument;
	struct office *o = c->o;

	serve(c);
	sennit_wait_group_done(&o->called);
}

/* Wait with deadlines until it is due, or give up. */
static void wait_or_give_up(struct client *c, uint64_t *random)
{
	unsigned tries = random_below(random, 8);

	while (sennit_ticket_wait_until(
		&c->t, sennit_after(random_below(random, 50000))))
		if (!tries--) {
			leave(c);
			return;
		}
	atomic_fetch_add(&c->o->expected, 1);
	serve(c);
}

static void have_it_called(struct client *c)
{
	struct office *o = c->o;

	atomic_fetch_add(&o->expected, 1);
	sennit_wait_group_add(&o->called, 1);
	EXPECT(sennit_ticket_on_call(&c->t, serve_called, c) == 0);
}

static void visit(struct office *o, uint64_t *random)
{
	struct client *c = let_in(o);

	switch (random_below(random, sennit_scheduler_current() ? 4 : 3)) {
	case 0:
		wait_or_give_up(c, random);
		break;
	case 1:
		EXPECT(!sennit_ticket_wait(&c->t));
		atomic_fetch_add(&o->expected, 1);
		serve(c);
		break;
	case 2:
		leave(c);
		break;
	default:
		have_it_called(c);
	}
}

/* A row of five tickets, done in any order. */
static void visit_in_a_row(struct office *o, uint64_t *random)
{
	sennit_ticket t[5];
	unsigned      i, first = random_below(random, 5);

	sennit_ticket_queue_take_many(&o->q, t, 5);
	for (i = 0; i < 5; i++) {
		sennit_ticket *mine = &t[(first + i) % 5];

		if (!first)
			EXPECT(!sennit_ticket_wait(mine));
		sennit_ticket_done(mine);
	}
	memset(t, 0xa5, sizeof(t));
}

static void visit_often(void *argument)
{
	struct office *o = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&o->next, 1));

	for (unsigned i = 0; i < o->rounds; i++) {
		if (random_below(&random, 5))
			visit(o, &random);
		else
			visit_in_a_row(o, &random);
		if (!random_below(&random, 16))
			sennit_yield();
	}
}

static struct office office;

TEST_WITH_WORKERS(turns_come_in_order_whatever_happens)
{
	memset(&office, 0, sizeof(office));
	office.rounds = (unsigned)scaled(TORTURED(1000, LOAD(6000)));
	run_crowd((struct crowd){ .s = w->s,
				  .run = visit_often,
				  .argument = &office,
				  .tasks = 12,
				  .bound = 1,
				  .unbound = 2 });
	sennit_wait_group_wait(&office.called);
	assert_true(office.served == atomic_load(&office.expected));
	sennit_ticket_queue_destroy(&office.q);
	sennit_mutex_destroy(&office.door);
}

/* --- tickets and a queue that waiters free ------------------------------ */

struct last {
	sennit_ticket_queue q;
	sennit_ticket       first;
	sennit_ticket      *second;
	bool                skipped; /* the other side marks the second one as
				      * done */
};

static void wait_for_second(void *argument)
{
	struct last *l = argument;

	EXPECT(!sennit_ticket_wait(l->second));
	if (!l->skipped)
		sennit_ticket_done(l->second);
	memset(l->second, 0xa5, sizeof(*l->second));
	free(l->second);
	if (!l->skipped) {
		sennit_ticket_queue_destroy(&l->q);
		memset(l, 0xa5, sizeof(*l));
		free(l);
	}
}

static void round_of(unsigned i)
{
	struct last   *l = calloc(1, sizeof(*l));
	sennit_ticket *second = malloc(sizeof(*second));
	const bool     skipped = i % 2, thread = i % 8 < 2;
	struct crowd   c = { .run = wait_for_second,
			     .argument = l,
			     .tasks = !thread,
			     .unbound = thread };

	*l = (struct last){ .second = second, .skipped = skipped };
	sennit_ticket_queue_take(&l->q, &l->first);
	sennit_ticket_queue_take(&l->q, second);
	gather(&c);
	if (i % 3)
		sennit_yield();
	sennit_ticket_done(skipped ? second : &l->first);
	disperse(&c);
	if (!skipped)
		return;
	sennit_ticket_done(&l->first);
	free(l);
}

TEST_WITH_WORKERS(nobody_touches_what_was_freed)
{
	const unsigned rounds = (unsigned)scaled(LOAD(4000));

	for (unsigned i = 0; i < rounds; i++)
		round_of(i);
}
