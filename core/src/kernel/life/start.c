/* SPDX-License-Identifier: Apache-2.0 */
#include "life/bind.h"
#include "life/end_clients.h"
#include "life/fork.h"
#include "life/start.h"
#include "life/worker_threads.h"

#include "base/memory.h"
#include "base/text.h"
#include "life/end.h"
#include "cpus/slots.h"
#include "sched/cpu_masks.h"
#include "os/os.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/steal.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "blocking/blocking.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the threads of a new scheduler report to its creator, if it waits for
 * them: see must_hear. */
struct startup {
	a_u32 waiting; /* any: number of threads that have not begun; slept
		        * on */
	a_u32 error;   /* any: the last error, as a positive errno value */
};

/* --- the thread --------------------------------------------------------- */

static int set_affinity(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	sennit_cpu_mask         mask = sn_cpu_masks_get(&s->masks, 0);

	if (!sn_topology_own_cpus(s, w->index, &mask) && w->thread.founding &&
	    s->config.affinity == SENNIT_AFFINITY_INHERIT)
		return 0; /* inherited from the creator */
	return os_thread_affinity(mask.cpus, mask.count);
}

/* *startup is gone once the last thread has reported. */
static void report_startup(struct startup *startup, int error)
{
	if (error)
		a_store_rlx(&startup->error, (uint32_t)-error);
	/* -> start.began: error <- start.began */
	if (a_sub_acqrel(&startup->waiting, 1) == 1)
		os_word_wake_one(&startup->waiting);
}

static void leave_worker_thread(void)
{
	sn_self = NULL;
	sn_fork_exit_unwatch();
}

/* A new worker begins like one that is woken from sleep: as a searcher. Returns
 * false if the scheduler has ended before. */
static bool begin_as_searcher(struct worker *w)
{
	sn_parking_withdraw(&w->sleeper);
	w->idle.starts_searching = true;
	return sn_slots_enter(w);
}

/* A worker that was started later already counts as active in the gate. It must
 * not wait for a slot while it does. */
static bool enter_started_later(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	if (!s->slots.resources)
		return true;
	if (sn_gate_leave(&s->gate))
		sn_end_now(s);
	return sn_slots_enter(w);
}

/* Make the calling thread w's thread. The creator may wait for the report, but
 * never for thread_init: that may wait for what its creator does next, or for
 * the loader, if the creator is a constructor of a library. */
static void enter_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	struct startup   *startup = w->thread.startup;
	int               error = sn_fork_exit_watch(w);

	if (!error)
		error = set_affinity(w);
	if (startup)
		report_startup(startup, error);
	os_thread_name(s->name, w->index);
	arch_fp_set_control(s->fp_control); /* the creator's floating-point
					     * control, not that of the task
					     * that starts the thread */
	sn_race_acquire(&s->memory);
	if (s->config.thread_init)
		s->config.thread_init(s->config.thread_init_context, w->index);
	sn_race_release(&w->thread);
	sn_worker_enter(w);
	sn_hook_start(w);
}

/* Run w until it leaves, retires or the scheduler ends. After that, *w may
 * belong to another thread. Returns whether the worker still counts in the
 * gate. */
static bool run_worker(struct worker *w)
{
	for (;;) {
		sn_loop_run(w);
		if (w->idle.retiring) {
			if (sn_worker_threads_retire_worker(w) ||
			    !begin_as_searcher(w))
				return false;
		} else {
			sn_slots_give(w); /* give the slot first: afterwards w
					   * may belong to another thread */
			if (sn_gate_is_done(&w->scheduler->gate))
				return false;
			if (sn_worker_threads_close_worker(w))
				return true;
			sn_slots_take_inside(w);
		}
	}
}

static void *worker_thread_main(void *argument)
{
	struct worker    *w = argument;
	sennit_scheduler *s = w->scheduler;
	bool              founding = w->thread.founding;
	bool              left = false;
	/* The creator waits for the report; and each first thread calls
	 * thread_init, even if the scheduler has ended meanwhile. */
	bool at_once = w->thread.startup || (founding && s->config.thread_init);

	sn_hook_thread(true);
	if (at_once)
		enter_worker(w);
	if (founding ? begin_as_searcher(w) : enter_started_later(w)) {
		if (!at_once)
			enter_worker(w);
		left = run_worker(w);
	}
	leave_worker_thread();
	sn_hook_thread(false);
	if (left)
		sn_end_thread_leaves_gate(s);
	else
		sn_end_thread_gone(s);
	return NULL;
}

/* --- the creator -------------------------------------------------------- */

/* Make the workers, and reserve the first stack of each. The worker's own
 * thread is the first to touch it. */
static int make_workers(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		void *bottom;
		int   err = sn_worker_make(&s->workers[i], s, i);

		if (err)
			return err;
		s->sleepers[i] = &s->workers[i]->sleeper;
		bottom = sn_stacks_set_aside(&s->stacks);
		if (!bottom)
			return -ENOMEM;
		s->workers[i]->idle_stacks.first = bottom;
	}
	return 0;
}

/* Whether the creator must wait for its threads, because something can fail in
 * them. Work that reaches a worker before its thread runs lies where the worker
 * looks first. */
static bool must_hear(const sennit_scheduler *s)
{
	return s->config.affinity != SENNIT_AFFINITY_INHERIT;
}

static void wait_for_startup(struct startup *startup)
{
	uint32_t waiting;

	while ((waiting = a_load_acq(&startup->waiting))) /* <- start.began */
		os_word_wait(&startup->waiting, waiting, SENNIT_NEVER);
}

/* Start the threads of the open workers. *started becomes their number. */
static int start_threads(sennit_scheduler *s, uint32_t *started)
{
	uint32_t open = sn_worker_counts_open(
		&s->counts); /* no other thread runs yet */
	bool           hear = must_hear(s);
	struct startup startup;
	int            err = 0;

	a_init(&startup.waiting, open);
	a_init(&startup.error, 0);
	/* All of them first: who is not present has retired, for a thread that
	 * retires while others are started. */
	for (uint32_t i = 0; i < open; i++)
		sn_thread_set_present(&s->workers[i]->thread, true);
	for (*started = 0; *started < open; ++*started) {
		struct worker *w = s->workers[*started];

		sn_thread_prepare(&w->thread, hear ? &startup : NULL, true);
		err = sn_thread_start(&w->thread, worker_thread_main, w,
				      s->config.stack_size);
		if (err) {
			/* The threads that were not started have nothing to
			 * report. -> start.began <- start.began */
			a_sub_acqrel(&startup.waiting, open - *started);
			break;
		}
	}
	if (hear)
		wait_for_startup(&startup);
	return err ? err : -(int)a_load_rlx(&startup.error);
}

/* Initialise everything except the workers and threads. */
static void init_shared(sennit_scheduler *s, const sennit_config *config)
{
	uint32_t open = config->workers;

	if (config->start == SENNIT_START_LAZY && open)
		open = 1; /* one thread, which starts others when needed */
	s->config = *config;
	s->memory = *config->allocator;
	s->config.allocator = &s->memory;
	sn_escape(s->name, sizeof(s->name), config->name);
	s->config.name = s->name;
	s->capacity = config->max_workers;
	s->fp_control = arch_fp_control();
	s->process = a_load_rlx(&sn_process);
	s->asymmetric = os_process_barrier_init();
	sn_parking_init(&s->parking, s->sleepers, s->capacity);
	sn_parking_resize(&s->parking, config->workers, config->workers - open,
			  0);
	sn_parking_begin(&s->parking, open);
	s->parking.start = sn_worker_threads_start_one;
	sn_pool_init(&s->pool, &s->memory);
	sn_backlog_init(&s->backlog, &s->memory);
	sn_blocking_threads_init(&s->blocking, config->max_blocking_threads);
	sn_gate_init(&s->gate, 1, 0);
	sn_end_clients_init(&s->clients, &s->memory);
	sn_inside_init(&s->end, open);
	sn_bound_init(&s->bound);
	sn_race_release(&s->memory);
	sn_worker_counts_init(&s->counts, config->workers, open,
			      worker_thread_main);
}

static sennit_scheduler *allocate_scheduler(const sennit_config *config)
{
	const sennit_allocator *memory = config->allocator;
	size_t                  pointers = config->max_workers * sizeof(void *);
	sennit_scheduler       *s = sn_memory_take(memory, sizeof(*s),
						   _Alignof(sennit_scheduler));

	if (!s)
		return NULL;
	if (!pointers)
		return s;
	s->workers = sn_memory_take(memory, pointers, sizeof(void *));
	s->sleepers = sn_memory_take(memory, pointers, sizeof(void *));
	if (s->workers && s->sleepers)
		return s;
	sn_memory_give(memory, s->workers, pointers);
	sn_memory_give(memory, s->sleepers, pointers);
	sn_memory_give(memory, s, sizeof(*s));
	return NULL;
}

/* Undo allocate_scheduler and init_shared. */
static void free_unstarted(sennit_scheduler *s)
{
	size_t pointers = s->capacity * sizeof(void *);

	sn_pool_free(&s->pool);
	sn_backlog_free(&s->backlog);
	pthread_mutex_destroy(&s->counts.lock);
	pthread_mutex_destroy(&s->bound.lock);
	sn_hook_scheduler_free(s);
	pthread_mutex_destroy(&s->end.lock);
	sn_memory_give(&s->memory, s->workers, pointers);
	sn_memory_give(&s->memory, s->sleepers, pointers);
	sn_end_free(s);
}

/* Make the workers and everything that their threads need, and start the
 * threads. *started becomes their number. */
static int populate(sennit_scheduler *s, uint32_t *started)
{
	int err = make_workers(s);

	if (!err && s->capacity)
		err = sn_cpu_masks_copy(&s->masks, &s->memory, s->config.masks,
					s->config.mask_count);
	if (!err)
		err = sn_topology_init(s);
	if (!err)
		err = sn_slots_join(s);
	if (!err)
		err = sn_hook_scheduler_prepare(s);
	if (!err)
		err = start_threads(s, started);
	s->config.masks = NULL; /* belongs to the caller, not used any more */
	return err;
}

int sn_start(sennit_scheduler **out, const sennit_config *config)
{
	sennit_scheduler *s = allocate_scheduler(config);
	sennit_config     chosen = *config;
	uint32_t          started = 0;
	int               err;

	if (!s)
		return -ENOMEM;
	sn_hook_scheduler_init(s, &chosen);
	init_shared(s, &chosen);
	err = sn_stacks_init(&s->stacks, &s->memory, config->stack_size,
			     config->guard_size, config->max_fibers);
	if (err) {
		free_unstarted(s);
		return err;
	}
	if (config->guards == SENNIT_GUARDS_OPTIONAL)
		s->stacks.slabs.canaries = true;
	sn_hook_scheduler_join(s);
	err = populate(s, &started);
	if (err) {
		sn_end_abandon(s, started);
		return err;
	}
	sn_hook_scheduler_ready(s);
	*out = s;
	return 0;
}
