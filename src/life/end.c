/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - the end of a scheduler, its notification, and weak handles. A weak
 * handle is a part of the scheduler's memory block, which stays allocated as
 * long as the handle. The gate in that block knows whether the scheduler has
 * ended.
 */
#include "life/end.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/life.h"
#include "life/slots.h"
#include "observe/environment.h"
#include "observe/observe.h"
#include "observe/report.h"
#include "observe/stall.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "wait/blocking.h"
#include "sennit/end.h"

#include <errno.h>

/* --- finalise ------------------------------------------------------------- */

static void free_worker(struct worker *w)
{
	sn_worker_stacks_free(w);
	sn_worker_free(w);
}

void sn_end_clear(sennit_scheduler *s)
{
	sn_environment_remove(s);
	sn_scheduler_list_leave(s);
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->workers[i])
			free_worker(s->workers[i]);
	sn_worker_free_spare(s);
	sn_slots_leave(s);
	sn_stacks_free(&s->stacks);
	sn_memory_give(&s->memory, s->depths, sizeof(*s->depths));
	sn_observe_free(s);
	sn_pool_free(&s->pool);
	sn_backlog_free(&s->backlog);
	pthread_mutex_destroy(&s->counts.lock);
	pthread_mutex_destroy(&s->bound.lock);
	sn_trace_crash_forget(s);
	sn_trace_free(&s->tracing);
	pthread_mutex_destroy(&s->end.lock);
	sn_memory_give(&s->memory, s->places, s->capacity * sizeof(*s->places));
	sn_cpu_masks_free(&s->masks, &s->memory);
	sn_memory_give(&s->memory, s->sleepers,
		       s->capacity * sizeof(struct sleeper *));
	sn_memory_give(&s->memory, s->workers,
		       s->capacity * sizeof(struct worker *));
}

void sn_end_drop(sennit_scheduler *s)
{
	sennit_allocator memory = s->memory;

	if (sn_end_clients_drop(&s->clients))
		sn_memory_give(&memory, s, sizeof(*s));
}

void sn_end_free(sennit_scheduler *s)
{
	sn_deterministic_forget(s);
	sn_end_drop(s);
}

/* No one uses *s any more; only its own memory block may be kept. */
static void wind_up(sennit_scheduler *s)
{
	void *outer;

	sn_end_clear(s);
	outer = sn_race_begin_apart(sn_self ? sn_self->home.current->low
					    : NULL);
	sn_race_acquire(s);
	if (s->config.on_shutdown)
		s->config.on_shutdown(s->config.on_shutdown_context);
	TORTURE_POINT();
	sn_race_release(s);
	sn_end_clients_tell(&s->clients);
	sn_race_end(outer, NULL);
}

/* Leave the inside count. The last one leaves the rest to a waiting client,
 * whose thread wakes as fast as this one would end; without a client it does
 * the rest itself. */
static void step_out(sennit_scheduler *s)
{
	TORTURE_POINT();
	if (!sn_inside_leave(&s->end))
		return;
	if (sn_end_clients_dissolve(&s->clients))
		return;
	wind_up(s);
	for (uint32_t i = 0; i < s->end.exits; i++)
		os_thread_detach(s->end.exited[i]);
	sn_end_free(s);
}

/* The client was told to. Nothing is left of *s when it returns. */
static void leave(sennit_scheduler *s, struct client *c)
{
	struct link *all;

	if (sn_end_clients_is_heir(&s->clients, c)) {
		wind_up(s);
		for (uint32_t i = 0; i < s->end.exits; i++)
			os_thread_join(s->end.exited[i]);
	}
	sn_race_acquire(s);
	if (sn_end_clients_leave(&s->clients, &all)) {
		sn_end_free(s);
		sn_end_clients_free(all, c);
		return;
	}
	/* <- end_clients.told */
	while (a_load_acq(&c->state) != CLIENT_FREE)
		os_word_wait(&c->state, CLIENT_LEAVES, SENNIT_NEVER);
}

/* Wait until the end of *s. Returns false if the deadline passed. */
static bool wait_for_end(sennit_scheduler *s, sennit_time deadline)
{
	struct client         c;
	struct stalled_thread t;

	sn_end_clients_join(&s->clients, &c);
	sn_end_release(s);
	sn_stall_sleep(&t, &c.state, s, deadline);
	/* <- end_clients.told */
	while (a_load_acq(&c.state) == CLIENT_WAITS) {
		if (os_word_wait(&c.state, CLIENT_WAITS, deadline))
			continue;
		TORTURE_POINT();
		if (sn_gate_retain(&s->gate)) {
			sn_end_clients_give_up(&s->clients, &c);
			return false; /* it had a deadline, and so no t */
		}
		deadline = SENNIT_NEVER; /* the workers are leaving */
	}
	sn_stall_wake(&t);
	leave(s, &c);
	return true;
}

bool sn_end_wait(sennit_scheduler *s, sennit_time deadline)
{
	struct worker *w = sn_self;
	bool           ended;

	/* *s may need the CPU slot of the worker whose thread sleeps here. */
	if (w)
		sn_slots_give(w);
	ended = wait_for_end(s, deadline);
	if (w)
		sn_slots_take_inside(w);
	return ended;
}

/* The scheduler is about to end. Each binding holds a reference. */
static void check_bound(sennit_scheduler *s)
{
	MISUSE(sn_bound_is_any(&s->bound), "sennit_scheduler_release",
	       "a reference that was not the caller's: no holder is left, but "
	       "a "
	       "thread is bound");
}

void sn_end_now(sennit_scheduler *s)
{
	/* Count inside until settled: after a rollback others may end the
	 * scheduler. */
	sn_inside_enter(&s->end);
	if (sn_end_check(s)) {
		check_bound(s);
		for (uint32_t i = 0; i < s->capacity; i++)
			sn_parking_wake(&s->workers[i]->sleeper);
		sn_slots_close(s);
		sn_blocking_threads_close(&s->blocking);
		step_out(s); /* the place kept until DONE */
	}
	step_out(s);
}

void sn_end_release(sennit_scheduler *s)
{
	sn_race_release(s);
	if (sn_gate_release(&s->gate))
		sn_end_now(s);
}

void sn_end_thread_leaves_gate(sennit_scheduler *s)
{
	TORTURE_POINT(); /* no longer present, still active */
	if (sn_gate_leave(&s->gate))
		sn_end_now(s); /* this thread still counts as inside */
	sn_end_thread_gone(s);
}

/* Record that the calling thread is about to end. The thread that ends the
 * scheduler joins or detaches it. Returns true if the caller must join *whom to
 * make room. */
static bool note_exit(sennit_scheduler *s, pthread_t *whom)
{
	/* Before the end, ended threads would only keep their stacks. */
	uint32_t room = sn_gate_is_done(&s->gate) ? TORTURED(2, FINALISE_EXITS)
						  : 1;
	bool     full;

	os_lock(&s->end.lock);
	full = s->end.exits >= room;
	if (full)
		*whom = s->end.exited[--s->end.exits];
	s->end.exited[s->end.exits++] = pthread_self();
	pthread_mutex_unlock(&s->end.lock);
	return full;
}

void sn_end_thread_gone(sennit_scheduler *s)
{
	pthread_t earlier;

	if (s->end.abandoned)
		return;
	if (note_exit(s, &earlier)) {
		TORTURE_POINT();
		os_thread_join(earlier);
	}
	step_out(s);
}

void sn_end_abandon(sennit_scheduler *s, uint32_t started)
{
	s->end.abandoned = true;
	sn_gate_abandon(&s->gate);
	for (uint32_t i = 0; i < started; i++)
		sn_parking_wake(&s->workers[i]->sleeper);
	sn_slots_close(s);
	for (uint32_t i = 0; i < started; i++)
		sn_thread_join(&s->workers[i]->thread);
	sn_end_clear(s);
	sn_end_free(s);
}

/* --- end check ------------------------------------------------------------ */

#ifdef SENNIT_END_COUNT

/* Zero references and tasks: there is nothing to look for. */
bool sn_end_check(sennit_scheduler *s)
{
	CHECK(sn_gate_is_done(&s->gate), "a scheduler that ended goes on");
	return true;
}

bool sn_end_check_sees_active(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		const struct worker *w = s->workers[i];

		if (sn_thread_is_present(&w->thread) &&
		    !sn_parking_is_asleep(&w->sleeper))
			return true;
	}
	return false;
}

#else

/* Whether w has work that only its own thread could remove: w is parked, and
 * may not wake while the gate is suspended. Blocked fibers count from before
 * they wait until they run again. So a fiber on its way from a waker to the
 * ready list is never missed. */
static bool has_work(struct worker *w)
{
	/* What the owner did before it left the gate is visible: <- gate.out
	 * there. */
	return sn_counters_blocked(&w->counters) > 0 || w->run.ready.head ||
	       sn_mailbox_has_fibers_besides(&w->mail, &w->recorder.note) ||
	       !sn_inbox_is_empty(&w->mail.tasks) ||
	       sn_run_queue_has_task(&w->run);
}

static bool found_work(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker *w = s->workers[i];

		if (has_work(w)) {
			/* `present` is set before the worker works and cleared
			 * afterwards. Only a retired worker has tasks without
			 * it, in the inbox, which others empty. */
			ASSERT(sn_thread_is_present(&w->thread) ||
			       !sn_inbox_is_empty(&w->mail.tasks));
			return true;
		}
	}
	return !sn_backlog_is_empty(&s->backlog); /* visible: <- gate.out there,
						   * too */
}

bool sn_end_check(sennit_scheduler *s)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&s->gate, found_work(s));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

bool sn_end_check_sees_active(sennit_scheduler *s)
{
	return sn_gate_active(&s->gate);
}

#endif

/* --- end ------------------------------------------------------------------ */

/* The scheduler of the handle, which may have ended. `call` names the public
 * call. */
static sennit_scheduler *named(sennit_weak *w, const char *call)
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

int sennit_scheduler_end_event(sennit_scheduler *s, sennit_event *e)
{
	MISUSE_INHERITED(s, "sennit_scheduler_end_event");
	return sn_end_clients_on_event(&s->clients, e);
}

int sennit_scheduler_end_future(sennit_scheduler *s, sennit_future *f)
{
	MISUSE_INHERITED(s, "sennit_scheduler_end_future");
	return sn_end_clients_on_future(&s->clients, f);
}

int sennit_weak_on_end(sennit_weak *w, sennit_end_fn *run, void *argument)
{
	return sn_end_clients_on(&named(w, "sennit_weak_on_end")->clients, run,
				 argument);
}

int sennit_weak_end_event(sennit_weak *w, sennit_event *e)
{
	return sn_end_clients_on_event(
		&named(w, "sennit_weak_end_event")->clients, e);
}

int sennit_weak_end_future(sennit_weak *w, sennit_future *f)
{
	return sn_end_clients_on_future(
		&named(w, "sennit_weak_end_future")->clients, f);
}

/* --- weak handles ------------------------------------------------------- */

sennit_weak *sennit_scheduler_weak(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_weak");
	sn_end_clients_keep(&s->clients);
	return &s->clients.weak;
}

void sennit_weak_retain(sennit_weak *w)
{
	sn_end_clients_keep(&named(w, "sennit_weak_retain")->clients);
}

void sennit_weak_release(sennit_weak *w)
{
	sn_end_drop(named(w, "sennit_weak_release"));
}

int sennit_weak_lock(sennit_weak *w, sennit_scheduler **out)
{
	sennit_scheduler *s = named(w, "sennit_weak_lock");

	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	*out = s;
	return 0;
}
