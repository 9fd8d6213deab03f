/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - tickets become due in the order in which they were taken. */
#include "with_workers.h"

#include <errno.h>

enum { MANY = 200, THREADS = 8 };

/* --- one caller, in each place ------------------------------------------ */

static void try_three(void *argument)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t[3];
	unsigned            i;

	(void)argument;
	for (i = 0; i < 3; i++)
		sennit_ticket_queue_take(&q, &t[i]);
	for (i = 0; i < 3; i++) {
		EXPECT(sennit_ticket_is_due(&t[i]));
		EXPECT(i == 2 || !sennit_ticket_is_due(&t[i + 1]));
		EXPECT(i == 2 ||
		       sennit_ticket_wait_until(&t[i + 1], 0) == -ETIMEDOUT);
		EXPECT(sennit_ticket_wait_until(&t[i], 0) == 0);
		EXPECT(!sennit_ticket_wait(&t[i]));
		sennit_ticket_done(&t[i]);
		EXPECT(sennit_ticket_is_due(&t[i]));
		EXPECT(!sennit_ticket_wait(&t[i]));
	}
	sennit_ticket_queue_destroy(&q);
}

static void try_out_of_turn(void *argument)
{
	sennit_ticket_queue q;
	sennit_ticket       t[5];

	(void)argument;
	sennit_ticket_queue_init(&q);
	sennit_ticket_queue_take_n(&q, t, 5);
	sennit_ticket_done(&t[1]);
	EXPECT(sennit_ticket_wait_until(&t[1], 0) == 0);
	EXPECT(!sennit_ticket_is_due(&t[2]));
	sennit_ticket_done(&t[4]); /* the last one */
	sennit_ticket_done(&t[0]);
	EXPECT(sennit_ticket_is_due(&t[2]));
	EXPECT(!sennit_ticket_is_due(&t[3]));
	sennit_ticket_queue_take(&q, &t[4]);
	sennit_ticket_done(&t[2]);
	EXPECT(!sennit_ticket_is_due(&t[4]));
	sennit_ticket_done(&t[3]);
	EXPECT(sennit_ticket_is_due(&t[4]));
	sennit_ticket_done(&t[4]);
	sennit_ticket_queue_destroy(&q);
}

static void try_none(void *argument)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t;

	(void)argument;
	sennit_ticket_queue_take_n(&q, NULL, 0);
	sennit_ticket_queue_destroy(&q);
	sennit_ticket_queue_take(&q, &t);
	EXPECT(sennit_ticket_is_due(&t));
	sennit_ticket_queue_take_n(&q, NULL, 0);
	sennit_ticket_done(&t);
	sennit_ticket_queue_destroy(&q);
}

static void try_deadlines(void *argument)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t[2];
	const sennit_time   soon = sennit_after(3 * SENNIT_MILLISECOND);

	(void)argument;
	sennit_ticket_queue_take_n(&q, t, 2);
	EXPECT(sennit_ticket_wait_until(&t[1], soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_ticket_wait_until(&t[1], soon) == -ETIMEDOUT); /* in the
								      * past */
	EXPECT(sennit_ticket_wait_until(&t[1], 1) == -ETIMEDOUT);
	sennit_ticket_done(&t[0]);
	EXPECT(sennit_ticket_wait_until(&t[1], 1) == 0); /* due: the deadline
							  * does not matter */
	sennit_ticket_done(&t[1]);
	sennit_ticket_queue_destroy(&q);
}

TEST_WITH_WORKERS(the_first_ticket_is_due_and_its_done_passes_on)
{
	in_each_place(try_three, NULL);
}

TEST_WITH_WORKERS(a_ticket_done_out_of_turn_is_skipped)
{
	in_each_place(try_out_of_turn, NULL);
}

TEST_WITH_WORKERS(taking_none_changes_nothing)
{
	in_each_place(try_none, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadlines, NULL);
}

/* --- many tickets ------------------------------------------------------- */

/* Each task has a ticket and enters its number in the log at its turn. */
struct line {
	sennit_ticket_queue q;
	sennit_scheduler   *s;
	sennit_ticket       tickets[MANY];
	sennit_wait_group   done;
	sennit_wait_group   gathered;
	sennit_time         deadline;
	atomic_uint         next;
	unsigned            log[MANY]; /* in turn */
	unsigned            length;    /* in turn */
};

static void enter(struct line *l, unsigned i)
{
	sennit_wait_group_done(&l->gathered);
	EXPECT(sennit_ticket_wait_until(&l->tickets[i], l->deadline) == 0);
	EXPECT(l->length < MANY);
	l->log[l->length++] = i;
	sennit_ticket_done(&l->tickets[i]);
	sennit_wait_group_done(&l->done);
}

/* The last ticket goes to the first task. */
static void enter_in_line(void *argument)
{
	struct line *l = argument;

	enter(l, MANY - 1 - atomic_fetch_add(&l->next, 1));
}

static void *enter_unbound(void *argument)
{
	enter_in_line(argument);
	return NULL;
}

static void *enter_bound(void *argument)
{
	struct line *l = argument;

	EXPECT(sennit_bind(l->s) == 0);
	enter_in_line(l);
	sennit_unbind();
	return NULL;
}

/* Waiters of all kinds wait for all tickets except the first `held`. */
static void form_line(struct line *l, sennit_scheduler *s, pthread_t *threads,
		      unsigned held)
{
	unsigned i;

	l->s = s;
	sennit_wait_group_init(&l->done, MANY - held);
	sennit_wait_group_init(&l->gathered, MANY - held);
	sennit_ticket_queue_take_n(&l->q, l->tickets, MANY);
	for (i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(
			i % 2 ? enter_unbound : enter_bound, l);
	for (i = THREADS; i < MANY - held; i++)
		must_schedule(enter_in_line, l);
}

static void end_line(struct line *l, pthread_t *threads)
{
	unsigned i;

	sennit_wait_group_wait(&l->done);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sennit_ticket_queue_destroy(&l->q);
}

TEST_WITH_WORKERS(turns_come_in_the_order_taken)
{
	struct line l = { .deadline = SENNIT_NEVER };
	pthread_t   threads[THREADS];
	unsigned    i;

	form_line(&l, w->s, threads, 0);
	end_line(&l, threads);
	for (i = 0; i < MANY; i++)
		assert_int_equal(l.log[i], i);
}

TEST_WITH_WORKERS(turns_with_deadlines_come_in_the_order_taken)
{
	struct line l = { .deadline = sennit_after(100 * SENNIT_SECOND) };
	pthread_t   threads[THREADS];
	unsigned    i;

	form_line(&l, w->s, threads, 1);
	sennit_wait_group_wait(&l.gathered);
	assert_int_equal(l.length, 0);
	sennit_ticket_done(&l.tickets[0]);
	end_line(&l, threads);
	for (i = 0; i < MANY - 1; i++)
		assert_int_equal(l.log[i], i + 1);
}

/* Symptom of recursion: the stack overflowed. */
TEST_ALONE(a_long_row_done_out_of_turn_is_skipped_at_once)
{
	enum { LONG = LOAD(300000) };
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket      *t = calloc(LONG, sizeof(*t));
	unsigned            i;

	assert_non_null(t);
	sennit_ticket_queue_take_n(&q, t, LONG);
	for (i = LONG - 2; i > 0; i--)
		sennit_ticket_done(&t[i]);
	assert_false(sennit_ticket_is_due(&t[LONG - 1]));
	sennit_ticket_done(&t[0]);
	assert_true(sennit_ticket_is_due(&t[LONG - 1]));
	sennit_ticket_done(&t[LONG - 1]);
	sennit_ticket_queue_destroy(&q);
	free(t);
}

/* Two tasks take rows of five tickets each. */
struct rows {
	sennit_ticket_queue q;
	sennit_ticket       tickets[2][MANY];
	atomic_uint         taker;
	unsigned            run;  /* in turn: tickets so far of this task */
	unsigned            last; /* in turn: the task of the last ticket */
};

static void take_rows(void *argument)
{
	struct rows   *r = argument;
	const unsigned taker = atomic_fetch_add(&r->taker, 1);
	sennit_ticket *t = r->tickets[taker];
	unsigned       i;

	for (i = 0; i < MANY; i += 5)
		sennit_ticket_queue_take_n(&r->q, &t[i], 5);
	for (i = 0; i < MANY; i++) {
		EXPECT(!sennit_ticket_wait(&t[i]));
		EXPECT(r->run % 5 == 0 || r->last == taker);
		r->run++;
		r->last = taker;
		sennit_ticket_done(&t[i]);
	}
}

static void *take_rows_as_thread(void *argument)
{
	take_rows(argument);
	return NULL;
}

TEST_WITH_WORKERS(tickets_taken_together_stay_together)
{
	struct rows r = { .taker = 0 };
	pthread_t   t = must_start_thread(take_rows_as_thread, &r);

	in_a_task(take_rows, &r);
	pthread_join(t, NULL);
	assert_int_equal(r.run, 2 * MANY);
	sennit_ticket_queue_destroy(&r.q);
}
