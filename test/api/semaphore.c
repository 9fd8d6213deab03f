/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - permits are neither lost nor created; waiters are served in
 * order. */
#include "crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void try_counting(void *argument)
{
	sennit_semaphore s = SENNIT_SEMAPHORE_INIT;

	(void)argument;
	EXPECT(sennit_semaphore_count(&s) == 0);
	EXPECT(sennit_semaphore_take_until(&s, 1, 0) == -ETIMEDOUT);
	EXPECT(sennit_semaphore_take_until(&s, 0, 0) == 0);
	sennit_semaphore_give(&s, 3);
	EXPECT(sennit_semaphore_count(&s) == 3);
	EXPECT(sennit_semaphore_take_until(&s, 4, 0) == -ETIMEDOUT);
	EXPECT(sennit_semaphore_count(&s) == 3); /* all or none */
	EXPECT(!sennit_semaphore_take(&s, 2));
	EXPECT(sennit_semaphore_take_until(&s, 1, 1) == 0);
	EXPECT(sennit_semaphore_take_until(&s, 1, 1) == -ETIMEDOUT);
	sennit_semaphore_give(&s, 0);
	EXPECT(sennit_semaphore_count(&s) == 0);
	sennit_semaphore_destroy(&s);
}

static void try_limits(void *argument)
{
	const uint32_t   most = SENNIT_SEMAPHORE_MAX;
	sennit_semaphore s;

	(void)argument;
	sennit_semaphore_init(&s, most - 1);
	sennit_semaphore_give(&s, 1);
	EXPECT(sennit_semaphore_count(&s) == most);
	sennit_semaphore_give(&s, 0);
	EXPECT(sennit_semaphore_take_until(&s, most, SENNIT_NEVER) == 0);
	EXPECT(sennit_semaphore_take_until(&s, 1, 0) == -ETIMEDOUT);
	sennit_semaphore_give(&s, most);
	EXPECT(!sennit_semaphore_take(&s, 1));
	EXPECT(sennit_semaphore_count(&s) == most - 1);
}

static void try_deadline(void *argument)
{
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);
	sennit_semaphore  s;

	(void)argument;
	sennit_semaphore_init(&s, 1);
	EXPECT(sennit_semaphore_take_until(&s, 2, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_semaphore_take_until(&s, 2, soon) == -ETIMEDOUT);
	EXPECT(sennit_semaphore_take_until(&s, 1, soon) == 0);
}

TEST_WITH_WORKERS(it_counts)
{
	in_each_place(try_counting, NULL);
}

TEST_WITH_WORKERS(it_counts_up_to_its_maximum)
{
	in_each_place(try_limits, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadline, NULL);
}

/* --- several ------------------------------------------------------------ */

struct room {
	sennit_semaphore seats;
	atomic_uint      next;
	atomic_int       inside;
	atomic_uint      visits, missed;
	unsigned         rounds;
	int              most;
};

static void sit(struct room *r, unsigned n)
{
	EXPECT(atomic_fetch_add(&r->inside, (int)n) + (int)n <= r->most);
	atomic_fetch_add(&r->visits, 1);
	sennit_yield();
	atomic_fetch_sub(&r->inside, (int)n);
	sennit_semaphore_give(&r->seats, n);
}

static void visit(void *argument)
{
	struct room   *r = argument;
	const unsigned me = atomic_fetch_add(&r->next, 1);
	unsigned       i;

	for (i = 0; i < r->rounds; i++) {
		const unsigned    n = 1 + (me + i) % 3;
		const sennit_time t = (me + i) % 2 ? sennit_after(1000 * i)
						   : SENNIT_NEVER;

		if (sennit_semaphore_take_until(&r->seats, n, t))
			atomic_fetch_add(&r->missed, 1);
		else
			sit(r, n);
	}
}

TEST_WITH_WORKERS(no_more_get_in_than_there_are_permits)
{
	struct room  r = { .rounds = 100, .most = 4 };
	struct crowd c = { .s = w->s,
			   .run = visit,
			   .argument = &r,
			   .tasks = 20,
			   .bound = 2,
			   .unbound = 3 };

	sennit_semaphore_init(&r.seats, 4);
	gather(&c);
	disperse(&c);
	assert_int_equal(atomic_load(&r.visits) + atomic_load(&r.missed),
			 25 * 100);
	assert_int_equal(sennit_semaphore_count(&r.seats), 4);
	sennit_semaphore_destroy(&r.seats); /* fails if there is a waiter */
}

static void take_one(void *argument)
{
	EXPECT(!sennit_semaphore_take(argument, 1));
}

TEST_WITH_WORKERS(one_give_serves_as_many_as_it_can)
{
	sennit_semaphore s = SENNIT_SEMAPHORE_INIT;
	struct crowd     c = { .s = w->s,
			       .run = take_one,
			       .argument = &s,
			       .tasks = 20,
			       .bound = 2,
			       .unbound = 2 };

	gather(&c);
	assert_soon(waiting_for(w->s, &s) == 22);
	assert_int_equal(said_to_be(w->s, &s), SENNIT_WAITS_FOR_SEMAPHORE);
	sennit_semaphore_give(&s, 30);
	disperse(&c);
	assert_int_equal(sennit_semaphore_count(&s), 6);
}

/* --- order -------------------------------------------------------------- */

enum { QUEUE = 12 };

/* A queue of tasks that want different numbers, formed one by one. */
struct queue {
	struct world     *w;
	sennit_semaphore  s;
	sennit_wait_group done;
	sennit_time       deadline; /* of the first task */
	unsigned          wants[QUEUE];
	unsigned          length;
	atomic_uint       arrived, served, left;
	unsigned          order[QUEUE]; /* in which they were served */
};

static void stand_in_queue(void *argument)
{
	struct queue     *q = argument;
	const unsigned    me = atomic_fetch_add(&q->arrived, 1);
	const sennit_time t = me ? SENNIT_NEVER : q->deadline;

	if (!sennit_semaphore_take_until(&q->s, q->wants[me], t))
		q->order[me] = atomic_fetch_add(&q->served, 1);
	atomic_fetch_add(&q->left, 1);
	sennit_wait_group_done(&q->done);
}

/* Whether n tasks are in the queue, or have left it again. */
static bool have_come(struct queue *q, unsigned n)
{
	const unsigned left = atomic_load(&q->left);

	return left + waiting_for(q->w->s, &q->s) == n;
}

static void form_a_queue(struct queue *q)
{
	unsigned i;

	sennit_wait_group_init(&q->done, q->length);
	for (i = 0; i < q->length; i++) {
		must_schedule(stand_in_queue, q);
		assert_soon(have_come(q, i + 1));
	}
}

TEST_WITH_WORKERS(who_waits_longest_is_served_first)
{
	struct queue q = { .w = w, .deadline = SENNIT_NEVER, .length = QUEUE };
	unsigned     i;

	for (i = 0; i < QUEUE; i++)
		q.wants[i] = 1 + i % 3;
	form_a_queue(&q);
	for (i = 0; i < QUEUE; i++) {
		assert_int_equal(atomic_load(&q.served), i);
		sennit_semaphore_give(&q.s, q.wants[i]);
		assert_soon(atomic_load(&q.served) == i + 1);
	}
	sennit_wait_group_wait(&q.done);
	for (i = 0; i < QUEUE; i++)
		assert_int_equal(q.order[i], i);
}

TEST_WITH_WORKERS(nobody_takes_past_one_who_wants_more)
{
	struct queue q = {
		.w = w, .deadline = SENNIT_NEVER, .length = 2, .wants = { 5, 1 }
	};

	form_a_queue(&q);
	sennit_semaphore_give(&q.s, 4);
	assert_int_equal(sennit_semaphore_take_until(&q.s, 1, 0), -ETIMEDOUT);
	assert_int_equal(waiting_for(q.w->s, &q.s), 2);
	assert_int_equal(sennit_semaphore_count(&q.s), 4);
	sennit_semaphore_give(&q.s, 1);
	assert_soon(atomic_load(&q.served) == 1);
	assert_int_equal(waiting_for(q.w->s, &q.s), 1);
	sennit_semaphore_give(&q.s, 1);
	sennit_wait_group_wait(&q.done);
	assert_int_equal(q.order[1], 1);
}

/* Symptom: waiters behind it waited for ever, although there were enough
 * permits for them. */
TEST_WITH_WORKERS(who_gives_up_makes_way_for_those_behind)
{
	struct queue q = { .w = w, .length = 4, .wants = { 5, 1, 2, 4 } };

	sennit_semaphore_init(&q.s, 4);
	q.deadline = sennit_after(20 * SENNIT_MILLISECOND);
	form_a_queue(&q);
	assert_soon(atomic_load(&q.left) == 3);
	assert_int_equal(atomic_load(&q.served), 2);
	assert_int_equal(sennit_semaphore_count(&q.s), 1);
	assert_int_equal(waiting_for(q.w->s, &q.s), 1);
	sennit_semaphore_give(&q.s, 3);
	sennit_wait_group_wait(&q.done);
	assert_int_equal(sennit_semaphore_count(&q.s), 0);
}

struct greed {
	sennit_semaphore s;
	atomic_bool      served;
};

static void be_greedy(void *argument)
{
	struct greed *g = argument;

	while (!atomic_load(&g->served)) {
		EXPECT(!sennit_semaphore_take(&g->s, 1));
		sennit_yield();
		sennit_semaphore_give(&g->s, 1);
	}
}

static void want_all(void *argument)
{
	struct greed *g = argument;

	EXPECT(!sennit_semaphore_take(&g->s, 4));
	atomic_store(&g->served, true);
	sennit_semaphore_give(&g->s, 4);
}

TEST_WITH_WORKERS(who_wants_all_is_not_starved_by_those_who_want_one)
{
	struct greed g = { .served = false };
	struct crowd greedy = { .s = w->s,
				.run = be_greedy,
				.argument = &g,
				.tasks = 8,
				.unbound = 1 };
	struct crowd modest = { .s = w->s,
				.run = want_all,
				.argument = &g,
				.tasks = 2,
				.bound = 1,
				.unbound = 1 };

	sennit_semaphore_init(&g.s, 4);
	gather(&greedy);
	gather(&modest);
	disperse(&modest);
	disperse(&greedy);
	assert_int_equal(sennit_semaphore_count(&g.s), 4);
}
