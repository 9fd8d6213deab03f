/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - no party continues before all have arrived; phase after phase. */
#include "testing/crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(a_single_party_always_arrives_last)
{
	sennit_barrier b = SENNIT_BARRIER_INIT(1);
	sennit_barrier most;

	for (unsigned i = 0; i < 3; i++) {
		EXPECT(sennit_barrier_wait(&b));
		EXPECT(sennit_barrier_wait_until(&b, 0) == 1);
		EXPECT(sennit_barrier_wait_until(&b, SENNIT_NEVER) == 1);
	}
	sennit_barrier_destroy(&b);
	sennit_barrier_init(&most, SENNIT_BARRIER_MAX);
	EXPECT(sennit_barrier_wait_until(&most, 0) == -ETIMEDOUT);
	EXPECT(sennit_barrier_wait_until(&most, 1) == -ETIMEDOUT);
	sennit_barrier_destroy(&most);
}

/* --- phases ------------------------------------------------------------- */

enum { PARTIES = 12 };

struct march {
	sennit_barrier b;
	atomic_uint    next;
	atomic_uint    last;
	unsigned       steps;
	unsigned       at[PARTIES]; /* own entry before the barrier, all entries
				     * after it */
	sennit_time    deadline;
};

static bool step(struct march *m)
{
	int rc;

	if (m->deadline == SENNIT_NEVER)
		return sennit_barrier_wait(&m->b);
	rc = sennit_barrier_wait_until(&m->b, m->deadline);
	EXPECT(rc == 0 || rc == 1);
	return rc == 1;
}

static void march(void *argument)
{
	struct march  *m = argument;
	const unsigned me = atomic_fetch_add(&m->next, 1);
	unsigned       i, other;

	for (i = 1; i <= m->steps; i++) {
		m->at[me] = i;
		if (step(m))
			atomic_fetch_add(&m->last, 1);
		for (other = 0; other < PARTIES; other++)
			EXPECT(m->at[other] == i);
		if (step(m))
			atomic_fetch_add(&m->last, 1);
	}
}

static void march_in_step(struct world *w, sennit_time deadline)
{
	struct march m = { .steps = 100, .deadline = deadline };
	struct crowd c = { .s = w->s,
			   .run = march,
			   .argument = &m,
			   .tasks = PARTIES - 4,
			   .bound = 2,
			   .unbound = 2 };

	sennit_barrier_init(&m.b, PARTIES);
	gather(&c);
	disperse(&c);
	assert_int_equal(atomic_load(&m.last), 200);
	sennit_barrier_destroy(&m.b);
}

TEST_WITH_WORKERS(nobody_goes_on_before_all_have_arrived)
{
	march_in_step(w, SENNIT_NEVER);
}

TEST_WITH_WORKERS(nor_with_deadlines)
{
	march_in_step(w, sennit_after(100 * SENNIT_SECOND));
}
