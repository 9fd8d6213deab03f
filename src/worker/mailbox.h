/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox.h - what other threads leave with a worker: ready fibers, and tasks
 * that the worker or any thief may start.
 *
 * It has a cache line of its own, because any thread writes it. So the worker's
 * own lines stay exclusive.
 */
#ifndef SN_MAILBOX_H
#define SN_MAILBOX_H

#include "core/inbox.h"

struct mailbox {
	struct inbox fibers;  /* any: ready fibers */
	struct inbox tasks;   /* any, including thieves: struct parcel */
	a_u32        idle;    /* owner writes; 1: the worker has nothing to do,
			       * and will look into `tasks` first */
	a_u32        callers; /* any: STW: threads that may still access the
			       * worker after they have left a fiber here; the
			       * worker is not freed before this is zero */
};

static inline bool sn_mailbox_has_fibers(const struct mailbox *m)
{
	return !sn_inbox_is_empty(&m->fibers);
}

/* Whether there are fibers besides n, which may be there. Nobody may take or
 * leave any meanwhile. */
static inline bool sn_mailbox_has_fibers_besides(struct mailbox    *m,
						 const struct node *n)
{
	return !sn_inbox_is_empty(&m->fibers) &&
	       !sn_inbox_is_only(&m->fibers, n);
}

static inline bool sn_mailbox_has_tasks(const struct mailbox *m)
{
	return !sn_inbox_is_empty(&m->tasks);
}

static inline bool sn_mailbox_is_empty(const struct mailbox *m)
{
	return !sn_mailbox_has_fibers(m) && !sn_mailbox_has_tasks(m);
}

/* Whether the owner will look into the tasks first. May be stale: see
 * sn_balance_piles_up. */
static inline bool sn_mailbox_is_awaited(const struct mailbox *m)
{
	return a_load_rlx(&m->idle);
}

/* Owner only: whether it has nothing to do. parking's counts make it
 * visible. */
static inline void sn_mailbox_set_awaited(struct mailbox *m, bool awaited)
{
	a_store_rlx(&m->idle, awaited);
}

/* Take the fibers, oldest first; see sn_inbox_take. Owner only. */
static inline struct node *sn_mailbox_take_fibers(struct mailbox *m,
						  struct node   **last)
{
	return sn_inbox_take(&m->fibers, last);
}

/* Leave a chain of fibers, newest first. */
static inline void sn_mailbox_put_fibers(struct mailbox *m, struct node *newest,
					 struct node *oldest)
{
	sn_inbox_push(&m->fibers, newest, oldest);
}

/* The caller will access the worker after it has left fibers. */
static inline void sn_mailbox_hold(struct mailbox *m)
{
	a_add_rlx(&m->callers, 1); /* inbox.push makes it visible */
}

static inline void sn_mailbox_let_go(struct mailbox *m)
{
	a_sub_rel(&m->callers, 1); /* -> wait.callers: no more accesses */
}

/* Owner only: whether another thread may still access the worker. */
static inline bool sn_mailbox_is_held(const struct mailbox *m)
{
	return a_load_acq(&m->callers); /* <- wait.callers */
}

static inline struct inbox *sn_mailbox_tasks(struct mailbox *m)
{
	return &m->tasks;
}

/* Leave a chain of parcels, newest first. */
static inline void sn_mailbox_put_tasks(struct mailbox *m, struct node *newest,
					struct node *oldest)
{
	sn_inbox_push(&m->tasks, newest, oldest);
}

/* Take all tasks as they were left, newest first; *oldest becomes the last one.
 * NULL: there are none. Any thread. */
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
