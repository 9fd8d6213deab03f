/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_guard_vs_others.c - a mutex under all loads at once: fibers that never
 * wait, deadlines, cancelled groups, threads; and the last holder frees it. */
#include "testing/crowd.h"
#include "testing/random.h"

#include <errno.h>

/* --- combined ------------------------------------------------------------ */

enum { MEMBERS = 8 };

struct fray {
	sennit_mutex lock;
	atomic_uint  next;
	unsigned     rounds;
	uint64_t     inside; /* under lock */
	uint64_t     sum;    /* under lock */
	atomic_ulong got;
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

	for (unsigned i = 0; i < f->rounds; i++)
		lock_in_some_way(f, &random);
}

static int fight_until_cancelled(void *argument)
{
	struct fray *f = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&f->next, 1));

	for (unsigned i = 0; i < f->rounds; i++) {
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
}

TEST_WITH_THREADS(one_holds_it_at_a_time)
{
	struct fray  f = { .rounds = (unsigned)scaled(LOAD(8000)) };
	struct crowd c = { .s = w->s,
			   .run = fight,
			   .argument = &f,
			   .tasks = 16,
			   .bound = 1,
			   .unbound = 2 };

	gather(&c);
	in_a_task(fight_in_groups, &f);
	disperse(&c);
	assert_int_equal(f.sum, atomic_load(&f.got));
	sennit_mutex_destroy(&f.lock);
}

/* --- the last holder frees it -------------------------------------------- */

enum { SHARERS = 6, TURNS = 20, PATTERN = 0xa5 };

struct shared {
	sennit_mutex lock;
	unsigned     turns; /* under lock: turns left before the last */
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
	struct shared *s = argument;
	bool           last = false;

	for (unsigned i = 0; i < TURNS; i++) {
		sennit_mutex_lock(&s->lock);
		last = --s->turns == 0;
		sennit_mutex_unlock(&s->lock);
	}
	if (last)
		free_it(s);
}

TEST_WITH_THREADS(whoever_has_it_last_frees_it)
{
	const unsigned rounds = (unsigned)scaled(LOAD(1000));

	for (unsigned round = 0; round < rounds; round++) {
		struct shared *s = calloc(1, sizeof(*s));

		assert_non_null(s);
		s->turns = SHARERS * TURNS;
		run_crowd((struct crowd){ .s = w->s,
					  .run = share,
					  .argument = s,
					  .tasks = SHARERS - 2,
					  .bound = 1,
					  .unbound = 1 });
	}
}
