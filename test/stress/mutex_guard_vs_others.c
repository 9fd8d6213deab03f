/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_guard_vs_others.c - a mutex under all loads at once: fibers that never
 * wait, deadlines, cancelled groups, threads; and the last holder frees it. */
#include "../api/with_workers.h"
#include "../random.h"

#include <errno.h>

/* --- combined ------------------------------------------------------------ */

enum { TASKS = 16, MEMBERS = 8, UNBOUND = 2, BOUND = 1 };

struct fray {
	sennit_scheduler *s;
	sennit_mutex      lock;
	sennit_wait_group done;
	atomic_uint       next;
	unsigned          rounds;
	uint64_t          inside; /* under lock */
	uint64_t          sum;    /* under lock */
	atomic_ulong      got;
};

static void hold(struct fray *f, uint64_t *random)
{
	unsigned pauses = random_below(random, 16) ? 0 : 20;

	EXPECT(f->inside++ == 0);
	f->sum++;
	while (pauses--)
		EXPECT(f->inside == 1);
	if (!random_below(random, 64))
		sennit_yield();
	EXPECT(--f->inside == 0);
	sennit_mutex_unlock(&f->lock);
	atomic_fetch_add(&f->got, 1);
}

static void lock_in_some_way(struct fray *f, uint64_t *random)
{
	static const uint32_t spans[] = { 1, 1000, 30000, 1000000 };
	uint32_t              span = spans[random_below(random, 4)];
	sennit_time           t = SENNIT_NEVER;
	unsigned              kind = random_below(random, 8);

	if (kind == 0)
		t = 0;
	else if (kind <= 3)
		t = sennit_after(random_below(random, span));
	if (kind >= 6)
		sennit_mutex_lock(&f->lock);
	else if (sennit_mutex_lock_until(&f->lock, t))
		return;
	hold(f, random);
}

static void fight(void *argument)
{
	struct fray *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));
	unsigned     i;

	for (i = 0; i < f->rounds; i++)
		lock_in_some_way(f, &random);
	sennit_wait_group_done(&f->done);
}

static int fight_until_cancelled(void *argument)
{
	struct fray *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));
	unsigned     i;

	for (i = 0; i < f->rounds; i++) {
		if (sennit_mutex_lock_until(&f->lock, SENNIT_NEVER))
			return -ECANCELED;
		hold(f, &random);
	}
	return 0;
}

static void fight_in_groups(void *argument)
{
	struct fray *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));
	sennit_group g;
	unsigned     round, i;

	for (round = 0; round < 4; round++) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		for (i = 0; i < MEMBERS; i++)
			EXPECT(!sennit_group_spawn(&g, fight_until_cancelled,
						   f));
		for (i = random_below(&random, 20); i; i--)
			sennit_yield();
		sennit_group_cancel(&g);
		EXPECT(sennit_group_wait(&g) == -ECANCELED);
	}
	sennit_wait_group_done(&f->done);
}

static void *fight_unbound(void *argument)
{
	fight(argument);
	return NULL;
}

static void *fight_bound(void *argument)
{
	struct fray *f = argument;

	EXPECT(sennit_bind(f->s) == 0);
	fight(f);
	sennit_unbind();
	return NULL;
}

TEST_WITH_THREADS(one_holds_it_at_a_time)
{
	struct fray f = { .s = w->s, .rounds = (unsigned)scaled(LOAD(8000)) };
	pthread_t   threads[UNBOUND + BOUND];
	unsigned    i;

	sennit_wait_group_init(&f.done, TASKS + 1 + UNBOUND + BOUND);
	for (i = 0; i < TASKS; i++)
		must_schedule(fight, &f);
	must_schedule(fight_in_groups, &f);
	for (i = 0; i < UNBOUND + BOUND; i++)
		threads[i] = must_start_thread(
			i < UNBOUND ? fight_unbound : fight_bound, &f);
	sennit_wait_group_wait(&f.done);
	for (i = 0; i < UNBOUND + BOUND; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(f.sum, atomic_load(&f.got));
	sennit_mutex_destroy(&f.lock);
}

/* --- the last holder frees it -------------------------------------------- */

enum { SHARERS = 6, TURNS = 20, PATTERN = 0xa5 };

struct shared {
	sennit_mutex lock;
	unsigned     turns; /* under lock: turns left before the last */
};

struct owner {
	sennit_scheduler  *s;
	sennit_wait_group *done;
	struct shared     *shared;
};

/* The others may still be inside their unlock. */
static void free_it(struct shared *s)
{
	memset(s, PATTERN, sizeof(*s));
	sennit_yield();
	for (size_t i = 0; i < sizeof(*s); i++)
		EXPECT(((unsigned char *)s)[i] == PATTERN);
	free(s);
}

static void share(void *argument)
{
	struct owner  *o = argument;
	struct shared *s = o->shared;
	bool           last = false;
	unsigned       i;

	for (i = 0; i < TURNS; i++) {
		sennit_mutex_lock(&s->lock);
		last = --s->turns == 0;
		sennit_mutex_unlock(&s->lock);
	}
	if (last)
		free_it(s);
	sennit_wait_group_done(o->done);
}

static void *share_unbound(void *argument)
{
	share(argument);
	return NULL;
}

static void *share_bound(void *argument)
{
	struct owner *o = argument;

	EXPECT(sennit_bind(o->s) == 0);
	share(o);
	sennit_unbind();
	return NULL;
}

TEST_WITH_THREADS(whoever_has_it_last_frees_it)
{
	unsigned rounds = (unsigned)scaled(LOAD(1000));
	unsigned round, i;

	for (round = 0; round < rounds; round++) {
		sennit_wait_group done;
		struct owner o = { w->s, &done, calloc(1, sizeof(*o.shared)) };
		pthread_t    threads[2];

		assert_non_null(o.shared);
		o.shared->turns = SHARERS * TURNS;
		sennit_wait_group_init(&done, SHARERS);
		for (i = 2; i < SHARERS; i++)
			must_schedule(share, &o);
		threads[0] = must_start_thread(share_unbound, &o);
		threads[1] = must_start_thread(share_bound, &o);
		sennit_wait_group_wait(&done);
		for (i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
}
