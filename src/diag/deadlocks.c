/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/deadlocks.h"

#include "sennit/workers.h"

#include <stdlib.h>

#define SCHEDULERS 64

static struct deadlock_wait *append(struct deadlocks *d)
{
	if (d->count == d->capacity) {
		const size_t          capacity = 2 * d->capacity + 16;
		struct deadlock_wait *waits =
			realloc(d->waits, capacity * sizeof(*waits));

		if (!waits)
			return NULL;
		d->waits = waits;
		d->capacity = capacity;
	}
	return &d->waits[d->count++];
}

static void note(void *context, const sennit_wait_edge *edge)
{
	struct deadlocks           *d = context;
	const sennit_report_entry  *waiter = edge->waiter;
	const sennit_report_entry  *holder = edge->holder;
	struct deadlock_wait *const wait = edge->cycle && holder ? append(d)
								 : NULL;

	if (!wait)
		return;
	d->last = d->numbers + edge->cycle;
	*wait = (struct deadlock_wait){
		.number = d->last,
		.thread = waiter->thread,
		.fiber = waiter->fiber,
		.object = waiter->object,
		.since = waiter->since,
		.holder_worker = holder->worker,
		.holder_thread = holder->thread,
		.holder_fiber = holder->fiber,
	};
}

static void find(struct deadlocks *d, sennit_scheduler *s)
{
	d->last = d->numbers;
	if (sennit_scheduler_wait_graph(s, note, d))
		return; /* no memory */
	d->numbers = d->last;
}

void sn_deadlocks_find(struct deadlocks *d, sennit_scheduler *s)
{
	sennit_scheduler *all[SCHEDULERS];
	size_t            count;

	*d = (struct deadlocks){ .waits = NULL };
	if (s) {
		find(d, s);
		return;
	}
	count = sennit_schedulers_retain(all, SCHEDULERS);
	for (size_t i = 0; i < count; i++) {
		find(d, all[i]);
		sennit_scheduler_release(all[i]);
	}
}

const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct deadlock_wait *w = &d->waits[i];

		if (w->thread == e->thread && w->fiber == e->fiber &&
		    w->object == e->object && w->since == e->since &&
		    e->state == SENNIT_REPORT_BLOCKED)
			return w;
	}
	return NULL;
}

void sn_deadlocks_free(struct deadlocks *d)
{
	free(d->waits);
}
