/* SPDX-License-Identifier: Apache-2.0 */
/* weak.c - whom a scheduler tells of its end, and weak handles. A weak handle
 * is a part of the scheduler's memory block, which stays allocated as long as
 * the handle. The gate in that block knows whether the scheduler has ended.
 */
#include "life/end.h"
#include "life/end_clients.h"
#include "life/fork.h"
#include "sennit/end.h"

#include <errno.h>

/* The scheduler of the handle, which may have ended. `call` names the public
 * call. */
static sennit_scheduler *scheduler_of_weak(sennit_weak_scheduler *w,
					   const char            *call)
{
	sennit_scheduler *s = container_of(w, struct sennit_scheduler,
					   clients.weak);

	MISUSE_INHERITED(s, call);
	return s;
}

/* --- registering -------------------------------------------------------- */

int sennit_scheduler_on_end(sennit_scheduler *s, sennit_end_fn *run,
			    void *argument)
{
	MISUSE_INHERITED(s, "sennit_scheduler_on_end");
	return sn_end_clients_on(&s->clients, run, argument);
}

int sennit_weak_scheduler_on_end(sennit_weak_scheduler *w, sennit_end_fn *run,
				 void *argument)
{
	return sn_end_clients_on(
		&scheduler_of_weak(w, "sennit_weak_scheduler_on_end")->clients,
		run, argument);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak_scheduler *sennit_scheduler_weak(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_weak");
	sn_end_clients_keep(&s->clients);
	return &s->clients.weak;
}

sennit_weak_scheduler *sennit_weak_scheduler_retain(sennit_weak_scheduler *w)
{
	sn_end_clients_keep(
		&scheduler_of_weak(w, "sennit_weak_scheduler_retain")->clients);
	return w;
}

void sennit_weak_scheduler_release(sennit_weak_scheduler *w)
{
	sn_end_drop(scheduler_of_weak(w, "sennit_weak_scheduler_release"));
}

int sennit_weak_scheduler_lock(sennit_weak_scheduler *w, sennit_scheduler **out)
{
	sennit_scheduler *s = scheduler_of_weak(w,
						"sennit_weak_scheduler_lock");

	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	*out = s;
	return 0;
}
