/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/cancel.h"

#include "wait/wait.h"

#include <errno.h>

bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s)
{
	for (; s; s = s->parent_)
		if (a_load_acq(&s->cancelled_)) { /* <- cancel_scope.cancel */
			sn_race_acquire(&s->cancelled_);
			return true;
		}
	return false;
}

int sn_cancel_scope_error(const struct sennit_cancel_scope *s)
{
	if (sn_cancel_scope_is_cancelled(s))
		return -ECANCELED;
	return sn_cancel_scope_is_late(s) ? -ETIMEDOUT : 0;
}

/* Under the root's lock. */
static void join(struct sennit_cancel_scope *root, struct link *l)
{
	struct link *first = root->waits_;

	sn_link_join(&first, l);
	root->waits_ = first;
}

static void leave(struct sennit_cancel_scope *root, struct link *l)
{
	struct link *first = root->waits_;

	sn_link_leave(&first, l);
	root->waits_ = first;
}

/* Claim the wait of n for a cancel. Returns whether the claim succeeded. */
static bool claim_cancelled(struct waiter *n)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim <- wait.claim */
	return a_cas_acqrel(&n->claim, &waiting, WAITER_CANCELLED);
}

/* Lock held. */
static sennit_time deadline_of(const struct sennit_cancel_scope *s)
{
	sennit_time deadline = s->deadline_;

	for (;; s = s->parent_) {
		if (s->earlier_ < deadline)
			deadline = s->earlier_;
		if (s == s->root_)
			return deadline;
	}
}

sennit_time sn_cancel_scope_moved_deadline(const struct sennit_cancel_scope *s)
{
	uint32_t    word = sn_wait_queue_lock(&s->root_->lock_);
	sennit_time deadline = deadline_of(s);

	sn_wait_queue_unlock(&s->root_->lock_, word);
	return deadline;
}

/* *deadline becomes that of n's scope if that is earlier. Reports have seen
 * *deadline, or what the scope's was a moment ago. Lock held. */
static void limit(const struct waiter *n, sennit_time *deadline)
{
	sennit_time end = n->scope->deadline_;
	bool moved = a_load_rlx(&n->scope->root_->cancels_) & SCOPE_MOVED;

	if (unlikely(moved))
		end = deadline_of(n->scope);
	if (end < *deadline)
		*deadline = end;
	if (unlikely(moved))
		sn_fiber_state_hurry(&n->fiber->state, *deadline);
}

bool sn_cancel_scope_enlist(struct waiter *n, sennit_time *deadline)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	bool over = sn_cancel_scope_is_cancelled(n->scope);

	/* A signaller that claimed it first will wake it. */
	if (over)
		over = claim_cancelled(n);
	n->is.enlisted = !over;
	if (!over) {
		join(root, &n->enlisted);
		limit(n, deadline);
	}
	sn_wait_queue_unlock(&root->lock_, word);
	return !over;
}

void sn_cancel_scope_withdraw(struct waiter *n)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	bool                        hurried = n->is.hurried;

	if (n->is.enlisted)
		leave(root, &n->enlisted);
	sn_wait_queue_unlock(&root->lock_, word);
	if (unlikely(hurried))
		sn_deadlines_hurry(sn_self); /* n leaves the errands */
}

static bool is_inside(const struct sennit_cancel_scope *inner,
		      const struct sennit_cancel_scope *outer)
{
	while (inner && inner != outer)
		inner = inner->parent_;
	return inner;
}

/* Take the waits inside s off the root's list, and claim them. Lock held. */
static struct link *take_waits(struct sennit_cancel_scope       *root,
			       const struct sennit_cancel_scope *s)
{
	struct link *claimed = NULL;
	struct link *kept = NULL;

	while (root->waits_) {
		struct waiter *n = container_of(root->waits_, struct waiter,
						enlisted);

		leave(root, &n->enlisted);
		n->is.enlisted = !is_inside(n->scope, s);
		if (n->is.enlisted)
			sn_link_join(&kept, &n->enlisted);
		else if (claim_cancelled(n))
			sn_link_join(&claimed, &n->enlisted);
	}
	root->waits_ = kept;
	return claimed;
}

struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first)
{
	struct sennit_cancel_scope *root = s->root_;
	struct link                *claimed = NULL;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);

	*first = !a_load_rlx(&s->cancelled_); /* not raced: it changes only
					       * under the lock */
	if (*first) {
		sn_race_release(&s->cancelled_);
		/* -> cancel_scope.cancel: what happened before */
		a_store_rel(&s->cancelled_, 1);
		/* -> cancel_scope.cancel: the same, and the scope that it
		 * counts */
		a_add_rel(&root->cancels_, 1);
		claimed = take_waits(root, s);
	}
	sn_wait_queue_unlock(&root->lock_, word);
	return claimed;
}

/* --- an earlier deadline -------------------------------------------------- */

/* Tell the worker of n. It exists: n cannot leave its wait, because the root's
 * lock is held. */
static void hurry(struct waiter *n)
{
	struct worker *home = n->home;

	n->is.hurried = true;
	n->fiber->hurried = n;
	TORTURE_POINT();
	if (sn_errands_hurry(&home->errands, &home->mail, &n->fiber->hurry))
		sn_worker_wake(home);
}

void sn_cancel_scope_hurry(struct sennit_cancel_scope *s, sennit_time deadline)
{
	struct sennit_cancel_scope *root = s->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	struct link                *l = root->waits_;

	if (deadline < deadline_of(s)) {
		s->earlier_ = deadline;
		/* relaxed: whoever sees it takes the lock */
		a_or_rlx(&root->cancels_, SCOPE_MOVED);
		while (l) {
			struct waiter *n = container_of(l, struct waiter,
							enlisted);

			if (!n->is.hurried && is_inside(n->scope, s))
				hurry(n);
			l = l->next == root->waits_ ? NULL : l->next;
		}
	}
	sn_wait_queue_unlock(&root->lock_, word);
}

/* Arm the alarm of the wait n of a fiber of w for its scope's deadline, if that
 * is earlier. A wait that is over needs none. */
static void arm_again(struct worker *w, struct waiter *n)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	sennit_time                 deadline = deadline_of(n->scope);
	struct alarm               *a;

	n->is.hurried = false;
	sn_wait_queue_unlock(&root->lock_, word);
	/* not raced: a wait that is claimed right after this cancels it */
	if (a_load_rlx(&n->claim) != WAITER_WAITING)
		return;
	a = sn_worker_alarm(w, n->fiber);
	if (sn_timer_is_armed(&a->timer)) {
		if (a->timer.expiry <= deadline)
			return;
		sn_timers_cancel(&w->timers, &a->timer);
	}
	a->waiter = n;
	sn_timers_arm(&w->timers, &a->timer, deadline);
	sn_fiber_state_hurry(&n->fiber->state, deadline);
}

void sn_deadlines_hurry(struct worker *w)
{
	struct node *last;
	struct node *at = sn_errands_take_hurried(&w->errands, &last);

	while (at) {
		struct sennit_fiber *f = container_of(at, struct sennit_fiber,
						      hurry);

		at = at->next;
		arm_again(w, f->hurried);
	}
}
