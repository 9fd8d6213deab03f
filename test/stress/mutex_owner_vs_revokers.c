/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_owner_vs_revokers.c - mutexes that a worker is making its own, or owns,
 * while others lock them: no update is lost, one holds it at a time, and the
 * last one frees it. */
#include "../api/with_workers.h"
#include "../api/biased.h"
#include "../random.h"

enum { OTHERS = 3, PATTERN = 0x5a };

struct life {
	sennit_mutex lock;
	unsigned     inside; /* under lock */
	unsigned     uses;   /* under lock */
	unsigned     users;  /* under lock: who still uses it */
};

struct bout {
	sennit_scheduler  *s;
	struct life       *life;
	unsigned           owners_uses;
	unsigned           expected;
	atomic_uint        used;   /* by the owner */
	atomic_uint        biased; /* bouts in which it was, when revoked */
	sennit_wait_group *done;
	uint64_t           seed;
};

static void lock_once(struct life *l)
{
	sennit_mutex_lock(&l->lock);
	EXPECT(l->inside++ == 0);
	l->uses++;
	EXPECT(--l->inside == 0);
	sennit_mutex_unlock(&l->lock);
}

/* The others may still be inside their unlock. */
static void leave(struct bout *b)
{
	struct life *l = b->life;
	bool         last;

	sennit_mutex_lock(&l->lock);
	EXPECT(l->inside++ == 0);
	last = --l->users == 0;
	if (last)
		EXPECT(l->uses == b->expected);
	EXPECT(--l->inside == 0);
	sennit_mutex_unlock(&l->lock);
	if (!last)
		return;
	memset(l, PATTERN, sizeof(*l));
	sennit_yield();
	for (size_t i = 0; i < sizeof(*l); i++)
		EXPECT(((unsigned char *)l)[i] == PATTERN);
	free(l);
}

static void be_the_owner(void *argument)
{
	struct bout *b = argument;

	forget_losses();
	for (unsigned i = 0; i < b->owners_uses; i++) {
		lock_once(b->life);
		atomic_store_explicit(&b->used, i + 1, memory_order_relaxed);
	}
	leave(b);
	sennit_wait_group_done(b->done);
}

/* Come at a random moment: before the claim, at it, or after it. */
static void come_as_other(struct bout *b, uint64_t seed)
{
	const unsigned when = random_below(&seed, b->owners_uses);
	unsigned       spins = random_below(&seed, 200);

	while (atomic_load_explicit(&b->used, memory_order_relaxed) < when)
		sennit_yield();
	while (spins--)
		a_pause();
	if (is_biased(&b->life->lock))
		atomic_fetch_add(&b->biased, 1);
	lock_once(b->life);
	lock_once(b->life);
	leave(b);
}

static void *come_as_thread(void *argument)
{
	struct bout *b = argument;

	come_as_other(b, b->seed);
	return NULL;
}

static void be_a_rival(void *argument)
{
	struct bout *b = argument;

	come_as_other(b, b->seed + 1);
	sennit_wait_group_done(b->done);
}

static void *come_bound(void *argument)
{
	struct bout *b = argument;

	EXPECT(sennit_bind(b->s) == 0);
	come_as_other(b, b->seed + 2);
	sennit_unbind();
	return NULL;
}

/* Returns in how many cases somebody came to a biased mutex. */
static unsigned fight(sennit_scheduler *s, uint64_t *random, bool rival)
{
	sennit_wait_group done;
	struct bout       b = { .s = s,
				.life = calloc(1, sizeof(*b.life)),
				.owners_uses = 2 * BIAS_CLAIM +
					       random_below(random, BIAS_CLAIM),
				.done = &done,
				.seed = random_from(random) };
	const unsigned    others = OTHERS - !rival;
	pthread_t         t[2];

	assert_non_null(b.life);
	b.life->users = others + 1;
	b.expected = b.owners_uses + 2 * others;
	sennit_wait_group_init(&done, rival ? 2 : 1);
	t[0] = must_start_thread(come_as_thread, &b);
	t[1] = must_start_thread(come_bound, &b);
	must_schedule(be_the_owner, &b);
	if (rival)
		must_schedule(be_a_rival, &b);
	sennit_wait_group_wait(&done);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return atomic_load(&b.biased);
}

TEST_WITH_THREADS(no_update_is_lost_and_the_last_one_frees_it)
{
	const unsigned rounds = (unsigned)scaled(300);
	uint64_t       random = random_stream(1);
	unsigned       biased = 0;

	for (unsigned i = 0; i < rounds; i++)
		biased += fight(w->s, &random, i % 2);
	print_message("%u times a mutex was biased when another came\n",
		      biased);
}
