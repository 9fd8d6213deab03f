/* SPDX-License-Identifier: Apache-2.0 */
/* errands.h - tasks that others leave with a worker and that only it may run.
 *
 *	leave   pushes the task; then puts the note among the worker's fibers,
 *	        unless it is there
 *	owner   finds the note among its fibers: takes the note, then the tasks
 *
 * The note is what others and the worker itself look for: a worker with a note
 * has a fiber in its mailbox, which it alone can take. So all that holds for
 * fibers, when a worker sleeps, leaves or ends, holds for errands.
 */
#ifndef SN_ERRANDS_H
#define SN_ERRANDS_H

#include "worker/mailbox.h"
#include "worker/task_inbox.h"

struct errands {
	struct inbox tasks; /* any: struct parcel */
	struct node  note;  /* whoever sets told */
	a_u32        told;  /* any: 1: the note is among the fibers, or is about
			     * to be */
};

/* Leave a parcel's node. The worker is then woken, as for a fiber. */
static inline void sn_errands_leave(struct errands *e, struct mailbox *mail,
				    struct node *n)
{
	sn_inbox_push(&e->tasks, n, n);
	/* -> errands.told: the task <- errands.told: the note is free */
	if (!a_swap_acqrel(&e->told, 1))
		sn_mailbox_put_fibers(mail, &e->note, &e->note);
}

/* Whether the note may be among fibers that the owner has just taken. A stale
 * value is harmless: whoever sets it puts the note there afterwards. */
static inline bool sn_errands_are_told(const struct errands *e)
{
	return a_load_rlx(&e->told);
}

/* Owner only: take the note out of the fibers *first..*last, where it may be,
 * and the tasks, oldest first; NULL: there are none. */
static inline struct node *sn_errands_take(struct errands *e,
					   struct node   **first,
					   struct node   **last)
{
	struct node *newest;

	if (!sn_chain_remove(first, last, &e->note))
		return NULL;
	/* -> errands.told: the note is free <- errands.told: the tasks */
	(void)a_swap_acqrel(&e->told, 0);
	return sn_inbox_take(&e->tasks, &newest);
}

#endif
