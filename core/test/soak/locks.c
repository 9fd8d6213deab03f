/* SPDX-License-Identifier: Apache-2.0 */
/* locks.c - scenes with locks and meeting points: mutex, condition variable,
 * reader-writer lock, semaphore, barrier, once, fiber wait. */
#include "soak.h"

enum { ROUNDS = 12 };

/* --- a bounded queue ---------------------------------------------------- */

enum { KEPT = 4 };

struct market {
	sennit_mutex lock;
	sennit_cond  changed;
	unsigned     stock; /* under lock */
};

static bool has_room(void *market)
{
	return ((struct market *)market)->stock < KEPT;
}

static bool has_stock(void *market)
{
	return ((struct market *)market)->stock > 0;
}

static void trade(void *shared, uint64_t *random)
{
	struct market *m = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const bool sells = random_below(random, 2);

		if (!went_well(sennit_mutex_lock_until(&m->lock,
						       some_deadline(random))))
			continue;
		if (!sennit_cond_wait_until_true(
			    &m->changed, &m->lock, sells ? has_room : has_stock,
			    m, sennit_after(random_below(random, 20000)))) {
			CLAIM(sells ? m->stock < KEPT : m->stock > 0);
			m->stock += sells ? 1u : -1u;
			(sells ? book_in : book_out)(goods, 1);
		}
		sennit_mutex_unlock(&m->lock);
		sennit_cond_notify_all(&m->changed);
	}
}

void scene_market(uint64_t *random)
{
	struct market m = { .stock = 0 };

	play_parts(trade, &m, 2 + random_below(random, 6), random);
	book_out(goods, m.stock);
	sennit_cond_destroy(&m.changed);
	sennit_mutex_destroy(&m.lock);
}

/* --- readers and writers ------------------------------------------------ */

struct ledger {
	sennit_rwlock lock;
	uint64_t      left, right; /* equal, except during a writer's turn */
};

static void write_or_read(void *shared, uint64_t *random)
{
	struct ledger *l = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const sennit_time t = some_deadline(random);

		if (random_below(random, 4)) {
			if (!went_well(sennit_rwlock_lock_shared_until(&l->lock,
								       t)))
				continue;
			CLAIM(l->left == l->right);
			sennit_rwlock_unlock_shared(&l->lock);
		} else if (went_well(sennit_rwlock_lock_until(&l->lock, t))) {
			l->left++;
			if (random_below(random, 2))
				sennit_yield();
			l->right++;
			book_in(writes, 1);
			sennit_rwlock_unlock(&l->lock);
		}
	}
}

void scene_rwlock(uint64_t *random)
{
	struct ledger l = { .left = 0 };

	play_parts(write_or_read, &l, 2 + random_below(random, 8), random);
	CLAIM(l.left == l.right);
	book_out(writes, l.left);
	sennit_rwlock_destroy(&l.lock);
}

/* --- permits ------------------------------------------------------------ */

enum { BAYS = 3 };

struct garage {
	sennit_semaphore bays;
	atomic_uint      taken;
};

static void park(void *shared, uint64_t *random)
{
	struct garage *g = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint32_t n = 1 + random_below(random, BAYS);

		if (!went_well(sennit_semaphore_acquire_until(
			    &g->bays, n, some_deadline(random))))
			continue;
		book_in(permits, n);
		CLAIM(atomic_fetch_add(&g->taken, n) + n <= BAYS);
		if (random_below(random, 2))
			sennit_yield();
		atomic_fetch_sub(&g->taken, n);
		book_out(permits, n);
		sennit_semaphore_release(&g->bays, n);
	}
}

void scene_semaphore(uint64_t *random)
{
	struct garage g = { .taken = 0 };

	sennit_semaphore_init(&g.bays, BAYS);
	play_parts(park, &g, 2 + random_below(random, 6), random);
	CLAIM(sennit_semaphore_count(&g.bays) == BAYS);
	sennit_semaphore_destroy(&g.bays);
}

/* --- phases ------------------------------------------------------------- */

struct phases {
	sennit_barrier meeting;
	atomic_uint    chosen;
	uint32_t       parties;
};

static void meet(void *shared, uint64_t *random)
{
	struct phases *p = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		book_in(arrivals, 1);
		if (!random_below(random, 4))
			sennit_yield();
		if (!sennit_barrier_wait(&p->meeting))
			continue;
		atomic_fetch_add(&p->chosen, 1);
		book_out(arrivals, p->parties);
	}
}

void scene_barrier(uint64_t *random)
{
	struct phases p = { .parties = 1 + random_below(random, 6) };

	sennit_barrier_init(&p.meeting, p.parties);
	play_parts(meet, &p, p.parties, random);
	CLAIM(atomic_load(&p.chosen) == ROUNDS);
	sennit_barrier_destroy(&p.meeting);
}

/* --- once --------------------------------------------------------------- */

struct premiere {
	sennit_once night;
	unsigned    attempts; /* written by the caller whose turn it is */
	unsigned    fails;
};

static int attempt(void *shared)
{
	struct premiere *p = shared;

	sennit_yield();
	if (p->attempts++ < p->fails)
		return -EAGAIN;
	book_out(first_times, 1);
	return 0;
}

static void attend(void *shared, uint64_t *random)
{
	struct premiere *p = shared;
	int              err;

	do {
		err = sennit_once_attempt_until(&p->night, attempt, p,
						some_deadline(random));
		CLAIM(!err || err == -EAGAIN || !went_well(err));
		if (err)
			sennit_yield();
	} while (err);
	CLAIM(sennit_once_is_done(&p->night));
}

void scene_once(uint64_t *random)
{
	struct premiere p = { .fails = random_below(random, 3) };

	book_in(first_times, 1);
	play_parts(attend, &p, 1 + random_below(random, 8), random);
	CLAIM(p.attempts == p.fails + 1);
	sennit_once_destroy(&p.night);
}

/* --- fiber wait --------------------------------------------------------- */

struct board {
	sennit_mutex  lock;
	sennit_fiber *reader; /* under lock; NULL: no reader waits */
	unsigned      notes;  /* under lock */
};

static bool has_notes(void *board)
{
	return ((struct board *)board)->notes > 0;
}

static void pin_notes(void *shared, uint64_t *random)
{
	struct board *b = shared;

	for (unsigned i = 0; i < ROUNDS; i++) {
		sennit_mutex_lock(&b->lock);
		b->notes++;
		book_in(notes, 1);
		if (b->reader)
			sennit_fiber_notify(b->reader);
		sennit_mutex_unlock(&b->lock);
		if (random_below(random, 2))
			sennit_yield();
	}
}

static void read_notes(struct board *b, uint64_t *random, unsigned left)
{
	sennit_mutex_lock(&b->lock);
	b->reader = sennit_fiber_current();
	while (left) {
		if (!sennit_fiber_wait(&b->lock, has_notes, b,
				       some_deadline(random))) {
			sennit_mutex_unlock(&b->lock);
			sennit_yield();
			sennit_mutex_lock(&b->lock);
			continue;
		}
		left -= b->notes;
		book_out(notes, b->notes);
		b->notes = 0;
	}
	b->reader = NULL;
	sennit_mutex_unlock(&b->lock);
}

struct noticed {
	struct board *board;
	atomic_uint   next;
	unsigned      writers;
};

static void read_or_pin(void *shared, uint64_t *random)
{
	struct noticed *n = shared;

	if (atomic_fetch_add(&n->next, 1))
		pin_notes(n->board, random);
	else
		read_notes(n->board, random, n->writers * ROUNDS);
}

void scene_notes(uint64_t *random)
{
	struct board   b = { .notes = 0 };
	struct noticed n = { .board = &b,
			     .writers = 1 + random_below(random, 4) };

	play_parts(read_or_pin, &n, n.writers + 1, random);
	CLAIM(!b.notes);
}
