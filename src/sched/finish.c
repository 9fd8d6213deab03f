/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/finish.h"

#include "base/memory.h"
#include "base/torture.h"
#include "core/depths.h"
#include "os/os.h"
#include "sched/worker.h"

/* s->end: whether anybody waits in sn_finish_wait, and whether it is over. */
enum { END_ALONE = 0, END_WAITED_FOR, END_REACHED };

void sn_finish_clear(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->workers[i])
			sn_worker_free(s->workers[i]);
	sn_stacks_free(&s->stacks);
	sn_memory_give(&s->memory, s->depths, sizeof(*s->depths));
	sn_pool_free(&s->pool);
	sn_backlog_free(&s->backlog);
	pthread_mutex_destroy(&s->staff);
	pthread_mutex_destroy(&s->lock);
	sn_memory_give(&s->memory, s->masks, s->masks_size);
	sn_memory_give(&s->memory, s->sleepers,
		       s->capacity * sizeof(struct sleeper *));
	sn_memory_give(&s->memory, s->workers,
		       s->capacity * sizeof(struct worker *));
}

void sn_finish_free(sennit_scheduler *s)
{
	sennit_allocator memory = s->memory;

	sn_turns_forget(s);
	sn_memory_give(&memory, s, sizeof(*s));
}

/* One fewer inside. The last one frees everything and tells the client; the
 * memory of *s is then the waiting client's to free, if there is one. */
static void step_out(sennit_scheduler *s)
{
	TORTURE_POINT();
	/* -> finish.inside: all we did here <- finish.inside: what all did */
	if (a_sub_acqrel(&s->inside, 1) != 1)
		return;
	sn_finish_clear(s);
	if (s->config.on_shutdown)
		s->config.on_shutdown(s->config.on_shutdown_context);
	TORTURE_POINT();
	/* -> finish.end: all is freed <- finish.end: whether anybody waits */
	if (a_swap_acqrel(&s->end, END_REACHED) == END_WAITED_FOR) {
		os_word_wake_one(&s->end);
		return;
	}
	if (s->has_exited)
		pthread_detach(s->exited);
	sn_finish_free(s);
}

bool sn_finish_wait(sennit_scheduler *s, sennit_time deadline)
{
	a_store_rlx(&s->end, END_WAITED_FOR); /* seen through finish.inside */
	sn_finish_release(s);
	/* <- finish.end */
	while (a_load_acq(&s->end) == END_WAITED_FOR) {
		if (os_word_wait(&s->end, END_WAITED_FOR, deadline))
			continue;
		TORTURE_POINT();
		/* *s is still there: freeing it is ours. And with a reference
		 * nobody reaches the end, so nobody looks at the word. */
		if (sn_gate_retain(&s->gate)) {
			a_store_rlx(&s->end, END_ALONE);
			return false;
		}
		deadline = SENNIT_NEVER; /* the workers are leaving */
	}
	if (s->has_exited)
		os_thread_join(s->exited);
	sn_finish_free(s);
	return true;
}

/* Work that only a worker's own thread could make disappear: it is parked, and
 * may not wake while the gate is suspended. Blocked fibers are counted from
 * before they wait until they run again, so one on its way from a waker's hands
 * to the ready list is never missed. */
static bool has_work(struct worker *w)
{
	/* What the owner did before it left the gate: <- gate.out there. */
	return sn_worker_blocked(w) > 0 || w->ready.head ||
	       !sn_inbox_is_empty(&w->fibers) ||
	       !sn_inbox_is_empty(&w->tasks_in) || sn_worker_has_task(w);
}

static bool found_work(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker *w = s->workers[i];

		if (has_work(w)) {
			/* Set before it works, clear after. */
			ASSERT(a_load_rlx(&w->present));
			return true;
		}
	}
	return !sn_backlog_is_empty(&s->backlog); /* <- gate.out there, too */
}

void sn_finish_sweep(sennit_scheduler *s)
{
	enum gate_verdict verdict;

	/* Inside until settled: a rollback lets others end the scheduler. */
	a_add_rlx(&s->inside, 1);
	do
		verdict = sn_gate_settle(&s->gate, found_work(s));
	while (verdict == GATE_AGAIN);
	if (verdict == GATE_COMPLETED) {
		for (uint32_t i = 0; i < s->capacity; i++)
			sn_parking_wake(&s->workers[i]->sleeper);
		sn_proxies_close(&s->proxies);
		step_out(s); /* the place kept until DONE */
	}
	step_out(s);
}

void sn_finish_release(sennit_scheduler *s)
{
	if (sn_gate_release(&s->gate))
		sn_finish_sweep(s);
}

void sn_finish_worker_retires(sennit_scheduler *s)
{
	TORTURE_POINT(); /* no longer present, still active */
	if (sn_gate_leave(&s->gate))
		sn_finish_sweep(s); /* still inside */
	sn_finish_worker_exits(s);
}

void sn_finish_worker_exits(sennit_scheduler *s)
{
	bool      has_previous;
	pthread_t previous;

	if (s->abandoned)
		return;
	os_lock(&s->lock);
	has_previous = s->has_exited;
	previous = s->exited;
	s->exited = pthread_self();
	s->has_exited = true;
	pthread_mutex_unlock(&s->lock);
	TORTURE_POINT();
	/* So that only the last thread is left for the client to join. */
	if (has_previous)
		os_thread_join(previous);
	step_out(s);
}

void sn_finish_abandon(sennit_scheduler *s, uint32_t started)
{
	s->abandoned = true;
	sn_gate_abandon(&s->gate);
	for (uint32_t i = 0; i < started; i++)
		sn_parking_wake(&s->workers[i]->sleeper);
	for (uint32_t i = 0; i < started; i++)
		os_thread_join(s->workers[i]->thread);
	sn_finish_clear(s);
	sn_finish_free(s);
}
