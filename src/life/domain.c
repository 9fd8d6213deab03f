/* SPDX-License-Identifier: Apache-2.0 */
#include "life/domain.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/end.h"
#include "life/life.h"
#include "sched/fiber.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sennit/domain.h"
#include "sennit/shared.h"

#include <errno.h>

_Static_assert(offsetof(struct sennit_domain, scope) == 0,
	       "a scope that is a domain is found at its address");

struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument)
{
	struct sennit_domain *d =
		sn_memory_take(&s->memory, sn_domain_count_size(s),
			       _Alignof(struct sennit_domain));

	if (!d)
		return NULL;
	d->scope = (struct sennit_cancel_scope){ .kind_ = SCOPE_DOMAIN,
						 .root_ = &d->scope,
						 .deadline_ = SENNIT_NEVER,
						 .earlier_ = SENNIT_NEVER };
	a_init(&d->inside, 1);
	d->scheduler = s;
	d->run = run;
	d->argument = argument;
	d->ended.memory = s->memory;
	sn_end_clients_init(&d->ended.clients, &d->ended.memory);
	d->ended.size = sn_domain_count_size(s);
	d->ended.process = s->process;
	sn_domain_count_begin(d);
	return d;
}

/* --- the end ------------------------------------------------------------ */

void sn_domain_drop(struct sennit_domain *d)
{
	const sennit_allocator memory = d->ended.memory;
	const size_t           size = d->ended.size;

	if (sn_end_clients_drop(&d->ended.clients))
		sn_memory_give(&memory, d, size);
}

/* No one uses *d any more, except for weak handles. Without these nothing of it
 * is left when its creator is told. */
static void wind_up(struct sennit_domain *d)
{
	sennit_scheduler *s = d->scheduler;
	sennit_end_fn    *run = d->run;
	void             *argument = d->argument;
	bool              alone = sn_end_clients_are_none(&d->ended.clients);
	void             *outer;

	outer = sn_race_begin_apart(sn_self ? sn_self->home.current->low
					    : NULL);
	sn_race_acquire(d);
	if (alone)
		sn_domain_drop(d);
	TORTURE_POINT();
	if (run)
		run(argument);
	if (!alone) {
		sn_end_clients_tell(&d->ended.clients);
		sn_domain_drop(d);
	}
	sn_race_release(s);
	sn_race_end(outer, NULL);
	sn_end_release(s);
}

static void step_out(struct sennit_domain *d)
{
	TORTURE_POINT();
	/* -> domain.inside: all that this worker did here <- domain.inside:
	 * what all others did */
	if (a_sub_acqrel(&d->inside, 1) == 1)
		wind_up(d);
}

void sn_domain_end(struct sennit_domain *d)
{
	/* Count inside until settled: after a rollback others may end the
	 * domain. */
	a_add_rlx(&d->inside, 1);
	if (sn_domain_count_check(d))
		/* -> domain.inside: the place kept until DONE; not the last <-
		 * domain.inside */
		a_sub_acqrel(&d->inside, 1);
	step_out(d);
}

void sn_domain_release(struct sennit_domain *d)
{
	sn_race_release(d);
	if (sn_gate_release(&d->gate))
		sn_domain_end(d);
}

/* --- domain count --------------------------------------------------------- */

#ifndef SENNIT_END_COUNT

size_t sn_domain_count_size(const sennit_scheduler *s)
{
	return sizeof(struct sennit_domain) +
	       s->capacity * sizeof(struct domain_part);
}

void sn_domain_count_begin(struct sennit_domain *d)
{
	sn_gate_init(&d->gate, 1, 0);
	a_init(&d->others, 0);
	d->parts_count = d->scheduler->capacity;
	for (uint32_t i = 0; i < d->parts_count; i++)
		a_init(&d->parts[i].balance, 0);
}

static bool found_work(struct sennit_domain *d)
{
	/* Only holders of references still change it, see domain.h.
	 * gate.out makes the earlier changes visible. */
	uint64_t sum = a_load_rlx(&d->others);

	for (uint32_t i = 0; i < d->parts_count; i++)
		sum += a_load_rlx(&d->parts[i].balance); /* the same */
	return sum != 0;
}

bool sn_domain_count_check(struct sennit_domain *d)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&d->gate, found_work(d));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

void sn_domain_become_active(struct sennit_domain *d)
{
	CHECK(sn_gate_enter(&d->gate), "a domain ended while it had a task");
}

#endif

/* --- domain --------------------------------------------------------------- */

/* The public calls of domains. Tasks of a domain carry its address; see
 * life/domain.h. */

int sennit_domain_create(sennit_domain **out, sennit_scheduler *s,
			 sennit_end_fn *on_end, void *argument)
{
	sennit_domain *d;

	MISUSE_INHERITED(s, "sennit_domain_create");
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	d = sn_domain_make(s, on_end, argument);
	if (!d) {
		sn_end_release(s);
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
	SPAWN_CALL();
	return sn_place_packed(d->scheduler, d, task,
			       "sennit_domain_schedule_task");
}

int sennit_domain_schedule(sennit_domain *d, sennit_task_fn *run,
			   void *argument)
{
	struct worker    *w = sn_place_own_worker(d->scheduler);
	const sennit_task task = { .run = run, .argument = argument };

	SPAWN_CALL();
	if (likely(w && w->run.pushes &&
		   sn_deque_has_room(sn_worker_deque(w)) && run)) {
		sn_domain_count_sent(d, w);
		return sn_place_own(w, TASK(run, argument, (uintptr_t)d));
	}
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

/* --- domain end ----------------------------------------------------------- */

/* Notification of a domain's end, weak handles, and waiting for the end. As for
 * schedulers (end.c), a weak handle is a part of the domain's block, and the
 * gate in that block knows whether the domain has ended. */

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

int sennit_domain_on_end(sennit_domain *d, sennit_end_fn *run, void *argument)
{
	check(d, "sennit_domain_on_end");
	return sn_end_clients_on(&d->ended.clients, run, argument);
}

int sennit_domain_end_event(sennit_domain *d, sennit_event *e)
{
	check(d, "sennit_domain_end_event");
	return sn_end_clients_on_event(&d->ended.clients, e);
}

int sennit_domain_end_future(sennit_domain *d, sennit_future *f)
{
	check(d, "sennit_domain_end_future");
	return sn_end_clients_on_future(&d->ended.clients, f);
}

int sennit_weak_domain_on_end(sennit_weak_domain *w, sennit_end_fn *run,
			      void *argument)
{
	return sn_end_clients_on(
		&named(w, "sennit_weak_domain_on_end")->ended.clients, run,
		argument);
}

int sennit_weak_domain_end_event(sennit_weak_domain *w, sennit_event *e)
{
	return sn_end_clients_on_event(
		&named(w, "sennit_weak_domain_end_event")->ended.clients, e);
}

int sennit_weak_domain_end_future(sennit_weak_domain *w, sennit_future *f)
{
	return sn_end_clients_on_future(
		&named(w, "sennit_weak_domain_end_future")->ended.clients, f);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak_domain *sennit_domain_weak(sennit_domain *d)
{
	void *weak = &d->ended.clients.weak;

	check(d, "sennit_domain_weak");
	sn_end_clients_keep(&d->ended.clients);
	return weak;
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
	err = sn_end_clients_on(&d->ended.clients, set_and_release,
				sennit_event_retain(*over));
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
		(void)!sennit_event_wait_until(
			over, SN_UNCANCELLED); /* it is being told */
		err = 0;
	}
	sennit_weak_domain_release(w);
	sennit_event_release(over);
	return err;
}
