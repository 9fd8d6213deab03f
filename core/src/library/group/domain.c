/* SPDX-License-Identifier: Apache-2.0 */
#include "group/domain.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/end.h"
#include "life/end_clients.h"
#include "life/fork.h"
#include "group/submit.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "sennit/domain.h"
#include "sennit/event.h"

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

/* Only weak handles still use *d. If there are none, its memory is freed before
 * its creator is notified. */
static void finish_domain(struct sennit_domain *d)
{
	sennit_scheduler *s = d->scheduler;
	sennit_end_fn    *run = d->run;
	void             *argument = d->argument;
	bool              alone = sn_end_clients_are_none(&d->ended.clients);
	void             *outer;

	ARCH_BARRIER(); /* the scheduler would never end */
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

static void leave_domain(struct sennit_domain *d)
{
	TORTURE_POINT();
	/* -> domain.inside: all that this worker did here <- domain.inside:
	 * what all others did */
	if (a_sub_acqrel(&d->inside, 1) == 1)
		finish_domain(d);
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
	leave_domain(d);
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

static bool domain_has_work(struct sennit_domain *d)
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
		verdict = sn_gate_settle(&d->gate, domain_has_work(d));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

void sn_domain_become_active(struct sennit_domain *d)
{
	CHECK(sn_gate_enter(&d->gate), "a domain ended while it had a task");
}

#endif

/* --- running ------------------------------------------------------------- */

/* Take the newest own task if it belongs to *d and the loop would take it next.
 * A task with a large copied argument is left to the loop. */
static ALWAYS_INLINE bool take_next_of(const struct sennit_domain *d,
				       struct worker *w, struct task *t)
{
	return sn_worker_wants_newest(w) && sn_upkeep_tick_for_loop(w) &&
	       sn_deque_pop_if(sn_worker_deque(w), ~TASK_BLOCK, (uintptr_t)d,
			       t);
}

/* By value, so that the loop below keeps its task in registers. */
static NOINLINE void begin_next(struct worker *w, sennit_task_fn *run,
				void *argument)
{
	const struct task t = TASK(run, argument, TASK_BORROWED);

	sn_hook_task_begin(w, &t);
}

NOINLINE struct worker *sn_domain_run(struct worker     *w,
				      const struct task *first)
{
	struct sennit_domain *d = sn_task_domain(first->meta);
	struct domain_part   *part = sn_domain_part(d, w);
	struct task           t = TASK_AGAIN(first);
	void                 *outer;

	sn_domain_enter(d, part);
	sn_fiber_set_scope(w->home.current, &d->scope);
	for (;;) {
		outer = sn_race_begin(t.sent, w->home.current->low);
		t.run(t.argument);
		w = sn_self;
		sn_run_task_after(w);
		if (unlikely(t.meta & TASK_OWNED))
			sn_worker_discard(w, t.argument, t.meta);
		sn_race_release(d);
		sn_race_end_task(w, outer);
		sn_domain_count(d, part, -1);
		if (!take_next_of(d, w, &t))
			break;
		sn_fiber_state_begin(&w->home.current->state, &t);
		if (unlikely(w->home.observed))
			begin_next(w, t.run, t.argument);
	}
	sn_fiber_set_scope(w->home.current, NULL);
	sn_domain_leave(d, part);
	return w;
}

/* --- domain --------------------------------------------------------------- */

/* The public calls of domains. Tasks of a domain carry its address; see
 * group/domain.h. */

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

/* The scheduler of a domain that has ended may be gone. */
static void check_domain(const sennit_domain *d, const char *call)
{
	MISUSE(!d, call, "the domain is NULL");
	MISUSE(d->ended.process != a_load_rlx(&sn_process), call,
	       "the domain belongs to the parent process");
}

sennit_domain *sennit_domain_retain(sennit_domain *d)
{
	check_domain(d, "sennit_domain_retain");
	MISUSE(!sn_gate_retain(&d->gate), "sennit_domain_retain",
	       "the domain has ended: no reference is held");
	return d;
}

void sennit_domain_release(sennit_domain *d)
{
	check_domain(d, "sennit_domain_release");
	MISUSE(!sn_gate_references(&d->gate), "sennit_domain_release",
	       "the caller has no reference to release");
	sn_domain_release(d);
}

int sennit_domain_schedule_task(sennit_domain *d, const sennit_task *task)
{
	MISUSE_INHERITED(d->scheduler, "sennit_domain_schedule_task");
	SPAWN_CALL();
	return sn_submit(d->scheduler, d, task, "sennit_domain_schedule_task");
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
	return sn_submit(d->scheduler, d, &task, "sennit_domain_schedule");
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

static sennit_domain *check_weak_domain(sennit_weak_domain *w, const char *call)
{
	sennit_domain *d = container_of((struct sennit_weak_scheduler *)w,
					struct sennit_domain,
					ended.clients.weak);

	check_domain(w ? d : NULL, call);
	return d;
}

/* --- registering -------------------------------------------------------- */

int sennit_domain_on_end(sennit_domain *d, sennit_end_fn *run, void *argument)
{
	check_domain(d, "sennit_domain_on_end");
	return sn_end_clients_on(&d->ended.clients, run, argument);
}

int sennit_weak_domain_on_end(sennit_weak_domain *w, sennit_end_fn *run,
			      void *argument)
{
	return sn_end_clients_on(
		&check_weak_domain(w, "sennit_weak_domain_on_end")
			 ->ended.clients,
		run, argument);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak_domain *sennit_domain_weak(sennit_domain *d)
{
	void *weak = &d->ended.clients.weak;

	check_domain(d, "sennit_domain_weak");
	sn_end_clients_keep(&d->ended.clients);
	return weak;
}

sennit_weak_domain *sennit_weak_domain_retain(sennit_weak_domain *w)
{
	sn_end_clients_keep(&check_weak_domain(w, "sennit_weak_domain_retain")
				     ->ended.clients);
	return w;
}

void sennit_weak_domain_release(sennit_weak_domain *w)
{
	sn_domain_drop(check_weak_domain(w, "sennit_weak_domain_release"));
}

int sennit_weak_domain_lock(sennit_weak_domain *w, sennit_domain **out)
{
	sennit_domain *d = check_weak_domain(w, "sennit_weak_domain_lock");

	if (!sn_gate_retain(&d->gate))
		return -ESHUTDOWN;
	*out = d;
	return 0;
}

/* --- waiting ------------------------------------------------------------ */

static void set_shutdown_event(void *event)
{
	sennit_event_set(event);
}

/* A weak handle keeps the block, so that a caller that gives up can take its
 * reference back. */
int sennit_domain_shutdown(sennit_domain *d, sennit_time deadline)
{
	const char         *call = "sennit_domain_shutdown";
	sennit_event        over = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	struct notice       n = { .run = set_shutdown_event,
				  .argument = &over,
				  .lent = true };
	sennit_weak_domain *w;
	int                 err;

	check_domain(d, call);
	MISUSE(sn_self && sn_domain_current(sn_self) == d, call,
	       "called from a task of the domain, which would wait for itself");
	MISUSE(!sn_gate_references(&d->gate), call,
	       "the caller has no reference to release");
	sn_end_clients_lend(&d->ended.clients, &n);
	w = sennit_domain_weak(d);
	sn_domain_release(d);
	err = sennit_event_wait_until(&over, deadline);
	if (err && sn_gate_retain(&d->gate)) {
		sn_end_clients_take_back(&d->ended.clients, &n);
	} else if (err) {
		(void)!sennit_event_wait_until(
			&over, SN_UNCANCELLED); /* its callback runs */
		err = 0;
	}
	sennit_weak_domain_release(w);
	return err;
}
