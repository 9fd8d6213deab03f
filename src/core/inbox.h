/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.h - where any thread leaves nodes for one owner, who takes them all.
 *
 *	head -> newest -> ... -> oldest -> NULL
 *
 * A stack that is only ever emptied as a whole, by a swap: no node is taken
 * while others stay, so there is no ABA, and a producer that stalls stands in
 * nobody's way. Who finds it empty when pushing knows that the owner may be
 * asleep.
 *
 * Invariants
 *   - Each push, a chain or a single node, stays together and in its order.
 *   - Between two pushes, what the first pushed is taken first.
 *
 * Linearisation: push at its successful compare-and-set, take at its swap, or
 * at its load of NULL. Progress: push lock-free, take wait-free. (Treiber.)
 */
#ifndef SN_INBOX_H
#define SN_INBOX_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"

struct inbox {
	a_ptr head; /* any: pushed by compare-and-set; NULL: empty */
};

/* Leave the chain that leads by ->next from its newest node to its oldest: the
 * order in which prepending one node after the other builds it. For a single
 * node both are the same. Returns whether the inbox was empty.
 *
 * The nodes belong to the owner as soon as they are in: the caller keeps what
 * it needs of them before. */
static inline bool sn_inbox_push(struct inbox *in, struct node *newest,
				 struct node *oldest)
{
	void *head = a_load_rlx(&in->head); /* a guess, put right by the CAS */

	do
		oldest->next = head;
	while (!a_cas_weak_rel(&in->head, &head,
			       newest)); /* -> inbox.push: nodes, links */
	TORTURE_POINT();                 /* pushed, nobody woken */
	return !head;
}

/* Take everything, oldest first, as a chain that ends in NULL, with *last its
 * last node; NULL when there is nothing, *last unset. Owner only. */
static inline struct node *sn_inbox_take(struct inbox *in, struct node **last)
{
	struct node *chain = NULL;
	struct node *n;

	/* Stale at worst by a push whose wake is still to come. */
	if (!a_load_rlx(&in->head))
		return NULL;
	n = a_swap_acq(&in->head, NULL); /* <- inbox.push */
	TORTURE_POINT();                 /* seen in no queue at all */
	*last = n;
	while (n) {
		struct node *older = n->next;

		n->next = chain;
		chain = n;
		n = older;
	}
	return chain;
}

/* Take everything as it was pushed: a chain from the newest node to the oldest,
 * to be pushed elsewhere; NULL when there is nothing. Anyone. */
static inline struct node *sn_inbox_take_raw(struct inbox *in)
{
	struct node *n;

	/* Stale at worst by a push whose maker looks after us. */
	if (!a_load_rlx(&in->head))
		return NULL;
	n = a_swap_acq(&in->head, NULL); /* <- inbox.push */
	TORTURE_POINT();                 /* seen in no queue at all */
	return n;
}

/* A hint, for who looks again or is told otherwise. */
static inline bool sn_inbox_is_empty(const struct inbox *in)
{
	return !a_load_rlx(&in->head);
}

#endif
