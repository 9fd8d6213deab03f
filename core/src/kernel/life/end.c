/* SPDX-License-Identifier: Apache-2.0 */
#include "life/end.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/bind.h"
#include "life/end_clients.h"
#include "life/fork.h"
#include "sched/mailbox.h"
#include "sched/worker_stacks.h"
#include "life/worker_threads.h"
#include "cpus/slots.h"
#include "sched/cpu_masks.h"
#include "os/os.h"
#include "sched/hooks.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "blocking/blocking.h"
#include "sennit/event.h"

/* --- end check ------------------------------------------------------------ */

/* has_ended: the caller was told by the gate to end the scheduler. Returns
 * whether it has ended; the caller must then wake all that wait for it. Called
 * by a thread that counts as inside. */

#ifdef SENNIT_END_COUNT

/* Zero references and tasks: there is nothing to look for. */
static bool has_ended(sennit_scheduler *s)
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
static bool sweep_worker_has_work(struct worker *w)
{
	/* What the owner did before it left the gate is visible: <- gate.out
	 * there. */
	return sn_counters_blocked(&w->counters) > 0 || w->run.ready.head ||
	       sn_mailbox_has_fibers_besides(&w->mail, &w->recorder.note) ||
	       !sn_inbox_is_empty(&w->mail.tasks) ||
	       sn_run_queue_has_task(&w->run);
}

static bool sweep_finds_work(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker *w = s->workers[i];

		if (sweep_worker_has_work(w)) {
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

static bool has_ended(sennit_scheduler *s)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&s->gate, sweep_finds_work(s));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

bool sn_end_check_sees_active(sennit_scheduler *s)
{
	return sn_gate_active(&s->gate);
}

#endif

/* --- finalise ------------------------------------------------------------- */

static void free_worker(struct worker *w)
{
	sn_worker_stacks_free(w);
	sn_worker_free(w);
}

/* Free everything that *s owns, except for its own memory. */
static void clear_scheduler(sennit_scheduler *s)
{
	sn_parking_check_end(&s->parking);
	sn_hook_scheduler_end(s);
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->workers[i])
			free_worker(s->workers[i]);
	sn_worker_free_spare(s);
	sn_slots_leave(s);
	sn_stacks_free(&s->stacks);
	sn_pool_free(&s->pool);
	sn_backlog_free(&s->backlog);
	pthread_mutex_destroy(&s->counts.lock);
	pthread_mutex_destroy(&s->bound.lock);
	sn_hook_scheduler_free(s);
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
	sennit_event *freed = s->end.freed;
	void         *outer;

	outer = sn_race_begin_apart(sn_self ? sn_self->home.current->low
					    : NULL);
	sn_race_acquire(s);
	sn_deterministic_forget(s);
	sn_end_drop(s);
	if (freed)
		sennit_event_set(freed);
	sn_race_end(outer, NULL);
}

/* No one uses *s any more; only its own memory block may be kept. */
static void clear_and_notify(sennit_scheduler *s)
{
	void *outer;

	clear_scheduler(s);
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
static void leave_inside_count(sennit_scheduler *s)
{
	TORTURE_POINT();
	if (!sn_inside_leave(&s->end))
		return;
	if (sn_end_clients_dissolve(&s->clients))
		return;
	clear_and_notify(s);
	for (uint32_t i = 0; i < s->end.exits; i++)
		os_thread_detach(s->end.exited[i]);
	sn_end_free(s);
}

/* The client was told to. Nothing is left of *s when it returns. */
static void leave_as_client(sennit_scheduler *s, struct client *c)
{
	struct link *all;

	if (sn_end_clients_is_heir(&s->clients, c)) {
		clear_and_notify(s);
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
	sn_hook_thread_sleeps(&t, &c.state, s, deadline);
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
	sn_hook_thread_wakes(&t);
	leave_as_client(s, &c);
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
	if (has_ended(s)) {
		check_bound(s);
		for (uint32_t i = 0; i < s->capacity; i++)
			sn_parking_wake(&s->workers[i]->sleeper);
		sn_slots_close(s);
		sn_blocking_threads_close(&s->blocking);
		leave_inside_count(s); /* the place kept until DONE */
	}
	leave_inside_count(s);
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
	leave_inside_count(s);
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
	clear_scheduler(s);
	sn_end_free(s);
}
