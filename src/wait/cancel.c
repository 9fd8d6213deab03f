/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/cancel.h"

#include "wait/wait.h"

bool sn_cancel_scope_is_inside_cancelled(const struct sennit_cancel_scope *s)
{
	for (; s; s = s->parent_)
		if (a_load_acq(&s->cancelled_)) /* <- cancel_scope.cancel */
			return true;
	return false;
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

bool sn_cancel_scope_enlist(struct waiter *n)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);
	bool over = sn_cancel_scope_is_cancelled(n->scope);

	/* A signaller that claimed it first will wake it. */
	if (over)
		over = claim_cancelled(n);
	n->is.enlisted = !over;
	if (!over)
		join(root, &n->enlisted);
	sn_wait_queue_unlock(&root->lock_, word);
	return !over;
}

void sn_cancel_scope_withdraw(struct waiter *n)
{
	struct sennit_cancel_scope *root = n->scope->root_;
	uint32_t                    word = sn_wait_queue_lock(&root->lock_);

	if (n->is.enlisted)
		leave(root, &n->enlisted);
	sn_wait_queue_unlock(&root->lock_, word);
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
