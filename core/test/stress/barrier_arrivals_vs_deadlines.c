/* SPDX-License-Identifier: Apache-2.0 */
/* barrier_arrivals_vs_deadlines.c - parties give up and come back while others
 * arrive: every phase must have all parties, exactly one of them the last, and
 * all must get the same result. */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"

enum { PARTIES = 6 };

struct march {
	sennit_barrier b;
	atomic_uint    next;
	atomic_uint    last;
	unsigned       steps;
	unsigned       at[PARTIES]; /* own entry before the barrier, all entries
				     * after it */
};

static void meet(struct march *m, uint64_t *random)
{
	int rc;

	do {
		rc = sennit_barrier_wait_until(&m->b, soon_or_never(random));
		if (rc < 0 && !random_below(random, 2))
			sennit_yield();
	} while (rc < 0);
	if (rc == 1)
		atomic_fetch_add(&m->last, 1);
}

static void march(void *argument)
{
	struct march  *m = argument;
	const unsigned me = atomic_fetch_add(&m->next, 1);
	uint64_t       random = random_stream(me);
	unsigned       i, other;

	for (i = 1; i <= m->steps; i++) {
		m->at[me] = i;
		meet(m, &random);
		for (other = 0; other < PARTIES; other++)
			EXPECT(m->at[other] == i);
		meet(m, &random);
	}
}

TEST_WITH_WORKERS(all_parties_of_a_phase_go_on_or_none)
{
	struct march m = { .steps = (unsigned)scaled(LOAD(1000)) };
	struct crowd c = { .s = w->s,
			   .run = march,
			   .argument = &m,
			   .tasks = 4,
			   .bound = 1,
			   .unbound = 1 };

	sennit_barrier_init(&m.b, PARTIES);
	gather(&c);
	disperse(&c);
	assert_int_equal(atomic_load(&m.last), 2 * m.steps);
	sennit_barrier_destroy(&m.b); /* fails if a party still counts as
				       * arrived */
}
