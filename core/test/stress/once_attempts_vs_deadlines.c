/* SPDX-License-Identifier: Apache-2.0 */
/* once_attempts_vs_deadlines.c - attempts fail while waiters reach their
 * deadlines: the turn is never lost, and never given to two callers. */
#include "testing/crowd.h"
#include "testing/random.h"

#include <errno.h>

enum { ONCES = 64 };

struct trial {
	sennit_once once;
	atomic_uint inside;
	unsigned    fails; /* fixed: number of failures */
	unsigned    runs;  /* written by the caller that has the turn */
};

struct trials {
	struct trial each[ONCES];
	atomic_uint  next;
};

static int attempt(void *argument)
{
	struct trial  *t = argument;
	const unsigned run = ++t->runs;

	EXPECT(atomic_fetch_add(&t->inside, 1) == 0);
	if (run % 3 == 0)
		sennit_sleep(20 * SENNIT_MICROSECOND);
	else
		sennit_yield();
	EXPECT(atomic_fetch_sub(&t->inside, 1) == 1);
	return run <= t->fails ? -EAGAIN : 0;
}

static void get_it_done(struct trial *t, uint64_t *random)
{
	int rc;

	do {
		const uint64_t span = random_below(random, 60000);

		rc = sennit_once_attempt_until(&t->once, attempt, t,
					       random_below(random, 3)
						       ? sennit_after(span)
						       : SENNIT_NEVER);
		EXPECT(!rc || rc == -EAGAIN || rc == -ETIMEDOUT);
	} while (rc);
	EXPECT(t->runs == t->fails + 1);
}

static void get_all_done(void *argument)
{
	struct trials *a = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&a->next, 1));

	for (unsigned i = 0; i < ONCES; i++)
		get_it_done(&a->each[i], &random);
}

static void try_them_all(struct world *w, uint64_t *random)
{
	static struct trials a; /* static, because late tasks still read it */
	struct crowd         c = { .s = w->s,
				   .run = get_all_done,
				   .argument = &a,
				   .tasks = 6,
				   .bound = 1,
				   .unbound = 2 };

	memset(&a, 0, sizeof(a));
	for (unsigned i = 0; i < ONCES; i++)
		a.each[i].fails = random_below(random, 12);
	gather(&c);
	disperse(&c);
	for (unsigned i = 0; i < ONCES; i++)
		sennit_once_destroy(&a.each[i].once);
}

TEST_WITH_WORKERS(each_is_done_once_however_often_it_fails)
{
	uint64_t       random = random_stream(100);
	const unsigned rounds = (unsigned)scaled(10);

	for (unsigned i = 0; i < rounds; i++)
		try_them_all(w, &random);
}
