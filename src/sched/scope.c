/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/scope.h"

bool sn_scope_is_inside_cancelled(const struct scope *s)
{
	for (; s; s = s->parent)
		if (a_load_acq(&s->cancelled)) /* <- scope.cancel */
			return true;
	return false;
}

/* True: n's wait is over, and its scope has ended it. */
static bool claim_cancelled(struct waiter *n)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim <- wait.claim */
	return a_cas_acqrel(&n->claim, &waiting, WAITER_CANCELLED);
}

bool sn_scope_enlist(struct waiter *n)
{
	struct scope *root = n->scope->root;
	uint32_t      word = sn_queue_lock(&root->lock);
	bool          over = sn_scope_is_cancelled(n->scope);

	/* A signaller that came first will wake it. */
	if (over)
		over = claim_cancelled(n);
	n->is.enlisted = !over;
	if (!over)
		sn_link_join(&root->waits, &n->enlisted);
	sn_queue_unlock(&root->lock, word);
	return !over;
}

void sn_scope_withdraw(struct waiter *n)
{
	struct scope *root = n->scope->root;
	uint32_t      word = sn_queue_lock(&root->lock);

	if (n->is.enlisted)
		sn_link_leave(&root->waits, &n->enlisted);
	sn_queue_unlock(&root->lock, word);
}

static bool is_inside(const struct scope *inner, const struct scope *outer)
{
	while (inner && inner != outer)
		inner = inner->parent;
	return inner;
}

/* Take the waits inside s off the root's list and claim them. Lock held. */
static struct link *take_waits(struct scope *root, const struct scope *s)
{
	struct link *claimed = NULL;
	struct link *kept = NULL;

	while (root->waits) {
		struct waiter *n = container_of(root->waits, struct waiter,
						enlisted);

		sn_link_leave(&root->waits, &n->enlisted);
		n->is.enlisted = !is_inside(n->scope, s);
		if (n->is.enlisted)
			sn_link_join(&kept, &n->enlisted);
		else if (claim_cancelled(n))
			sn_link_join(&claimed, &n->enlisted);
	}
	root->waits = kept;
	return claimed;
}

struct link *sn_scope_cancel(struct scope *s, bool *first)
{
	struct scope *root = s->root;
	struct link  *claimed = NULL;
	uint32_t      word = sn_queue_lock(&root->lock);

	*first = !a_load_rlx(&s->cancelled); /* changes under the lock alone */
	if (*first) {
		/* -> scope.cancel: what happened before */
		a_store_rel(&s->cancelled, 1);
		/* -> scope.cancel: the same, and the scope that it counts */
		a_store_rel(&root->cancels, a_load_rlx(&root->cancels) + 1);
		claimed = take_waits(root, s);
	}
	sn_queue_unlock(&root->lock, word);
	return claimed;
}
