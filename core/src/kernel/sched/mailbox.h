/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox.h - what other threads leave with a worker: see struct mailbox and
 * struct pinned_mail. */
#ifndef SN_MAILBOX_H
#define SN_MAILBOX_H

#include "queue/inbox.h"
#include "sched/state.h"

/* Whether there are fibers besides n, which may be there. Nobody may take or
 * leave any meanwhile. */
static inline bool sn_mailbox_has_fibers_besides(struct mailbox    *m,
						 const struct node *n)
{
	return !sn_inbox_is_empty(&m->fibers) &&
	       !sn_inbox_is_only(&m->fibers, n);
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

/* Take all tasks as they were left, newest first; *oldest becomes the last one.
 * NULL: there are none. Any thread. */
static inline struct node *sn_mailbox_take_tasks(struct mailbox *m,
						 struct node   **oldest)
{
	struct node *newest = sn_task_inbox_take_raw(&m->tasks);

	if (newest)
		for (*oldest = newest; (*oldest)->next;
		     *oldest = (*oldest)->next)
			;
	return newest;
}

/* --- pinned mail ---------------------------------------------------------- */

/* Put the note among the fibers, unless it is there. Returns whether it was
 * not. */
static inline bool sn_pinned_mail_notify(struct pinned_mail *p,
					 struct mailbox     *mail)
{
	/* -> errands.told: the mail <- errands.told: the note is free */
	if (a_swap_acqrel(&p->told, 1))
		return false;
	sn_inbox_push(&mail->fibers, &p->note, &p->note);
	return true;
}

/* Enqueue the node of a queued task. The worker is then woken, as for a
 * fiber. */
static inline void sn_pinned_mail_enqueue(struct pinned_mail *p,
					  struct mailbox *mail, struct node *n)
{
	sn_task_inbox_push(&p->tasks, n, n);
	sn_pinned_mail_notify(p, mail);
}

/* Enqueue the `rearm` node of a fiber. Returns whether the worker is to be
 * woken. */
static inline bool sn_pinned_mail_rearm(struct pinned_mail *p,
					struct mailbox *mail, struct node *n)
{
	sn_inbox_push(&p->rearms, n, n);
	return sn_pinned_mail_notify(p, mail);
}

/* Owner only: what sn_pinned_mail_rearm has enqueued, oldest first. */
static inline struct node *sn_pinned_mail_take_rearms(struct pinned_mail *p,
						      struct node       **last)
{
	return sn_inbox_take(&p->rearms, last);
}

/* Whether the note may be among fibers that the owner has just taken. A stale
 * value is harmless: whoever sets it puts the note there afterwards. */
static inline bool sn_pinned_mail_is_notified(const struct pinned_mail *p)
{
	return a_load_rlx(&p->told);
}

/* Owner only: take the note out of the fibers *first..*last, where it may be,
 * and the tasks, oldest first; NULL: there are none. */
static inline struct node *sn_pinned_mail_drain(struct pinned_mail *p,
						struct node       **first,
						struct node       **last)
{
	if (!sn_chain_remove(first, last, &p->note))
		return NULL;
	/* -> errands.told: the note is free <- errands.told: the tasks */
	(void)a_swap_acqrel(&p->told, 0);
	return sn_chain_reversed(sn_task_inbox_take_raw(&p->tasks));
}

#endif
