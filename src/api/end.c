/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - notification of a scheduler's end, and weak handles. A weak handle is
 * a part of the scheduler's memory block, which stays allocated as long as the
 * handle. The gate in that block knows whether the scheduler has ended.
 */
#include "sennit/end.h"

#include "worker/finalise.h"
#include "worker/fork_exit.h"

#include <errno.h>

/* The scheduler of the handle, which may have ended. `call` names the public
 * call. */
static sennit_scheduler *named(sennit_weak *w, const char *call)
{
	sennit_scheduler *s = container_of(w, struct sennit_scheduler,
					   ending.weak);

	MISUSE_INHERITED(s, call);
	return s;
}

/* --- registering -------------------------------------------------------- */

static int on_end(sennit_scheduler *s, sennit_end_fn *run, void *argument)
{
	return sn_end_clients_on(&s->ending, &s->memory, run, argument);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

int sennit_scheduler_on_end(sennit_scheduler *s, sennit_end_fn *run,
			    void *argument)
{
	MISUSE_INHERITED(s, "sennit_scheduler_on_end");
	return run ? on_end(s, run, argument) : -EINVAL;
}

int sennit_scheduler_end_event(sennit_scheduler *s, sennit_event *e)
{
	MISUSE_INHERITED(s, "sennit_scheduler_end_event");
	return on_end(s, set_event, e);
}

int sennit_scheduler_end_future(sennit_scheduler *s, sennit_future *f)
{
	MISUSE_INHERITED(s, "sennit_scheduler_end_future");
	return on_end(s, set_future, f);
}

int sennit_weak_on_end(sennit_weak *w, sennit_end_fn *run, void *argument)
{
	sennit_scheduler *s = named(w, "sennit_weak_on_end");

	return run ? on_end(s, run, argument) : -EINVAL;
}

int sennit_weak_end_event(sennit_weak *w, sennit_event *e)
{
	return on_end(named(w, "sennit_weak_end_event"), set_event, e);
}

int sennit_weak_end_future(sennit_weak *w, sennit_future *f)
{
	return on_end(named(w, "sennit_weak_end_future"), set_future, f);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak *sennit_scheduler_weak(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_weak");
	sn_end_clients_keep(&s->ending);
	return sn_end_clients_weak(&s->ending);
}

void sennit_weak_retain(sennit_weak *w)
{
	sn_end_clients_keep(&named(w, "sennit_weak_retain")->ending);
}

void sennit_weak_release(sennit_weak *w)
{
	sn_finalise_drop(named(w, "sennit_weak_release"));
}

int sennit_weak_lock(sennit_weak *w, sennit_scheduler **out)
{
	sennit_scheduler *s = named(w, "sennit_weak_lock");

	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	*out = s;
	return 0;
}
