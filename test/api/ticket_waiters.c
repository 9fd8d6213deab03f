/* SPDX-License-Identifier: Apache-2.0 */
/* ticket_waiters.c - several waiters for one ticket, waiters that give up, and
 * waiters that free the ticket. */
#include "crowd.h"
#include "with_workers.h"

#include <errno.h>

/* --- several for one ticket --------------------------------------------- */

struct queuers {
	sennit_ticket_queue q;
	sennit_ticket       t[3];
	sennit_wait_group   gathered, done;
	atomic_uint         passed;
};

static void wait_in_crowd(void *argument)
{
	struct queuers *c = argument;

	sennit_wait_group_done(&c->gathered);
	EXPECT(!sennit_ticket_wait(&c->t[2]));
	atomic_fetch_add(&c->passed, 1);
	sennit_wait_group_done(&c->done);
}

static void *wait_in_crowd_as_thread(void *argument)
{
	wait_in_crowd(argument);
	return NULL;
}

static void gather_crowd(struct queuers *c, pthread_t *threads)
{
	unsigned i;

	sennit_wait_group_init(&c->gathered, 24);
	sennit_wait_group_init(&c->done, 24);
	sennit_ticket_queue_take_n(&c->q, c->t, 3);
	for (i = 0; i < 20; i++)
		must_schedule(wait_in_crowd, c);
	for (i = 0; i < 4; i++)
		threads[i] = must_start_thread(wait_in_crowd_as_thread, c);
	sennit_wait_group_wait(&c->gathered);
}

static void end_crowd(struct queuers *c, pthread_t *threads)
{
	unsigned i;

	sennit_wait_group_wait(&c->done);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&c->passed), 24);
}

TEST_WITH_WORKERS(all_who_wait_for_a_ticket_go_when_it_is_due)
{
	struct queuers c = { .passed = 0 };
	pthread_t      threads[4];

	gather_crowd(&c, threads);
	sennit_ticket_done(&c.t[0]);
	assert_int_equal(atomic_load(&c.passed), 0);
	sennit_ticket_done(&c.t[1]);
	end_crowd(&c, threads);
	sennit_ticket_done(&c.t[2]);
	sennit_ticket_queue_destroy(&c.q);
}

TEST_WITH_WORKERS(all_who_wait_for_a_ticket_go_when_it_is_done)
{
	struct queuers c = { .passed = 0 };
	pthread_t      threads[4];

	gather_crowd(&c, threads);
	sennit_ticket_done(&c.t[2]); /* before its turn */
	end_crowd(&c, threads);
	assert_false(sennit_ticket_is_due(&c.t[1]));
	sennit_ticket_done(&c.t[1]);
	sennit_ticket_done(&c.t[0]);
	sennit_ticket_queue_destroy(&c.q);
}

/* --- one waiter leaves, another stays ----------------------------------- */

static void wait_briefly(void *ticket)
{
	EXPECT(sennit_ticket_wait_until(
		       ticket, sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_timed_out_waiter_leaves_nothing_behind)
{
	struct queuers c = { .passed = 0 };

	sennit_wait_group_init(&c.gathered, 1);
	sennit_wait_group_init(&c.done, 1);
	sennit_ticket_queue_take_n(&c.q, c.t, 3);
	in_each_place(wait_briefly, &c.t[2]);
	must_schedule(wait_in_crowd, &c);
	assert_soon(fibers_of(w->s) == 1);
	in_each_place(wait_briefly, &c.t[2]);
	sennit_ticket_done(&c.t[0]);
	sennit_ticket_done(&c.t[1]);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.passed), 1);
	sennit_ticket_done(&c.t[2]);
}

/* A ticket is freed right after done, and so is the queue with its last
 * ticket. */
struct passing {
	sennit_ticket_queue *q;
	sennit_ticket       *t;
	bool                 last;
	sennit_wait_group   *done;
};

static void pass_and_free(void *argument)
{
	struct passing *p = argument;

	EXPECT(!sennit_ticket_wait(p->t));
	sennit_ticket_done(p->t);
	memset(p->t, 0xa5, sizeof(*p->t));
	free(p->t);
	if (p->last) {
		sennit_ticket_queue_destroy(p->q);
		memset(p->q, 0xa5, sizeof(*p->q));
		free(p->q);
	}
	sennit_wait_group_done(p->done);
}

TEST_WITH_WORKERS(tickets_and_queue_may_be_freed_when_done)
{
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;
	struct passing    p = { .done = &done };
	unsigned          i, round;

	for (round = 0; round < 20; round++) {
		sennit_wait_group_add(&done, 20);
		p.q = calloc(1, sizeof(*p.q));
		p.last = false;
		for (i = 0; i < 20; i++) {
			p.t = malloc(sizeof(*p.t));
			memset(p.t, 0xff, sizeof(*p.t));
			sennit_ticket_queue_take(p.q, p.t);
			p.last = i == 19;
			EXPECT(sennit_schedule_copy(pass_and_free, &p,
						    sizeof(p)) == 0);
		}
		sennit_wait_group_wait(&done);
	}
}

/* --- reports ------------------------------------------------------------ */

TEST_WITH_WORKERS(a_report_names_the_ticket)
{
	struct queuers c = { .passed = 0 };

	sennit_wait_group_init(&c.gathered, 1);
	sennit_wait_group_init(&c.done, 1);
	sennit_ticket_queue_take_n(&c.q, c.t, 3);
	must_schedule(wait_in_crowd, &c);
	assert_soon(fibers_of(w->s) == 1);
	assert_int_equal(waiting_for(w->s, &c.t[2]), 1);
	assert_int_equal(said_to_be(w->s, &c.t[2]), SENNIT_WAITS_FOR_TICKET);
	sennit_ticket_done(&c.t[2]);
	sennit_wait_group_wait(&c.done);
}
