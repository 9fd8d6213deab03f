/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - a list of the tickets that are not done. The first one is due.
 *
 *	first_ -> TICKET_DUE <-> TICKET_TAKEN <-> TICKET_TAKEN <- last_
 *
 * The queue's word is the lock of the list, of each ticket's waiters, and of
 * the pending calls. It has no other bits, because the waiters are in several
 * lists. A ticket leaves the list when it is done. So the next ticket to become
 * due is always the next in the list, even if many were done before their turn.
 *
 * A thread that sees TICKET_DUE without the lock may continue. The thread that
 * set it may still hold the lock, but no thread can mark the ticket as done
 * without that lock.
 */
#include "base/compiler.h"
#include "life/end.h"
#include "sched/place.h"
#include "wait/wait.h"
#include "sennit/ticket.h"

#include <errno.h>

/* Values of sennit_ticket.state_. They only grow, under the lock, until the
 * ticket is taken again. */
enum {
	TICKET_NEVER_TAKEN = 0,
	TICKET_TAKEN = 1,
	TICKET_DUE = 2,
	TICKET_DONE = 3
};

_Static_assert(sizeof(sennit_ticket_queue) ==
		       2 * sizeof(uint32_t) + 2 * sizeof(void *),
	       "a queue of tickets is three words");

void sennit_ticket_queue_init(sennit_ticket_queue *q)
{
	a_init(&q->state_, 0);
	q->zero_ = 0;
	q->first_ = NULL;
	q->last_ = NULL;
}

void sennit_ticket_queue_destroy(sennit_ticket_queue *q)
{
	MISUSE(q->first_, "sennit_ticket_queue_destroy",
	       "a ticket of the queue is not done");
}

/* --- taking ------------------------------------------------------------- */

/* No other thread knows the ticket yet. */
static void init_taken_ticket(sennit_ticket *t, sennit_ticket_queue *q)
{
	a_init(&t->state_, TICKET_TAKEN);
	a_init(&t->call_, 0);
	t->waiters_ = NULL;
	t->queue_ = q;
	t->parcel_ = NULL;
}

/* Whether the address, which may be NULL, lies in first..last. */
static bool is_among(const sennit_ticket *t, const sennit_ticket *first,
		     const sennit_ticket *last)
{
	return (uintptr_t)t - (uintptr_t)first <=
	       (uintptr_t)last - (uintptr_t)first;
}

/* Append a chain of tickets, which form one array and are at least one, to the
 * list. The contents of a ticket before it is taken are undefined. So a ticket
 * that is already in the list is detected by its address: here at either end of
 * the list, elsewhere in unlink_ticket(). */
static void append_tickets(sennit_ticket_queue *q, sennit_ticket *first,
			   sennit_ticket *last)
{
	sn_wait_queue_lock(&q->state_);
	MISUSE(is_among(q->first_, first, last) ||
		       is_among(q->last_, first, last),
	       "sennit_ticket_queue_take", "the ticket is already taken");
	first->earlier_ = q->last_;
	last->later_ = NULL;
	if (q->last_) {
		q->last_->later_ = first;
	} else {
		q->first_ = first;
		a_store_rel(&first->state_,
			    TICKET_DUE); /* -> ticket.due: its links */
	}
	q->last_ = last;
	sn_wait_queue_unlock(&q->state_, 0);
}

void sennit_ticket_queue_take(sennit_ticket_queue *q, sennit_ticket *t)
{
	init_taken_ticket(t, q);
	append_tickets(q, t, t);
}

void sennit_ticket_queue_take_many(sennit_ticket_queue *q,
				   sennit_ticket *tickets, size_t n)
{
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n; i++)
		init_taken_ticket(&tickets[i], q);
	for (i = 1; i < n; i++) {
		tickets[i - 1].later_ = &tickets[i];
		tickets[i].earlier_ = &tickets[i - 1];
	}
	append_tickets(q, &tickets[0], &tickets[n - 1]);
}

/* --- waiting ------------------------------------------------------------ */

bool sennit_ticket_is_due(const sennit_ticket *t)
{
	bool due = a_load_acq(&t->state_) >= TICKET_DUE; /* <- ticket.due */

	if (due)
		sn_race_acquire(t->queue_);
	return due;
}

int sennit_ticket_wait_until(sennit_ticket *t, sennit_time deadline)
{
	sennit_ticket_queue *q = t->queue_;
	struct waiter       *n;

	if (sennit_ticket_is_due(t))
		return 0;
	MISUSE(a_load_rlx(&t->state_) == TICKET_NEVER_TAKEN,
	       "sennit_ticket_wait", "the ticket was never taken");
	if (!deadline)
		return -ETIMEDOUT;
	n = sn_waiter_own(deadline);
	TORTURE_POINT(); /* looked, not linked yet */
	sn_wait_queue_lock(&q->state_);
	/* not raced: it changes only under the lock */
	if (a_load_rlx(&t->state_) >= TICKET_DUE) {
		sn_wait_queue_unlock(&q->state_, 0);
		return 0;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_TICKET, t, deadline);
	sn_wait_queue_join(&t->waiters_, n, false);
	sn_wait_queue_unlock(&q->state_, 0);
	return sn_wait_in(&q->state_, &t->waiters_, n, deadline);
}

int sennit_ticket_wait(sennit_ticket *t)
{
	return KEEP_FRAME(sennit_ticket_wait_until(t, SENNIT_NEVER));
}

/* --- calling ------------------------------------------------------------ */

/* The task of a call. *t stays valid until run is called, which may end it. */
static void run_ticket(void *ticket)
{
	sennit_ticket  *t = ticket;
	sennit_task_fn *run = t->run_;
	void           *argument = t->argument_;

	/* already due, except in a scheduler without workers */
	(void)!sennit_ticket_wait_until(t, SN_UNCANCELLED);
	sn_race_acquire(t);
	a_store_rlx(&t->call_, 0);
	run(argument);
}

/* Place the task of *t, which is due. Its queued task and a reference to the
 * scheduler were reserved by the request. *t may be gone once the task is
 * placed. Lock not held. */
static void place_call(sennit_ticket *t)
{
	sennit_scheduler *s = t->scheduler_;

	sn_race_acquire(t->queue_);
	sn_place_reserved(s, t->parcel_, TASK(run_ticket, t, TASK_BORROWED));
	sn_end_release(s);
}

/* For a scheduler with workers. */
static int call_when_due(sennit_ticket *t, sennit_scheduler *s)
{
	sennit_ticket_queue *q = t->queue_;
	struct queued_task  *p = sn_place_reserve(s);
	bool                 due;

	if (!p)
		return -ENOMEM;
	CHECK(sn_gate_retain(&s->gate), "a scheduler ended around its caller");
	t->scheduler_ = s;
	sn_wait_queue_lock(&q->state_);
	/* not raced: it changes only under the lock */
	due = a_load_rlx(&t->state_) >= TICKET_DUE;
	t->parcel_ = p;
	sn_wait_queue_unlock(&q->state_, 0);
	if (due)
		place_call(t);
	return 0;
}

int sennit_ticket_on_call(sennit_ticket *t, sennit_task_fn *run, void *argument)
{
	struct worker *w = sn_self;
	uint32_t       state = a_load_rlx(&t->state_); /* the caller owns the
						        * ticket */
	int            err;

	MISUSE(!w, "sennit_ticket_on_call",
	       "no scheduler is bound to this thread");
	MISUSE(state == TICKET_NEVER_TAKEN || state == TICKET_DONE,
	       "sennit_ticket_on_call",
	       "the ticket was not taken, or is already done");
	MISUSE(a_load_rlx(&t->call_), "sennit_ticket_on_call",
	       "another call of the ticket is still pending");
	if (!run)
		return -EINVAL;
	t->run_ = run;
	t->argument_ = argument;
	sn_race_release(t);
	a_store_rlx(&t->call_, 1);
	err = w->scheduler->capacity ? call_when_due(t, w->scheduler)
				     : sennit_schedule(run_ticket, t);
	if (err)
		a_store_rlx(&t->call_, 0);
	return err;
}

/* --- done --------------------------------------------------------------- */

/* Unlink *t. Returns the ticket that becomes due, or NULL. Lock held. */
static sennit_ticket *unlink_ticket(sennit_ticket_queue *q, sennit_ticket *t)
{
	sennit_ticket *later = t->later_;

	MISUSE((t->earlier_ ? t->earlier_->later_ : q->first_) != t,
	       "sennit_ticket_done",
	       "the ticket, or the one before it, was moved, copied or taken "
	       "again");
	if (later)
		later->earlier_ = t->earlier_;
	else
		q->last_ = t->earlier_;
	if (t->earlier_) {
		t->earlier_->later_ = later;
		return NULL;
	}
	q->first_ = later;
	return later;
}

/* Mark *t as due. Returns its waiters. Lock held. */
static struct link *make_due(sennit_ticket *t)
{
	/* -> ticket.due: what was done before the earlier tickets were done */
	a_store_rel(&t->state_, TICKET_DUE);
	TORTURE_POINT(); /* due, but it cannot be marked as done yet */
	return sn_wait_take_all(&t->waiters_, WAIT_QUEUE_RACED);
}

void sennit_ticket_done(sennit_ticket *t)
{
	sennit_ticket_queue *q = t->queue_;
	const uint32_t       state = a_load_rlx(&t->state_); /* the caller owns
							      * it */
	struct link         *waiters = NULL;
	sennit_ticket       *next;

	MISUSE(state == TICKET_NEVER_TAKEN, "sennit_ticket_done",
	       "the ticket was never taken");
	MISUSE(state == TICKET_DONE, "sennit_ticket_done",
	       "the ticket is already done");
	MISUSE(a_load_rlx(&t->call_), "sennit_ticket_done",
	       "the function of sennit_ticket_on_call has not been called");
	sn_race_release(q);
	sn_wait_queue_lock(&q->state_);
	next = unlink_ticket(q, t);
	if (next)
		waiters = make_due(next);
	else if (t->waiters_) /* done before its turn */
		waiters = sn_wait_take_all(&t->waiters_, WAIT_QUEUE_RACED);
	/* -> ticket.due: what its owner did; the last access to it */
	a_store_rel(&t->state_, TICKET_DONE);
	if (next && !next->parcel_)
		next = NULL;
	sn_wait_queue_unlock(&q->state_, 0);
	sn_wake_all(waiters);
	if (next)
		place_call(next);
}
