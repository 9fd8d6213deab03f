/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_scope.h - what a task belongs to, so that its waits can be cancelled
 * from outside, and end by a deadline that is not their own.
 *
 *	root <-- parent <-- scope <-- (fiber->scope)
 *	  waits: every wait in the whole tree that a cancel may end
 *
 * Scopes nest; cancelling one reaches all inside it. Nobody keeps a list of
 * inner scopes, which would make opening one cost a lock: instead the waits
 * enlist at the root, and a cancel looks through them for those whose scope
 * lies inside its own. Only waits that really wait do so, only while tasks
 * belong to a scope; cancelling is rare.
 *
 * Invariants
 *   - A domain (worker/domain.h) is a scope that is never cancelled: the groups
 *     right inside it are roots, and no wait of its tasks enlists with it.
 *   - A scope outlives the scopes and the waits inside it.
 *   - `cancels` counts the cancelled scopes of a tree that are open, or a few
 *     more: zero means that nobody need look further.
 *   - `cancelled` is set, and waits enlist, under the root's lock: a wait is
 *     found by the cancel, or finds its scope cancelled.
 *   - Who enlisted leaves the list before its wait returns.
 *
 * Checked by test/model/scope.pml.
 */
#ifndef SN_CANCEL_SCOPE_H
#define SN_CANCEL_SCOPE_H

#include "worker/domain.h"
#include "fiber/wait_queue.h"
#include "sennit/group.h"

/* Make *s a scope inside parent, which may be NULL. */
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

/* Whether s or what it lies in is cancelled. May be late, never early. */
bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s);

/* Whether anything is that s lies in or beside. Late by as much as the cancel
 * and this look overlap. */
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
			  1); /* -> cancel_scope.cancel: no more */
}

/* The wait of n, not yet asleep, enlists with its scope. False: it is cancelled
 * and n claimed for that; true: it must sleep, and withdraw when woken. */
bool sn_cancel_scope_enlist(struct waiter *n);
void sn_cancel_scope_withdraw(struct waiter *n);

/* Cancel s. Returns the chain, through `enlisted`, of the waits that were
 * claimed for it, which the caller wakes; s may be gone once the first of them
 * is. *first: whether s was not cancelled before. */
struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first);

#endif
