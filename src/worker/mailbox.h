/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox.h - what others leave with a worker: fibers that are ready, tasks
 * that it or any thief may start.
 *
 * On a cache line of its own: any thread writes it, while the worker's own
 * lines stay its own.
 */
#ifndef SN_MAILBOX_H
#define SN_MAILBOX_H

#include "core/inbox.h"

struct mailbox {
	struct inbox fibers;  /* any: ready fibers */
	struct inbox tasks;   /* any, thieves too: struct parcel */
	a_u32        idle;    /* owner writes; 1: it has nothing to do, and will
			      * look into tasks first */
	a_u32        callers; /* any: STW: threads that may yet touch the worker
			       * for a fiber that they have left here; it is
			       * not freed before zero */
};

static inline bool sn_mailbox_has_fibers(const struct mailbox *m)
{
	return !sn_inbox_is_empty(&m->fibers);
}

static inline bool sn_mailbox_has_tasks(const struct mailbox *m)
{
	return !sn_inbox_is_empty(&m->tasks);
}

static inline bool sn_mailbox_is_empty(const struct mailbox *m)
{
	return !sn_mailbox_has_fibers(m) && !sn_mailbox_has_tasks(m);
}

/* Whether the owner will look into the tasks first. Stale: see
 * sn_balance_piles_up. */
static inline bool sn_mailbox_is_awaited(const struct mailbox *m)
{
	return a_load_rlx(&m->idle);
}

/* The owner: whether it has nothing to do. Seen through parking's counts. */
static inline void sn_mailbox_set_awaited(struct mailbox *m, bool awaited)
{
	a_store_rlx(&m->idle, awaited);
}

/* The fibers, the oldest first; see sn_inbox_take. Owner only. */
static inline struct node *sn_mailbox_take_fibers(struct mailbox *m,
						  struct node   **last)
{
	return sn_inbox_take(&m->fibers, last);
}

/* Leave a chain of fibers, the newest first. */
static inline void sn_mailbox_put_fibers(struct mailbox *m, struct node *newest,
					 struct node *oldest)
{
	sn_inbox_push(&m->fibers, newest, oldest);
}

/* The caller will touch the worker after it has left fibers. */
static inline void sn_mailbox_hold(struct mailbox *m)
{
	a_add_rlx(&m->callers, 1); /* shown by inbox.push */
}

static inline void sn_mailbox_let_go(struct mailbox *m)
{
	a_sub_rel(&m->callers, 1); /* -> wait.callers: all is done */
}

/* The owner: whether somebody may. */
static inline bool sn_mailbox_is_held(const struct mailbox *m)
{
	return a_load_acq(&m->callers); /* <- wait.callers */
}

static inline struct inbox *sn_mailbox_tasks(struct mailbox *m)
{
	return &m->tasks;
}

/* Leave a chain of parcels, the newest first. */
static inline void sn_mailbox_put_tasks(struct mailbox *m, struct node *newest,
					struct node *oldest)
{
	sn_inbox_push(&m->tasks, newest, oldest);
}

/* All tasks as they were left, the newest first, with the oldest; NULL when
 * there are none. Anyone. */
static inline struct node *sn_mailbox_take_tasks(struct mailbox *m,
						 struct node   **oldest)
{
	struct node *newest = sn_inbox_take_raw(&m->tasks);

	if (newest)
		for (*oldest = newest; (*oldest)->next;
		     *oldest = (*oldest)->next)
			;
	return newest;
}

#endif
