/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - tickets become due in the order in which they were taken. */
#include "testing/crowd.h"

#include <errno.h>

enum { MANY = 200, THREADS = 8 };

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(the_first_ticket_is_due_and_its_done_passes_on)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t[3];

	for (unsigned i = 0; i < 3; i++)
		sennit_ticket_queue_take(&q, &t[i]);
	for (unsigned i = 0; i < 3; i++) {
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

TEST_IN_EACH_PLACE(a_ticket_done_out_of_turn_is_skipped)
{
	sennit_ticket_queue q;
	sennit_ticket       t[5];

	sennit_ticket_queue_init(&q);
	sennit_ticket_queue_take_many(&q, t, 5);
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

TEST_IN_EACH_PLACE(taking_none_changes_nothing)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t;

	sennit_ticket_queue_take_many(&q, NULL, 0);
	sennit_ticket_queue_destroy(&q);
	sennit_ticket_queue_take(&q, &t);
	EXPECT(sennit_ticket_is_due(&t));
	sennit_ticket_queue_take_many(&q, NULL, 0);
	sennit_ticket_done(&t);
	sennit_ticket_queue_destroy(&q);
}

/* --- many tickets ------------------------------------------------------- */

/* Each task and thread has a ticket and enters its number in the log at its
 * turn. */
struct line {
	sennit_ticket_queue q;
	sennit_ticket       tickets[MANY];
	atomic_uint         next;
	unsigned            log[MANY]; /* in turn */
	unsigned            length;    /* in turn */
};

/* The last ticket goes to the first that begins. */
static void enter_in_line(void *argument)
{
	struct line   *l = argument;
	const unsigned i = MANY - 1 - atomic_fetch_add(&l->next, 1);

	EXPECT(!sennit_ticket_wait(&l->tickets[i]));
	EXPECT(l->length < MANY);
	l->log[l->length++] = i;
	sennit_ticket_done(&l->tickets[i]);
}

TEST_WITH_WORKERS(turns_come_in_the_order_taken)
{
	struct line l = { .q = SENNIT_TICKET_QUEUE_INIT };

	sennit_ticket_queue_take_many(&l.q, l.tickets, MANY);
	run_crowd((struct crowd){ .s = w->s,
				  .run = enter_in_line,
				  .argument = &l,
				  .tasks = MANY - THREADS,
				  .bound = THREADS / 2,
				  .unbound = THREADS / 2 });
	sennit_ticket_queue_destroy(&l.q);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(l.log[i], i);
}

/* Symptom of recursion: the stack overflowed. */
TEST_ALONE(a_long_row_done_out_of_turn_is_skipped_at_once)
{
	enum { LONG = LOAD(300000) };
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket      *t = calloc(LONG, sizeof(*t));

	assert_non_null(t);
	sennit_ticket_queue_take_many(&q, t, LONG);
	for (unsigned i = LONG - 2; i > 0; i--)
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

	for (unsigned i = 0; i < MANY; i += 5)
		sennit_ticket_queue_take_many(&r->q, &t[i], 5);
	for (unsigned i = 0; i < MANY; i++) {
		EXPECT(!sennit_ticket_wait(&t[i]));
		EXPECT(r->run % 5 == 0 || r->last == taker);
		r->run++;
		r->last = taker;
		sennit_ticket_done(&t[i]);
	}
}

TEST_WITH_WORKERS(tickets_taken_together_stay_together)
{
	struct rows r = { .taker = 0 };
	pthread_t   t = start_on_thread(take_rows, &r);

	in_a_task(take_rows, &r);
	pthread_join(t, NULL);
	assert_int_equal(r.run, 2 * MANY);
	sennit_ticket_queue_destroy(&r.q);
}

/* --- done before its turn ------------------------------------------------- */

struct pair {
	sennit_ticket_queue q;
	sennit_ticket       first, second;
};

static void wait_for_second(void *argument)
{
	struct pair *p = argument;

	EXPECT(!sennit_ticket_wait(&p->second));
}

TEST_WITH_WORKERS(all_who_wait_for_a_ticket_go_when_it_is_done)
{
	struct pair  p = { .q = SENNIT_TICKET_QUEUE_INIT };
	struct crowd c = { .s = w->s,
			   .run = wait_for_second,
			   .argument = &p,
			   .tasks = 20,
			   .bound = 2,
			   .unbound = 2 };

	sennit_ticket_queue_take(&p.q, &p.first);
	sennit_ticket_queue_take(&p.q, &p.second);
	gather(&c);
	assert_soon(waiting_for(w->s, &p.second) == 22);
	sennit_ticket_done(&p.second);
	disperse(&c);
	sennit_ticket_done(&p.first);
	sennit_ticket_queue_destroy(&p.q);
}
