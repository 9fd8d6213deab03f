/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/wait_take.h"

struct waiter *sn_wait_take_next(void **list)
{
	while (*list) {
		struct waiter *n = sn_wait_queue_first(*list);

		if (sn_wait_take(list, n))
			return n;
	}
	return NULL;
}

struct link *sn_wait_take_all_raced(void **list)
{
	struct link *all = *list;
	struct link *claimed = NULL;

	/* A waiter that lost its claim unlinks itself under the lock. This must
	 * tell it that it is no longer linked. */
	while (all) {
		struct waiter *n = sn_wait_queue_first(all);

		sn_link_leave(&all, &n->link);
		n->is.linked = false;
		if (!n->is.raced || sn_waiter_claim(n))
			sn_link_join(&claimed, &n->link);
	}
	*list = NULL;
	return claimed;
}
