/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - what a task belongs to, so that its waits can be cancelled from
 * outside, and end by a deadline that is not their own.
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
 *   - A scope outlives the scopes and the waits inside it.
 *   - `cancelled` is set, and waits enlist, under the root's lock: a wait is
 *     found by the cancel, or finds its scope cancelled.
 *   - Who enlisted leaves the list before its wait returns.
 */
#ifndef SN_SCOPE_H
#define SN_SCOPE_H

#include "sched/queue.h"

struct scope {
	sennit_word   lock;      /* root only; any: a queue's word */
	sennit_word   cancelled; /* set under the root's lock: 1 */
	sennit_word   cancels;   /* root only; under lock: how many scopes of
				  * its tree are cancelled */
	struct scope *root;      /* fixed: itself when outermost */
	struct scope *parent;    /* fixed; NULL: none */
	struct link  *waits;     /* root only; under lock */
	sennit_time   deadline;  /* fixed: the earliest of its own and its
				  * parents' */
};

/* Make *s a scope inside parent, which may be NULL. */
static inline void sn_scope_open(struct scope *s, struct scope *parent,
				 sennit_time deadline)
{
	a_init(&s->lock, 0);
	a_init(&s->cancelled, 0);
	a_init(&s->cancels, 0);
	s->parent = parent;
	s->root = s;
	s->waits = NULL;
	s->deadline = deadline;
	if (parent) {
		s->root = parent->root;
		if (parent->deadline < deadline)
			s->deadline = parent->deadline;
	}
}

/* Whether s or what it lies in is cancelled. May be late, never early. */
bool sn_scope_is_inside_cancelled(const struct scope *s);

static inline bool sn_scope_is_cancelled(const struct scope *s)
{
	/* Late by as much as the cancel and this look overlap. <- scope.cancel
	 */
	return unlikely(a_load_acq(&s->root->cancels)) &&
	       sn_scope_is_inside_cancelled(s);
}

/* The wait of n, not yet asleep, enlists with its scope. False: it is cancelled
 * and n claimed for that; true: it must sleep, and withdraw when woken. */
bool sn_scope_enlist(struct waiter *n);
void sn_scope_withdraw(struct waiter *n);

/* Cancel s. Returns the chain, through `enlisted`, of the waits that were
 * claimed for it, which the caller wakes; s may be gone once the first of them
 * is. *first: whether s was not cancelled before. */
struct link *sn_scope_cancel(struct scope *s, bool *first);

#endif
