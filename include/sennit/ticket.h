/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - turns that come in the order in which they were taken.
 *
 * Tickets are taken from a queue. A ticket is due once all that were taken from
 * the queue before it are done; the first is due at once. So work may run in
 * any order on any worker, and what must happen in order waits for its ticket,
 * happens, and marks the ticket as done.
 *
 * A ticket may be done before it is due: its place is then skipped.
 *
 * The memory of a ticket is its taker's, in an array, a struct or on a stack
 * that stays: from taking it until it is done the queue knows it by address, so
 * it must not be moved, copied or freed. Afterwards it may be taken again. It
 * needs no initialisation. A queue must stay until all its tickets are done.
 *
 * An all-zero queue is empty; nothing needs destroying.
 */
#ifndef SENNIT_TICKET_H
#define SENNIT_TICKET_H

#include "sennit/task.h"

#include <stdbool.h>

SENNIT_BEGIN

typedef struct sennit_ticket sennit_ticket;

typedef struct sennit_ticket_queue {
	sennit_word    state_;
	uint32_t       zero_;
	sennit_ticket *first_;
	sennit_ticket *last_;
} sennit_ticket_queue;

/* clang-format off */
#define SENNIT_TICKET_QUEUE_INIT { { 0 }, 0, NULL, NULL }
/* clang-format on */

struct sennit_ticket {
	sennit_word          state_;
	sennit_word          call_;
	void                *waiters_;
	sennit_ticket_queue *queue_;
	sennit_ticket       *earlier_;
	sennit_ticket       *later_;
	sennit_task_fn      *run_;
	void                *argument_;
	sennit_scheduler    *scheduler_;
	void                *parcel_;
};

/* Make *q an empty queue.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_init(sennit_ticket_queue *q);

/* Declare that *q is no longer used; optional. Misuse while a ticket of it is
 * not done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_destroy(sennit_ticket_queue *q);

/* Take the next ticket of *q into *t.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_take(sennit_ticket_queue *q,
					 sennit_ticket       *t);

/* Take n tickets of *q, one right after the other, into tickets[0] to
 * tickets[n - 1]: nobody else's comes between them. With n = 0 nothing happens.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_take_n(sennit_ticket_queue *q,
					   sennit_ticket *tickets, size_t n);

/* Whether *t is due, or done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_ticket_is_due(const sennit_ticket *t);

/* Wait until *t is due or done, or the deadline passes. Several may wait for
 * one ticket. Whatever was done before the earlier tickets were marked as done
 * is visible afterwards. Misuse of a ticket that was never taken.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_wait_until(sennit_ticket *t,
							sennit_time deadline);

/* Wait until *t is due or done.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_ticket_wait(sennit_ticket *t);

/* Run run(argument), once, as a task on the bound scheduler when *t is due, at
 * once if it is. It has *t done, then or later: *t is not done by itself, and
 * done before run has begun is misuse, as is a second function before that.
 *
 * Until then no stack is taken, and the scheduler does not end; but on one
 * without workers a fiber of the calling thread waits. Misuse with no scheduler
 * bound.
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: run is not going to be
 * called. When *t gets due nothing more can fail.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_on_call(sennit_ticket  *t,
						     sennit_task_fn *run,
						     void           *argument);

/* Mark *t, due or not, as done: if it was due, the next that is not done is due
 * now. On return *t is the caller's again, to take, move or free once nobody
 * else waits for it; with the last ticket of a queue, so is the queue. Misuse
 * of a ticket that is not taken, is done already, or was moved or copied.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_done(sennit_ticket *t);

SENNIT_END

#endif
