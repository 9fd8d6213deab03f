/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - no party continues before all have arrived; phase after phase. */
#include "crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void try_alone(void *argument)
{
	sennit_barrier b = SENNIT_BARRIER_INIT(1);
	sennit_barrier most;
	unsigned       i;

	(void)argument;
	for (i = 0; i < 3; i++) {
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

static void try_deadline(void *argument)
{
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);
	sennit_barrier    b;

	(void)argument;
	sennit_barrier_init(&b, 2);
	EXPECT(sennit_barrier_wait_until(&b, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_barrier_wait_until(&b, soon) == -ETIMEDOUT);
	EXPECT(sennit_barrier_wait_until(&b, 0) == -ETIMEDOUT);
	sennit_barrier_destroy(&b); /* fails if a party has arrived */
}

TEST_WITH_WORKERS(a_single_party_always_arrives_last)
{
	in_each_place(try_alone, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadline, NULL);
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

/* --- withdrawing -------------------------------------------------------- */

struct meeting {
	sennit_barrier b;
	atomic_uint    met, last, late;
	sennit_time    deadline;
};

static void meet(void *argument)
{
	struct meeting *m = argument;
	const int       rc = sennit_barrier_wait_until(&m->b, m->deadline);

	if (rc == 1)
		atomic_fetch_add(&m->last, 1);
	if (rc == -ETIMEDOUT)
		atomic_fetch_add(&m->late, 1);
	else
		atomic_fetch_add(&m->met, 1);
}

/* Symptom: the phase ended with one party too few. */
TEST_WITH_WORKERS(who_gives_up_does_not_count)
{
	struct meeting m = { .deadline = sennit_after(SENNIT_MILLISECOND) };
	struct crowd   late = { .s = w->s,
				.run = meet,
				.argument = &m,
				.tasks = 3,
				.bound = 1,
				.unbound = 1 };
	struct crowd   rest = late;

	sennit_barrier_init(&m.b, 6);
	gather(&late);
	disperse(&late);
	assert_int_equal(atomic_load(&m.late), 5);
	m.deadline = SENNIT_NEVER;
	gather(&rest);
	assert_soon(waiting_for(w->s, &m.b) == 4);
	assert_int_equal(said_to_be(w->s, &m.b), SENNIT_WAITS_FOR_BARRIER);
	assert_int_equal(atomic_load(&m.met), 0);
	assert_false(sennit_barrier_wait_until(&m.b, sennit_after(GIVE_UP)) <
		     0);
	disperse(&rest);
	assert_int_equal(atomic_load(&m.met), 5);
	sennit_barrier_destroy(&m.b);
}

TEST_WITH_WORKERS(the_phase_goes_on_without_who_gave_up)
{
	struct meeting m = { .deadline = SENNIT_NEVER };
	struct crowd c = { .s = w->s, .run = meet, .argument = &m, .tasks = 3 };

	sennit_barrier_init(&m.b, 5);
	gather(&c);
	assert_soon(waiting_for(w->s, &m.b) == 3);
	assert_int_equal(sennit_barrier_wait_until(
				 &m.b, sennit_after(2 * SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	assert_int_equal(sennit_barrier_wait_until(&m.b, 0), -ETIMEDOUT);
	assert_int_equal(waiting_for(w->s, &m.b), 3);
	must_schedule(meet, &m);
	sennit_barrier_wait(&m.b);
	sennit_wait_group_wait(&c.done);
	assert_soon(atomic_load(&m.met) == 4);
}

/* --- freed at once ------------------------------------------------------ */

struct brief {
	sennit_barrier   *b;
	atomic_bool       freed;
	sennit_wait_group done;
};

static void meet_once(void *argument)
{
	struct brief *f = argument;

	(void)sennit_barrier_wait(f->b);
	if (!atomic_exchange(&f->freed, true)) {
		memset(f->b, 0xa5, sizeof(*f->b));
		free(f->b);
	}
	sennit_wait_group_done(&f->done);
}

TEST_WITH_WORKERS(who_returns_first_may_free_it)
{
	unsigned i, k;

	for (i = 0; i < 200; i++) {
		struct brief f = { .b = malloc(sizeof(*f.b)) };

		assert_non_null(f.b);
		sennit_barrier_init(f.b, 4);
		sennit_wait_group_init(&f.done, 4);
		for (k = 0; k < 4; k++)
			must_schedule(meet_once, &f);
		sennit_wait_group_wait(&f.done);
	}
}
