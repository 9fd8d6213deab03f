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
 *     are cancelled. Zero means that no further check is needed. Its bit
 *     MOVED is set once a scope in the tree has got an earlier deadline
 *     than it was opened with.
 *   - `deadline` is fixed: the earliest of the scope's own and those around
 *     it at the opening. `earlier`, under the root's lock, is what has been
 *     set since; it counts for the scopes inside, too.
 *   - `cancelled` is set, and waits enlist, under the root's lock. So
 *     either the cancel finds a wait, or the wait finds its scope
 *     cancelled.
 *   - A wait that enlisted leaves the list before it returns.
 *   - A wait that is enlisted when an earlier deadline is set is `hurried`,
 *     and in the list of its worker's errands; the worker arms its alarm
 *     again. The wait returns only when it has left that list.
 *
 * Checked by test/model/scope.pml.
 */
#ifndef SN_CANCEL_H
#define SN_CANCEL_H

#include "os/os.h"
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
					   .deadline_ = deadline,
					   .earlier_ = SENNIT_NEVER };
}

/* Whether s or a scope around it is cancelled. May be late, never early. */
bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s);

/* Whether any scope in the tree of s may be cancelled. A cancel that runs at
 * the same time may be missed. */
static inline bool sn_cancel_scope_may_be_cancelled(
	const struct sennit_cancel_scope *s)
{
	return a_load_acq(&s->root_->cancels_) & /* <- cancel_scope.cancel */
	       ~SCOPE_MOVED;
}

/* The earliest deadline of s and the scopes around it. It takes the root's
 * lock. */
sennit_time sn_cancel_scope_moved_deadline(const struct sennit_cancel_scope *s);

/* The same. A deadline that is set at the same time may be missed. */
static inline sennit_time sn_cancel_scope_deadline(
	const struct sennit_cancel_scope *s)
{
	/* relaxed: the root's lock makes `earlier` visible */
	if (likely(!(a_load_rlx(&s->root_->cancels_) & SCOPE_MOVED)))
		return s->deadline_;
	return sn_cancel_scope_moved_deadline(s);
}

/* Whether that deadline has passed. */
static inline bool sn_cancel_scope_is_late(const struct sennit_cancel_scope *s)
{
	const sennit_time deadline = sn_cancel_scope_deadline(s);

	return unlikely(deadline != SENNIT_NEVER) && os_now() >= deadline;
}

static inline bool sn_cancel_scope_is_cancelled(
	const struct sennit_cancel_scope *s)
{
	return unlikely(sn_cancel_scope_may_be_cancelled(s)) &&
	       sn_cancel_scope_is_inside_cancelled(s);
}

/* Why a task in the scope should give up: 0, -ECANCELED, or -ETIMEDOUT if its
 * deadline has passed. */
int sn_cancel_scope_error(const struct sennit_cancel_scope *s);

/* Nothing is inside s any more: it no longer counts as cancelled. */
static inline void sn_cancel_scope_close(struct sennit_cancel_scope *s)
{
	if (s->root_ != s && a_load_rlx(&s->cancelled_))
		a_sub_rel(&s->root_->cancels_,
			  1); /* -> cancel_scope.cancel: the scope no longer
			       * counts */
}

/* Enlist the wait of n, which is not asleep yet, with its scope. Returns false
 * if the scope is cancelled; n is then claimed. Otherwise n must sleep, until
 * *deadline, which becomes the scope's if that is earlier, and call
 * sn_cancel_scope_withdraw when woken. */
bool sn_cancel_scope_enlist(struct waiter *n, sennit_time *deadline);
void sn_cancel_scope_withdraw(struct waiter *n);

/* Bring the deadline of s forward, and have the alarms of the waits inside it
 * armed again. */
void sn_cancel_scope_hurry(struct sennit_cancel_scope *s, sennit_time deadline);

/* Cancel s. Returns the chain, through `enlisted`, of the waits that were
 * claimed. The caller must wake them; s may be gone once the first of them is
 * awake. *first becomes whether s was not cancelled before. */
struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first);

#endif
