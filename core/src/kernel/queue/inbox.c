/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/inbox.h"

#include "queue/blocks.h"
#include "queue/deque.h"

static struct node *end_of(struct node *n)
{
	while (n->next)
		n = n->next;
	return n;
}

/* Put all except the share back, and return the share. Both chains go from the
 * newest to the oldest. A long chain is taken whole: finding its oldest nodes
 * would need a walk over it each time, and the new owner can deal it out. */
static struct node *keep_share(struct inbox *in, struct node *newest,
			       uint32_t parts)
{
	struct node *last_left = newest;
	struct node *share;
	uint32_t     n = 0, left;

	for (const struct node *at = newest; at && n <= PARCELS_SHARED;
	     at = at->next)
		n++;
	if (n > PARCELS_SHARED)
		return newest;
	left = n - (n / parts + (n % parts != 0));
	if (!left)
		return newest;
	while (--left)
		last_left = last_left->next;
	share = last_left->next;
	sn_task_inbox_push(in, newest, last_left);
	return share;
}

/* Put the tasks that found no room back, in the order in which they were to be
 * pushed. */
static COLD void put_back(struct inbox *in, struct node *rest,
			  bool oldest_first)
{
	if (oldest_first)
		rest = sn_chain_reversed(rest);
	sn_task_inbox_push(in, rest, end_of(rest));
}

uint32_t sn_task_inbox_take(struct inbox                 *from,
			    const struct queued_tasks_to *to, uint32_t parts)
{
	struct node *n = sn_task_inbox_take_raw(from);
	uint32_t     count = 0;

	if (n && parts > 1)
		n = keep_share(from, n, parts);
	if (to->oldest_first)
		n = sn_chain_reversed(n);
	while (n) {
		struct queued_task *p = container_of(n, struct queued_task,
						     node);
		struct node        *next = n->next;

		if (sn_deque_push(to->deque, p->task)) {
			put_back(from, n, to->oldest_first);
			return count;
		}
		sn_pool_give(to->cache, p);
		n = next;
		count++;
	}
	return count;
}
