/* SPDX-License-Identifier: Apache-2.0 */
/* select_waiters.c - a select that waits: what ends it, reports of it,
 * selects that serve each other, deadlines, and who may free its channels. */
#include "crowd.h"
#include "with_workers.h"

#include <errno.h>

enum { MANY = SENNIT_SELECT_MAX };

/* --- a select that waits on another fiber ------------------------------- */

/* It receives from in[], sends to out[], and waits for events. */
struct scene {
	sennit_channel    in[2], out[2];
	sennit_event      manual, automatic;
	sennit_case       cases[MANY];
	size_t            count;
	sennit_time       deadline;
	sennit_wait_group done;
	atomic_uint       ended;
	int               sent[2], got[2];
	size_t            which;
	int               err, result;
};

enum { IN0, IN1, OUT0, OUT1, MANUAL, AUTO, KINDS };

static void set_scene(struct scene *c)
{
	unsigned i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < 2; i++) {
		c->in[i] = (sennit_channel)SENNIT_CHANNEL_INIT(sizeof(int));
		c->out[i] = c->in[i];
		c->sent[i] = 10 + (int)i;
		c->cases[IN0 + i] = sennit_case_receive(&c->in[i], &c->got[i]);
		c->cases[OUT0 + i] = sennit_case_send(&c->out[i], &c->sent[i]);
	}
	sennit_event_init(&c->automatic, SENNIT_EVENT_AUTO, false);
	c->cases[MANUAL] = sennit_case_event(&c->manual);
	c->cases[AUTO] = sennit_case_event(&c->automatic);
	c->count = KINDS;
	c->deadline = SENNIT_NEVER;
	sennit_wait_group_init(&c->done, 1);
}

static void select_in_scene(void *argument)
{
	struct scene *c = argument;

	c->err = sennit_select_until(c->cases, c->count, &c->which,
				     c->deadline);
	c->result = c->cases[c->which].result;
	atomic_fetch_add(&c->ended, 1);
	sennit_wait_group_done(&c->done);
}

static void *select_as_thread(void *argument)
{
	select_in_scene(argument);
	return NULL;
}

/* Make one case of the scene possible, from outside. */
static void act(struct scene *c, unsigned kind)
{
	int v = 40;

	switch (kind) {
	case IN0:
	case IN1:
		assert_int_equal(sennit_channel_send(&c->in[kind - IN0], &v),
				 0);
		break;
	case OUT0:
	case OUT1:
		assert_int_equal(
			sennit_channel_receive(&c->out[kind - OUT0], &v), 0);
		assert_int_equal(v, 10 + kind - OUT0);
		break;
	case MANUAL:
		sennit_event_set(&c->manual);
		break;
	default:
		sennit_event_set(&c->automatic);
	}
}

/* No waiter is left in any queue, and only `kind` has happened. */
static void check_scene(struct scene *c, unsigned kind)
{
	unsigned i;

	assert_int_equal(c->err, 0);
	assert_int_equal(c->result, 0);
	assert_int_equal(c->which, kind);
	for (i = 0; i < 2; i++) {
		assert_int_equal(c->got[i], kind == IN0 + i ? 40 : 0);
		sennit_channel_destroy(&c->in[i]);
		sennit_channel_destroy(&c->out[i]);
	}
	sennit_event_destroy(&c->manual);
	sennit_event_destroy(&c->automatic);
	assert_false(sennit_event_is_set(&c->automatic));
}

TEST_WITH_WORKERS(each_case_ends_a_wait)
{
	struct scene c;
	pthread_t    t;
	unsigned     kind, where;

	for (kind = 0; kind < KINDS; kind++) {
		for (where = 0; where < 2; where++) {
			set_scene(&c);
			if (where)
				t = must_start_thread(select_as_thread, &c);
			else
				must_schedule(select_in_scene, &c);
			if (kind % 2) /* sometimes it already waits */
				sennit_yield();
			act(&c, kind);
			sennit_wait_group_wait(&c.done);
			if (where)
				pthread_join(t, NULL);
			check_scene(&c, kind);
		}
	}
}

TEST_WITH_WORKERS(closing_ends_a_wait)
{
	struct scene c;
	unsigned     kind;

	for (kind = IN0; kind <= OUT1; kind++) {
		set_scene(&c);
		must_schedule(select_in_scene, &c);
		assert_soon(fibers_of(w->s) == 1);
		sennit_channel_close(kind < OUT0 ? &c.in[kind - IN0]
						 : &c.out[kind - OUT0]);
		sennit_wait_group_wait(&c.done);
		assert_int_equal(c.which, kind);
		assert_int_equal(c.err, 0);
		assert_int_equal(c.result, -EPIPE);
	}
}

/* One of 64 cases becomes possible; the other 63 do not happen. */
TEST_WITH_WORKERS(it_waits_for_as_many_as_it_may)
{
	struct scene c;
	sennit_event e[MANY];
	unsigned     i, k;

	for (k = 0; k < 4; k++) {
		set_scene(&c);
		c.count = MANY;
		for (i = 0; i < MANY; i++) {
			sennit_event_init(&e[i], SENNIT_EVENT_AUTO, false);
			c.cases[i] = sennit_case_event(&e[MANY - 1 - i]);
		}
		must_schedule(select_in_scene, &c);
		assert_soon(fibers_of(w->s) == 1);
		sennit_event_set(&e[21 * k]);
		sennit_wait_group_wait(&c.done);
		assert_int_equal(c.which, MANY - 1 - 21 * k);
		for (i = 0; i < MANY; i++)
			sennit_event_destroy(&e[i]);
	}
}

/* It offers to send and to receive on one channel, but must not serve
 * itself. */
TEST_WITH_WORKERS(both_ways_on_one_channel)
{
	struct scene c;
	int          v;
	unsigned     way;

	for (way = 0; way < 2; way++) {
		set_scene(&c);
		c.cases[0] = sennit_case_send(&c.in[0], &c.sent[0]);
		c.cases[1] = sennit_case_receive(&c.in[0], &c.got[0]);
		c.cases[2] = c.cases[0];
		c.count = 3;
		must_schedule(select_in_scene, &c);
		assert_soon(fibers_of(w->s) == 1);
		assert_int_equal(atomic_load(&c.ended), 0);
		v = 41;
		if (way)
			assert_int_equal(sennit_channel_send(&c.in[0], &v), 0);
		else
			assert_int_equal(sennit_channel_receive(&c.in[0], &v),
					 0);
		sennit_wait_group_wait(&c.done);
		assert_int_equal(v, way ? 41 : 10);
		assert_int_equal(c.got[0], way ? 41 : 0);
		assert_int_equal(c.which, way);
		sennit_channel_destroy(&c.in[0]);
	}
}

/* --- reports ------------------------------------------------------------ */

static void receive_one(void *argument)
{
	struct scene *c = argument;
	int           v;

	EXPECT(sennit_channel_receive(&c->in[0], &v) == -EPIPE);
	sennit_wait_group_done(&c->done);
}

TEST_WITH_WORKERS(reports_name_the_channel_and_the_first_case)
{
	struct scene c;

	set_scene(&c);
	sennit_wait_group_init(&c.done, 2);
	c.cases[0] = c.cases[OUT0];
	must_schedule(select_in_scene, &c);
	must_schedule(receive_one, &c);
	assert_soon(said_to_be(w->s, &c.out[0]) == SENNIT_WAITS_FOR_SELECT);
	assert_soon(said_to_be(w->s, &c.in[0]) == SENNIT_WAITS_FOR_CHANNEL);
	sennit_channel_close(&c.in[0]);
	sennit_event_set(&c.manual);
	sennit_wait_group_wait(&c.done);
}

/* --- two selects -------------------------------------------------------- */

/* Each offers to send to and receive from the other over two channels. */
struct duel {
	sennit_channel    channels[2];
	sennit_wait_group done;
	atomic_uint       sent, received;
	unsigned          rounds;
};

static void duel(void *argument)
{
	struct duel *d = argument;
	unsigned     i;
	int          v = 1, got = 0;
	size_t       which;

	for (i = 0; i < d->rounds; i++) {
		sennit_case cases[] = {
			sennit_case_send(&d->channels[0], &v),
			sennit_case_receive(&d->channels[0], &got),
			sennit_case_send(&d->channels[1], &v),
			sennit_case_receive(&d->channels[1], &got),
		};

		which = (size_t)sennit_select(cases, 4);
		EXPECT(cases[which].result == 0);
		atomic_fetch_add(which % 2 ? &d->received : &d->sent, 1);
	}
	sennit_wait_group_done(&d->done);
}

static void *duel_as_thread(void *argument)
{
	duel(argument);
	return NULL;
}

TEST_WITH_WORKERS(selects_serve_each_other)
{
	struct duel d = { .channels = { SENNIT_CHANNEL_INIT(sizeof(int)),
					SENNIT_CHANNEL_INIT(sizeof(int)) },
			  .rounds = LOAD(1000) };
	pthread_t   t;

	sennit_wait_group_init(&d.done, 2);
	must_schedule(duel, &d);
	t = must_start_thread(duel_as_thread, &d);
	sennit_wait_group_wait(&d.done);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&d.sent), d.rounds);
	assert_int_equal(atomic_load(&d.received), d.rounds);
	sennit_channel_destroy(&d.channels[0]);
	sennit_channel_destroy(&d.channels[1]);
}

/* --- many selects, deadlines, freed memory ------------------------------ */

TEST_WITH_WORKERS(a_thousand_deadlines_pass)
{
	struct scene *c = calloc(LOAD(400), sizeof(*c));
	struct scene  shared;
	unsigned      i;

	set_scene(&shared);
	shared.deadline = sennit_after(3 * SENNIT_MILLISECOND);
	for (i = 0; i < LOAD(400); i++)
		c[i] = shared;
	for (i = 0; i < LOAD(400); i++)
		must_schedule(select_in_scene, &c[i]);
	for (i = 0; i < LOAD(400); i++) {
		sennit_wait_group_wait(&c[i].done);
		assert_int_equal(c[i].err, -ETIMEDOUT);
	}
	for (i = 0; i < 2; i++) {
		sennit_channel_destroy(&shared.in[i]);
		sennit_channel_destroy(&shared.out[i]);
	}
	sennit_event_destroy(&shared.manual);
	sennit_event_destroy(&shared.automatic);
	free(c);
}

/* The object that ended the wait is freed at once. The other stays. */
struct freeing {
	_Atomic(sennit_channel *) offered;
	atomic_bool               over;
	sennit_wait_group         done;
};

static void send_to_what_is_offered(void *argument)
{
	struct freeing *f = argument;
	const int       v = 6;

	while (!atomic_load(&f->over)) {
		sennit_channel *c = atomic_exchange(&f->offered, NULL);

		if (c)
			EXPECT(sennit_channel_send(c, &v) == 0);
		else
			sennit_yield();
	}
	sennit_wait_group_done(&f->done);
}

static void select_and_free(void *argument)
{
	struct freeing *f = argument;
	sennit_event    never = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	unsigned        i;

	for (i = 0; i < 100; i++) {
		sennit_channel *c = calloc(1, sizeof(*c));
		int             got = 0;
		sennit_case     cases[2];

		EXPECT(!sennit_channel_init(c, sizeof(int), i % 3, NULL));
		cases[0] = sennit_case_event(&never);
		cases[1] = sennit_case_receive(c, &got);
		atomic_store(&f->offered, c);
		EXPECT(sennit_select(cases, 2) == 1);
		EXPECT(got == 6);
		sennit_channel_destroy(c);
		free(c);
	}
	sennit_event_destroy(&never);
}

TEST_WITH_WORKERS(what_ended_a_select_may_be_freed_at_once)
{
	struct freeing f = { .offered = NULL };

	sennit_wait_group_init(&f.done, 1);
	must_schedule(send_to_what_is_offered, &f);
	in_each_place(select_and_free, &f);
	atomic_store(&f.over, true);
	sennit_wait_group_wait(&f.done);
}
