/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* How often a record is read, and is damaged each time. In between it may have
 * become another worker's. */
#define TRIES 8

static bool contains(const struct address_list *l, uintptr_t address)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i] == address)
			return true;
	return false;
}

static bool is_there(struct damage *d, uintptr_t scheduler, uintptr_t worker)
{
	struct address_list *again = &d->again;

	if (!scheduler) /* the list of all */
		return true;
	if (!d->is_given &&
	    (!sn_record_list_schedulers(again) || !contains(again, scheduler)))
		return false;
	return !worker || (sn_record_list_workers(again, scheduler) &&
			   contains(again, worker));
}

void sn_damage_add(struct damage *d, uintptr_t scheduler, uintptr_t worker,
		   const char *name, const char *what, uintptr_t at)
{
	struct worker_record w = { .thread = 0 };
	char                 line[DAMAGE_LINE];

	if (!is_there(d, scheduler, worker))
		return;
	d->count++;
	if (!d->tell)
		return;
	if (worker && sn_worker_record_read(&w, worker) && w.thread)
		snprintf(line, sizeof(line), "%s thread %u: %s %#" PRIxPTR,
			 name, w.thread, what, at);
	else
		snprintf(line, sizeof(line), "%s: %s %#" PRIxPTR, name, what,
			 at);
	d->tell(d->context, line);
}

bool sn_damage_is_lasting(struct damage *d, const struct worker_record *w,
			  uintptr_t fiber)
{
	struct fiber_record f;

	for (int i = 0; i < TRIES; i++) {
		if (fiber != w->main &&
		    (!sn_record_list_fibers(&d->again, w->at) ||
		     !contains(&d->again, fiber)))
			return false;
		if (sn_fiber_record_read(&f, fiber) && f.worker == w->at)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return true;
}
