/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - a ticket queue: turns in the order in which the tickets were
 * taken.
 *
 * A ticket is due when all tickets that were taken from the queue before it are
 * done. The first ticket is due at once. Work may run in any order on any
 * worker; the part that must happen in order waits for its ticket, runs, and
 * marks the ticket as done.
 *
 * A ticket may be done before it is due. Its turn is then skipped.
 *
 * The caller that takes a ticket owns its memory: an array, a struct, or a
 * stack that remains. The queue stores the address of the ticket from the time
 * it is taken until it is done, so the ticket must not be moved, copied or
 * freed in that time. After that it may be taken again. A ticket needs no
 * initialisation. A queue must exist until all its tickets are done.
 *
 * A queue with all bytes zero is empty. A queue needs no destruction.
 *
 * Experimental: what this header declares may change in each minor version.
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
	void                *reserved_[2];
};

/* Initialise *q as an empty queue.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_init(sennit_ticket_queue *q);

/* Declare that *q is no longer used. This call is optional. It is misuse while
 * a ticket of *q is not done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_destroy(sennit_ticket_queue *q);

/* Take the next ticket of *q and store it in *t.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_take(sennit_ticket_queue *q,
					 sennit_ticket       *t);

/* Take n consecutive tickets of *q and store them in tickets[0] to tickets[n -
 * 1]. No other caller's ticket comes between them. With n = 0 nothing happens.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_take_many(sennit_ticket_queue *q,
					      sennit_ticket *tickets, size_t n);

/* Return whether *t is due or done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_ticket_is_due(const sennit_ticket *t);

/* Wait until *t is due or done, or the deadline passes. Several callers may
 * wait for one ticket. After the wait, everything that was done before the
 * earlier tickets were marked as done is visible. It is misuse if *t was never
 * taken.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_wait_until(sennit_ticket *t,
							sennit_time deadline);

/* Like sennit_ticket_wait_until, with the deadline of the caller's group alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT. After an error the caller
 * must still mark *t as done, or the tickets behind it never become due.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_wait(sennit_ticket *t);

/* Run run(argument) once, as a task on the bound scheduler, when *t is due; at
 * once if it is due already. run must mark *t as done, then or later: the
 * library does not. It is misuse to mark *t as done before run has begun, and
 * to register a second function before that.
 *
 * Until *t is due the call uses no stack, and the scheduler does not end. On a
 * scheduler without workers a fiber of the calling thread waits instead. It is
 * misuse if no scheduler is bound.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error run will not be
 * called. If the call returns 0, nothing can fail when *t becomes due.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_on_call(sennit_ticket  *t,
						     sennit_task_fn *run,
						     void           *argument);

/* Mark *t, due or not, as done. If it was due, the next ticket that is not done
 * is due now. When the call returns, the caller owns *t again and may take,
 * move or free it once no other caller waits for it. After the last ticket of a
 * queue the same holds for the queue. It is misuse if *t was not taken, is done
 * already, or was moved or copied.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_done(sennit_ticket *t);

SENNIT_END

#endif
