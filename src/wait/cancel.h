/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.h - the scope of a task: its waits can be cancelled from
 * outside, and a deadline of the scope ends them.
 *
 *	root <-- parent <-- scope <-- (fiber->scope)
 *	  waits: every wait in the whole tree that a cancel may end
 *
 * Scopes nest, and cancelling one reaches all scopes inside it. There is no
 * list of inner scopes, because opening a scope would then need a lock. Instead
 * each wait enlists at the root, and a cancel searches that list for waits
 * whose scope lies inside its own. Only waits that really sleep enlist, and
 * only those of tasks in a scope. Cancels are rare.
 *
 * Invariants
 *   - A domain (life/domain.h) is a scope that is never cancelled. The
 *     groups directly inside it are roots, and no wait of its tasks
 *     enlists with it.
 *   - A scope outlives the scopes and the waits inside it.
 *   - `cancels` is at least the number of open scopes in the tree that
 *     are cancelled. Zero means that no further check is needed.
 *   - `cancelled` is set, and waits enlist, under the root's lock. So
 *     either the cancel finds a wait, or the wait finds its scope
 *     cancelled.
 *   - A wait that enlisted leaves the list before it returns.
 *
 * Checked by test/model/scope.pml.
 */
#ifndef SN_CANCEL_H
#define SN_CANCEL_H

#include "sched/state.h"
#include "sennit/group.h"

/* Make *s a scope inside `parent`, which may be NULL. */
static inline void sn_cancel_scope_open(struct sennit_cancel_scope *s,
					struct sennit_cancel_scope *parent,
					sennit_time                 deadline)
{
	struct sennit_cancel_scope *root = s;

	if (parent) {
		if (parent->kind_ == SCOPE_GROUP)
			root = parent->root_;
		if (parent->deadline_ < deadline)
			deadline = parent->deadline_;
	}
	*s = (struct sennit_cancel_scope){ .root_ = root,
					   .parent_ = parent,
					   .deadline_ = deadline };
}

/* Whether s or a scope around it is cancelled. May be late, never early. */
bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s);

/* Whether any scope in the tree of s may be cancelled. A cancel that runs at
 * the same time may be missed. */
static inline bool sn_cancel_scope_may_be_cancelled(
	const struct sennit_cancel_scope *s)
{
	return a_load_acq(&s->root_->cancels_); /* <- cancel_scope.cancel */
}

static inline bool sn_cancel_scope_is_cancelled(
	const struct sennit_cancel_scope *s)
{
	return unlikely(sn_cancel_scope_may_be_cancelled(s)) &&
	       sn_cancel_scope_is_inside_cancelled(s);
}

/* Nothing is inside s any more: it no longer counts as cancelled. */
static inline void sn_cancel_scope_close(struct sennit_cancel_scope *s)
{
	if (s->root_ != s && a_load_rlx(&s->cancelled_))
		a_sub_rel(&s->root_->cancels_,
			  1); /* -> cancel_scope.cancel: the scope no longer
			       * counts */
}

/* Enlist the wait of n, which is not asleep yet, with its scope. Returns false
 * if the scope is cancelled; n is then claimed. Otherwise n must sleep, and
 * call sn_cancel_scope_withdraw when woken. */
bool sn_cancel_scope_enlist(struct waiter *n);
void sn_cancel_scope_withdraw(struct waiter *n);

/* Cancel s. Returns the chain, through `enlisted`, of the waits that were
 * claimed. The caller must wake them; s may be gone once the first of them is
 * awake. *first becomes whether s was not cancelled before. */
struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first);

#endif
