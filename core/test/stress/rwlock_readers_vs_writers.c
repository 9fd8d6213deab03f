/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock_readers_vs_writers.c - readers and writers with random deadlines: no
 * reader sees a half-written record, and no waiter is left. Also a lock that
 * its last writer frees. */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"
#include "passing.h"

/* --- a record of two halves --------------------------------------------- */

struct record {
	sennit_rwlock lock;
	atomic_uint   next;
	unsigned      rounds;
	uint64_t      left, right; /* under lock: always equal */
	atomic_ullong written;
};

static void dawdle(uint64_t *random)
{
	switch (random_below(random, 32)) {
	case 0:
		sennit_sleep(random_below(random, 50000));
		break;
	case 1:
	case 2:
		sennit_yield();
		break;
	default:
		break;
	}
}

static void write_record(struct record *r, uint64_t *random)
{
	if (sennit_rwlock_lock_until(&r->lock, soon_or_never(random)))
		return;
	r->left++;
	dawdle(random);
	r->right++;
	sennit_rwlock_unlock(&r->lock);
	atomic_fetch_add(&r->written, 1);
}

static void read_record(struct record *r, uint64_t *random)
{
	uint64_t left;

	if (sennit_rwlock_lock_shared_until(&r->lock, soon_or_never(random)))
		return;
	left = r->left;
	EXPECT(left == r->right);
	dawdle(random);
	EXPECT(left == r->right);
	sennit_rwlock_unlock_shared(&r->lock);
}

static void use_record(void *argument)
{
	struct record *r = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&r->next, 1));

	for (unsigned i = 0; i < r->rounds; i++) {
		if (random_below(&random, 3))
			read_record(r, &random);
		else
			write_record(r, &random);
	}
}

TEST_WITH_WORKERS(nobody_reads_what_is_half_written)
{
	struct record r = { .rounds = (unsigned)scaled(LOAD(3000)) };
	struct crowd  c = { .s = w->s,
			    .run = use_record,
			    .argument = &r,
			    .tasks = 12,
			    .bound = 2,
			    .unbound = 2 };

	gather(&c);
	disperse(&c);
	assert_int_equal(r.left, r.right);
	assert_int_equal(r.left, atomic_load(&r.written));
	sennit_rwlock_destroy(&r.lock); /* fails if it is held or has waiters */
}

/* --- passed on, freed by the last owner --------------------------------- */

struct passed {
	sennit_rwlock lock;
	unsigned      owners; /* under lock */
};

/* Read, then write. The owner that drops the last share frees it. */
static void leave(void *passed)
{
	struct passed *p = passed;
	unsigned       left;

	sennit_rwlock_lock_shared(&p->lock);
	EXPECT(p->owners == 1 || p->owners == 2);
	sennit_rwlock_unlock_shared(&p->lock);
	sennit_rwlock_lock(&p->lock);
	left = --p->owners;
	sennit_rwlock_unlock(&p->lock);
	if (!left)
		scrap(p, sizeof(*p));
}

static void *make_passed(void)
{
	struct passed *p = calloc(1, sizeof(*p));

	sennit_rwlock_init(&p->lock);
	p->owners = 2;
	return p;
}

TEST_WITH_WORKERS(nobody_touches_a_lock_that_was_handed_on)
{
	struct passing g = { .make = make_passed,
			     .leave = leave,
			     .rounds = (unsigned)scaled(LOAD(3000)) };

	pass_around(&g, w->s);
}
