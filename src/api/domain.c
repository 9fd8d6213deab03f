/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - the public calls of domains. Tasks of a domain carry its address;
 * see worker/domain.h. */
#include "sennit/domain.h"

#include "worker/domain.h"
#include "scheduler/place.h"
#include "worker/finalise.h"
#include "worker/fork_exit.h"

#include <errno.h>

int sennit_domain_create(sennit_domain **out, sennit_scheduler *s,
			 sennit_end_fn *on_end, void *argument)
{
	sennit_domain *d;

	MISUSE_INHERITED(s, "sennit_domain_create");
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	d = sn_domain_make(s, on_end, argument);
	if (!d) {
		sn_finalise_release(s);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void sennit_domain_retain(sennit_domain *d)
{
	MISUSE_INHERITED(d->scheduler, "sennit_domain_retain");
	MISUSE(!sn_gate_retain(&d->gate), "sennit_domain_retain",
	       "the domain has ended: no reference is held");
}

void sennit_domain_release(sennit_domain *d)
{
	MISUSE_INHERITED(d->scheduler, "sennit_domain_release");
	MISUSE(!sn_gate_references(&d->gate), "sennit_domain_release",
	       "the caller has no reference to release");
	sn_domain_release(d);
}

int sennit_domain_schedule_task(sennit_domain *d, const sennit_task *task)
{
	MISUSE_INHERITED(d->scheduler, "sennit_domain_schedule_task");
	return sn_place_packed(d->scheduler, d, task,
			       "sennit_domain_schedule_task");
}

int sennit_domain_schedule(sennit_domain *d, sennit_task_fn *run,
			   void *argument)
{
	struct worker    *w = sn_place_own_worker(d->scheduler);
	const sennit_task task = { .run = run, .argument = argument };

	if (likely(w && sn_run_queue_pushes(&w->run) &&
		   sn_deque_has_room(sn_worker_deque(w)) && run))
		return sn_place_own_in(w, d, run, argument);
	MISUSE_INHERITED(d->scheduler, "sennit_domain_schedule");
	return sn_place_packed(d->scheduler, d, &task,
			       "sennit_domain_schedule");
}

sennit_scheduler *sennit_domain_scheduler(const sennit_domain *d)
{
	return d->scheduler;
}

sennit_domain *sennit_domain_current(void)
{
	return sn_self ? sn_domain_around(sn_fiber_scope(sn_self->home.current))
		       : NULL;
}
