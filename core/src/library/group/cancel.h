/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.h - the scope of a task: its waits can be cancelled from
 * outside, and a deadline of the scope ends them.
 *
 *	root <-- parent <-- scope <-- (fiber->scope)
 *	     inner --> next --> next    the linked scopes inside
 *	     waits                      those that a cancel may end
 *
 * Scopes nest, and cancelling one reaches all scopes inside it. A wait enlists
 * with its scope, under the root's lock. A scope is linked to its parent, and
 * so on up to the root, by the first wait that enlists with it or with a scope
 * inside, and unlinked at its end. So opening needs no lock, ending needs one
 * only after such a wait, and a cancel walks through its own scope and those
 * inside, however many others there are. Only waits that really sleep enlist,
 * and only those of tasks in a scope.
 *
 * Invariants
 *   - A domain (group/domain.h) is a scope that is never cancelled. The
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
 *   - `state` changes, and waits enlist, under the root's lock. So either
 *     the cancel finds a wait, or the wait finds its scope cancelled.
 *   - A scope around a linked one is linked, or the root. So a walk from
 *     any scope reaches every wait inside it. The root is never linked.
 *   - A wait that enlisted leaves the list before it returns.
 *   - A wait that is enlisted when an earlier deadline is set is `rearming`,
 *     and in the list of its worker's pinned mail; the worker arms its alarm
 *     again. The wait returns only when it has left that list.
 *
 * Checked by core/test/model/scope.pml.
 */
#ifndef SN_CANCEL_H
#define SN_CANCEL_H

#include "os/os.h"
#include "sched/state.h"
#include "sennit/group.h"

/* Values of kind_ in a struct sennit_cancel_scope. */
enum { SCOPE_GROUP = 0, SCOPE_DOMAIN };

/* A bit of cancels_, beside the count. */
#define SCOPE_MOVED (UINT32_C(1) << 31)

/* Bits of state_. */
#define SCOPE_CANCELLED UINT32_C(1)
#define SCOPE_LINKED    UINT32_C(2)

/* Arm the alarms of w's waits again whose groups have got an earlier
 * deadline. */
void sn_deadlines_rearm(struct worker *w);

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

void sn_cancel_scope_leave(struct sennit_cancel_scope *s);

/* Nothing is inside s any more: it no longer counts as cancelled, and no walk
 * finds it. */
static inline void sn_cancel_scope_close(struct sennit_cancel_scope *s)
{
	/* not raced: what was inside has ended, and so have its cancels */
	if (unlikely(a_load_rlx(&s->state_)))
		sn_cancel_scope_leave(s);
}

/* Enlist the wait of n, which is not asleep yet, with its scope. Returns false
 * if the scope is cancelled; n is then claimed. Otherwise n must sleep, until
 * *deadline, which becomes the scope's if that is earlier, and call
 * sn_cancel_scope_withdraw when woken. */
bool sn_cancel_scope_enlist(struct waiter *n, sennit_time *deadline);
void sn_cancel_scope_withdraw(struct waiter *n);

/* Bring the deadline of s forward, and have the alarms of the waits inside it
 * armed again. */
void sn_cancel_scope_reschedule(struct sennit_cancel_scope *s,
				sennit_time                 deadline);

/* Cancel s. Returns the chain, through `enlisted`, of the waits that were
 * claimed. The caller must wake them; s may be gone once the first of them is
 * awake. *first becomes whether s was not cancelled before. */
struct link *sn_cancel_scope_cancel(struct sennit_cancel_scope *s, bool *first);

#endif
