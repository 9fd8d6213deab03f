/* SPDX-License-Identifier: Apache-2.0 */
/* domain_end.c - notification of a domain's end, weak handles, and waiting for
 * the end. As for schedulers (end.c), a weak handle is a part of the domain's
 * block, and the gate in that block knows whether the domain has ended.
 */
#include "sennit/domain.h"

#include "sennit/shared.h"
#include "worker/domain.h"
#include "worker/fork_exit.h"

#include <errno.h>

/* The scheduler of a domain that has ended may be gone. */
static void check(const sennit_domain *d, const char *call)
{
	MISUSE(!d, call, "the domain is NULL");
	MISUSE(d->ended.process != a_load_rlx(&sn_process), call,
	       "the domain belongs to the parent process");
}

static sennit_domain *named(sennit_weak_domain *w, const char *call)
{
	sennit_domain *d = container_of((struct sennit_weak *)w,
					struct sennit_domain,
					ended.clients.weak);

	check(w ? d : NULL, call);
	return d;
}

/* --- registering -------------------------------------------------------- */

static int on_end(sennit_domain *d, sennit_end_fn *run, void *argument)
{
	return sn_end_clients_on(&d->ended.clients, &d->ended.memory, run,
				 argument);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

int sennit_domain_on_end(sennit_domain *d, sennit_end_fn *run, void *argument)
{
	check(d, "sennit_domain_on_end");
	return run ? on_end(d, run, argument) : -EINVAL;
}

int sennit_domain_end_event(sennit_domain *d, sennit_event *e)
{
	check(d, "sennit_domain_end_event");
	return on_end(d, set_event, e);
}

int sennit_domain_end_future(sennit_domain *d, sennit_future *f)
{
	check(d, "sennit_domain_end_future");
	return on_end(d, set_future, f);
}

int sennit_weak_domain_on_end(sennit_weak_domain *w, sennit_end_fn *run,
			      void *argument)
{
	sennit_domain *d = named(w, "sennit_weak_domain_on_end");

	return run ? on_end(d, run, argument) : -EINVAL;
}

int sennit_weak_domain_end_event(sennit_weak_domain *w, sennit_event *e)
{
	return on_end(named(w, "sennit_weak_domain_end_event"), set_event, e);
}

int sennit_weak_domain_end_future(sennit_weak_domain *w, sennit_future *f)
{
	return on_end(named(w, "sennit_weak_domain_end_future"), set_future, f);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak_domain *sennit_domain_weak(sennit_domain *d)
{
	check(d, "sennit_domain_weak");
	sn_end_clients_keep(&d->ended.clients);
	return (sennit_weak_domain *)sn_end_clients_weak(&d->ended.clients);
}

void sennit_weak_domain_retain(sennit_weak_domain *w)
{
	sn_end_clients_keep(
		&named(w, "sennit_weak_domain_retain")->ended.clients);
}

void sennit_weak_domain_release(sennit_weak_domain *w)
{
	sn_domain_drop(named(w, "sennit_weak_domain_release"));
}

int sennit_weak_domain_lock(sennit_weak_domain *w, sennit_domain **out)
{
	sennit_domain *d = named(w, "sennit_weak_domain_lock");

	if (!sn_gate_retain(&d->gate))
		return -ESHUTDOWN;
	*out = d;
	return 0;
}

/* --- waiting ------------------------------------------------------------ */

static void set_and_release(void *event)
{
	sennit_event_set(event);
	sennit_event_release(event);
}

/* Register *over, which gets a reference of its own. */
static int ask(sennit_domain *d, sennit_event **over)
{
	int err = sennit_event_create(over, SENNIT_EVENT_MANUAL, false,
				      &d->ended.memory);

	if (err)
		return err;
	err = on_end(d, set_and_release, sennit_event_retain(*over));
	if (err) {
		sennit_event_release(*over);
		sennit_event_release(*over);
	}
	return err;
}

/* A weak handle keeps the block, so that a caller that gives up can take its
 * reference back. */
int sennit_domain_shutdown(sennit_domain *d, sennit_time deadline)
{
	const char         *call = "sennit_domain_shutdown";
	sennit_event       *over;
	sennit_weak_domain *w;
	int                 err;

	check(d, call);
	MISUSE(sn_self && sn_domain_current(sn_self) == d, call,
	       "called from a task of the domain, which would wait for itself");
	MISUSE(!sn_gate_references(&d->gate), call,
	       "the caller has no reference to release");
	err = ask(d, &over);
	if (err)
		return err;
	w = sennit_domain_weak(d);
	sn_domain_release(d);
	err = sennit_event_wait_until(over, deadline);
	if (err && !sn_gate_retain(&d->gate)) {
		sennit_event_wait(over); /* it is being told */
		err = 0;
	}
	sennit_weak_domain_release(w);
	sennit_event_release(over);
	return err;
}
