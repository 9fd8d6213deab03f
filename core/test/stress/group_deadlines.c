/* SPDX-License-Identifier: Apache-2.0 */
/* group_deadlines.c - deadlines of groups are brought forward, and openers give
 * up their waits, while members are signalled, cancelled, time out and end. */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "deadlines.h"

#include <errno.h>

enum { MEMBERS = 10 };

struct fair {
	struct world  *w;
	sennit_group   g;
	sennit_event   token; /* auto, passed on */
	sennit_channel values;
	atomic_ullong  sent, received;
	atomic_uint    streams, ended;
	unsigned       spawned;
};

static int pass_token(struct fair *f, sennit_time t)
{
	int err = sennit_event_wait_until(&f->token, t);

	if (!err)
		sennit_event_set(&f->token);
	return err;
}

static int trade(struct fair *f, uint64_t *random, sennit_time t)
{
	uint64_t value = 1 + random_below(random, 100);
	int      err;

	if (random_below(random, 2)) {
		err = sennit_channel_send_until(&f->values, &value, t);
		if (!err)
			atomic_fetch_add(&f->sent, value);
	} else {
		err = sennit_channel_receive_until(&f->values, &value, t);
		if (!err)
			atomic_fetch_add(&f->received, value);
	}
	return err;
}

static int act(struct fair *f, uint64_t *random)
{
	const sennit_time t = soon_or_never(random);

	switch (random_below(random, 4)) {
	case 0:
		return pass_token(f, t);
	case 1:
		return t == SENNIT_NEVER ? sennit_sleep(SENNIT_SECOND)
					 : sennit_sleep_until(t);
	default:
		return trade(f, random, t);
	}
}

/* Until the group says so. The waits' own deadlines end them, too. */
static int visit(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->streams, 1));
	int          err;

	while (!(err = sennit_check_cancelled())) {
		err = act(f, &random);
		EXPECT(!err || err == -ETIMEDOUT || err == -ECANCELED);
	}
	atomic_fetch_add(&f->ended, 1);
	return err;
}

static int visit_briefly(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->streams, 1));

	for (unsigned i = random_below(&random, 4); i; i--)
		(void)!act(f, &random);
	atomic_fetch_add(&f->ended, 1);
	return 0;
}

/* The opener of this group brings its deadline forward, or waits until it. */
static int visit_in_a_group(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->streams, 1));
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	for (int i = 0; i < 2; i++)
		if (sennit_group_spawn(&g, visit, f))
			atomic_fetch_add(&f->ended, 1);
	(void)!sennit_group_wait_until(&g, soon(&random));
	if (random_below(&random, 2))
		sennit_group_set_deadline(&g, soon_or_never(&random));
	else if (random_below(&random, 2))
		return sennit_group_drain(&g, soon(&random));
	return sennit_group_wait(&g);
}

/* As a member it knows that the group has not ended. */
static int hurry(void *argument)
{
	struct fair *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->streams, 1));

	for (int i = 0; i < 3; i++) {
		sennit_group_set_deadline(
			&f->g, sennit_after(random_below(&random, 400) *
					    SENNIT_MICROSECOND));
		(void)!sennit_sleep(random_below(&random, 50) *
				    SENNIT_MICROSECOND);
	}
	return 0;
}

static void spawn_some(struct fair *f, uint64_t *random)
{
	for (unsigned i = random_below(random, MEMBERS); i; i--) {
		const bool nests = !random_below(random, 3);

		if (sennit_group_spawn(&f->g,
				       nests ? visit_in_a_group
				       : random_below(random, 2)
					       ? visit
					       : visit_briefly,
				       f))
			return;
		f->spawned += 1 + nests;
	}
}

static void hold_fair(struct fair *f, uint64_t *random)
{
	uint64_t value;
	int      err;

	sennit_group_init_on(&f->g, f->w->s, SENNIT_NEVER,
			     SENNIT_GROUP_KEEP_GOING);
	f->spawned = 0;
	atomic_store(&f->ended, 0);
	for (int i = 0; i < 4; i++) {
		spawn_some(f, random);
		err = sennit_group_wait_until(&f->g, soon(random));
		EXPECT(!err || err == -ETIMEDOUT);
		EXPECT(err || atomic_load(&f->ended) == f->spawned);
		EXPECT(err || !sennit_group_members(&f->g));
	}
	if (random_below(random, 2))
		EXPECT(!sennit_group_spawn(&f->g, hurry, f));
	else
		sennit_group_set_deadline(&f->g, soon(random));
	(void)!sennit_group_wait_until(&f->g, soon(random));
	err = random_below(random, 2) ? sennit_group_drain(&f->g, soon(random))
				      : sennit_group_wait(&f->g);
	EXPECT(!err || err == -ETIMEDOUT || err == -ECANCELED);
	EXPECT(atomic_load(&f->ended) == f->spawned);
	EXPECT(sennit_channel_receive_until(&f->values, &value, 0) ==
	       -ETIMEDOUT);
	EXPECT(atomic_load(&f->sent) == atomic_load(&f->received));
	EXPECT(sennit_event_is_set(&f->token));
}

static void hold_fairs(void *argument)
{
	struct world        *w = argument;
	const sennit_channel values = SENNIT_CHANNEL_INIT(sizeof(uint64_t));
	struct fair          f = { .w = w, .values = values };
	uint64_t             random = random_stream(3000000);

	sennit_event_init(&f.token, SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	for (unsigned i = 0; i < scaled(LOAD(600)); i++)
		hold_fair(&f, &random);
	sennit_channel_destroy(&f.values);
	sennit_event_destroy(&f.token);
}

TEST_WITH_WORKERS(nothing_is_lost_and_all_end)
{
	hold_fairs(w);
}

TEST_WITH_WORKERS(nor_with_an_opener_in_a_task)
{
	in_a_task(hold_fairs, w);
}

TEST_WITH_THREADS(nor_with_an_unbound_opener)
{
	in_a_thread(hold_fairs, w);
}
