/* SPDX-License-Identifier: Apache-2.0 */
#include "group/cancel.h"

#include "wait/wait.h"
#include "sched/mailbox.h"

#include <errno.h>

bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s)
{
	for (; s; s = s->parent_)
		/* <- cancel_scope.cancel */
		if (a_load_acq(&s->state_) & SCOPE_CANCELLED) {
			sn_race_acquire(&s->state_);
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

/* --- the tree: under the root's lock -------------------------------------- */

static void link_wait(struct sennit_cancel_scope *s, struct link *l)
{
	struct link *first = s->waits_;

	sn_link_join(&first, l);
	s->waits_ = first;
}

static void unlink_wait(struct sennit_cancel_scope *s, struct link *l)
{
	struct link *first = s->waits_;

	sn_link_leave(&first, l);
	s->waits_ = first;
}

static void add_state(struct sennit_cancel_scope *s, uint32_t bit)
{
	/* -> cancel_scope.cancel: what happened before a cancel */
	a_store_rel(&s->state_, a_load_rlx(&s->state_) | bit);
}

static bool is_linked(const struct sennit_cancel_scope *s)
{
	/* not raced: it changes only under the lock */
	return a_load_rlx(&s->state_) & SCOPE_LINKED;
}

/* Link s and the scopes around it. Each is linked once in its life, so this
 * costs no more than the openings. */
static NOINLINE void link_scopes(struct sennit_cancel_scope *s)
{
	while (s != s->root_ && !is_linked(s)) {
		struct sennit_cancel_scope *outer = s->parent_;

		s->next_ = outer->inner_;
		if (s->next_)
			s->next_->at_ = &s->next_;
		s->at_ = &outer->inner_;
		outer->inner_ = s;
		add_state(s, SCOPE_LINKED);
		s = outer;
	}
}

static void unlink_scope(struct sennit_cancel_scope *s)
{
	*s->at_ = s->next_;
	if (s->next_)
		s->next_->at_ = s->at_;
}

/* The scope that follows `at` in a walk through s and what is linked inside it,
 * outer ones first. NULL: there is none. */
static struct sennit_cancel_scope *next_inner_scope(
	struct sennit_cancel_scope *at, const struct sennit_cancel_scope *s)
{
	if (at->inner_)
		return at->inner_;
	for (; at != s; at = at->parent_)
		if (at->next_)
			return at->next_;
	return NULL;
}

void sn_cancel_scope_leave(struct sennit_cancel_scope *s)
{
	struct sennit_cancel_scope *root = s->root_;
	uint32_t                    state = a_load_rlx(&s->state_);
	uint32_t                    word;

	if (state & SCOPE_LINKED) {
		TORTURE_POINT(); /* a walk may come across s */
		word = sn_wait_queue_lock(&root->lock_);
		unlink_scope(s);
		sn_wait_queue_unlock(&root->lock_, word);
	}
	if (state & SCOPE_CANCELLED && root != s)
		a_sub_rel(&root->cancels_,
			  1); /* -> cancel_scope.cancel: the scope no longer
			       * counts */
}

/* --- waits ---------------------------------------------------------------- */

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
static void limit_deadline(const struct waiter *n, sennit_time *deadline)
{
	sennit_time end = n->scope->deadline_;
	bool moved = a_load_rlx(&n->scope->root_->cancels_) & SCOPE_MOVED;

	if (unlikely(moved))
		end = deadline_of(n->scope);
	if (end < *deadline)
		*deadline = end;
	if (unlikely(moved))
		sn_fiber_state_reschedule(&n->fiber->state, *deadline);
}

bool sn_cancel_scope_enlist(struct waiter *n, sennit_time *deadline)
{
	struct sennit_cancel_scope *s = n->scope;
	struct sennit_cancel_scope *root = s->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	bool                        over = sn_cancel_scope_is_cancelled(s);

	/* A signaller that claimed it first will wake it. */
	if (unlikely(over))
		over = claim_cancelled(n);
	n->is.enlisted = !over;
	if (likely(!over)) {
		link_wait(s, &n->enlisted);
		if (unlikely(s != root && !is_linked(s)))
			link_scopes(s);
		limit_deadline(n, deadline);
	}
	sn_wait_queue_unlock(&root->lock_, word);
	return !over;
}

void sn_cancel_scope_withdraw(struct waiter *n)
{
	struct sennit_cancel_scope *s = n->scope;
	struct sennit_cancel_scope *root = s->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	bool                        rearming = n->is.rearming;

	if (n->is.enlisted)
		unlink_wait(s, &n->enlisted);
	sn_wait_queue_unlock(&root->lock_, word);
	if (unlikely(rearming))
		sn_deadlines_rearm(sn_self); /* n leaves the list */
}

/* Take the waits of s off its list, and claim them for *claimed. Lock held. */
static void take_waits(struct sennit_cancel_scope *s, struct link **claimed)
{
	while (s->waits_) {
		struct waiter *n = container_of(s->waits_, struct waiter,
						enlisted);

		unlink_wait(s, &n->enlisted);
		n->is.enlisted = false;
		if (claim_cancelled(n))
			sn_link_join(claimed, &n->enlisted);
	}
}

static struct link *take_all_waits(struct sennit_cancel_scope *s)
{
	struct sennit_cancel_scope *at;
	struct link                *claimed = NULL;

	for (at = s; at; at = next_inner_scope(at, s))
		take_waits(at, &claimed);
	return claimed;
}

struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first)
{
	struct sennit_cancel_scope *root = s->root_;
	struct link                *claimed = NULL;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);

	/* not raced: it changes only under the lock */
	*first = !(a_load_rlx(&s->state_) & SCOPE_CANCELLED);
	if (*first) {
		sn_race_release(&s->state_);
		add_state(s, SCOPE_CANCELLED);
		/* -> cancel_scope.cancel: the same, and the scope that it
		 * counts */
		a_add_rel(&root->cancels_, 1);
		claimed = take_all_waits(s);
	}
	sn_wait_queue_unlock(&root->lock_, word);
	return claimed;
}

/* --- an earlier deadline -------------------------------------------------- */

/* Notify the worker of n. It exists: n cannot leave its wait, because the
 * root's lock is held. */
static void notify_earlier_deadline(struct waiter *n)
{
	struct worker *home = n->home;

	n->is.rearming = true;
	n->fiber->rearming = n;
	TORTURE_POINT();
	if (sn_pinned_mail_rearm(&home->pinned_mail, &home->mail,
				 &n->fiber->rearm))
		sn_worker_wake(home);
}

static void notify_waits_of_scope(const struct sennit_cancel_scope *s)
{
	struct link *l = s->waits_;

	while (l) {
		struct waiter *n = container_of(l, struct waiter, enlisted);

		if (!n->is.rearming)
			notify_earlier_deadline(n);
		l = sn_link_after(l, s->waits_);
	}
}

void sn_cancel_scope_reschedule(struct sennit_cancel_scope *s,
				sennit_time                 deadline)
{
	struct sennit_cancel_scope *root = s->root_;
	struct sennit_cancel_scope *at;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);

	if (deadline < deadline_of(s)) {
		s->earlier_ = deadline;
		/* relaxed: a waiter that sees it takes the lock */
		a_or_rlx(&root->cancels_, SCOPE_MOVED);
		for (at = s; at; at = next_inner_scope(at, s))
			notify_waits_of_scope(at);
	}
	sn_wait_queue_unlock(&root->lock_, word);
}

/* Arm the alarm of the wait n of a fiber of w for its scope's deadline, if that
 * is earlier. A wait that is over needs none. */
static void rearm_alarm(struct worker *w, struct waiter *n)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	sennit_time                 deadline = deadline_of(n->scope);
	struct alarm               *a;

	n->is.rearming = false;
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
	sn_fiber_state_reschedule(&n->fiber->state, deadline);
}

void sn_deadlines_rearm(struct worker *w)
{
	struct node *last;
	struct node *at = sn_pinned_mail_take_rearms(&w->pinned_mail, &last);

	while (at) {
		struct sennit_fiber *f = container_of(at, struct sennit_fiber,
						      rearm);

		at = at->next;
		rearm_alarm(w, f->rearming);
	}
}
