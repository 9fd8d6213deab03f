/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - how schedulers, threads, stacks and processes come and go: start,
 * bind, fork, trim, overflow, task-local values. */
#ifndef SN_LIFE_H
#define SN_LIFE_H

#include "core/names.h"
#include "sched/state.h"

/* Give the calling thread, which is unbound, a worker of s. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_bind(sennit_scheduler *s);

/* Run all tasks of the calling thread's worker, then free the worker. *s may be
 * gone afterwards. */
void sn_unbind(struct worker *w);

/* --- start ---------------------------------------------------------------- */

/* Creates a scheduler and its threads. */

/* Create a scheduler from *config, in which all defaults are filled in. Returns
 * what sennit_scheduler_create returns. On an error nothing remains. */
SENNIT_MUST_USE int sn_start(sennit_scheduler   **out,
			     const sennit_config *config);

/* --- fork exit ------------------------------------------------------------ */

/* Detects threads that exit while they have a worker, and processes that were
 * forked.
 *
 * A thread-specific key holds the thread's worker. It is set before the thread
 * is bound, or before a worker's initialiser runs, and cleared when the thread
 * is unbound or the worker's loop has ended. The key's destructor runs only if
 * the key was not cleared.
 *
 * In the child of a fork, the forking thread is the only one and is unbound.
 * All earlier schedulers belong to the parent: they have no threads in the
 * child, and threads that do not exist there may hold their locks. Other state
 * of the process (that it has a key, how the system guards pages, the number of
 * mappings) is also valid in the child.
 */

/* The number of forks that led to this process. It changes only while there is
 * no other thread. */
extern a_u32 sn_process; /* any */

/* Every public call that gets a scheduler checks this before it accesses *s.
 * `call` is the name of the public call. */
#define MISUSE_INHERITED(s, call)                                       \
	do {                                                            \
		MISUSE(!(s), (call), "the scheduler is NULL");          \
		MISUSE((s)->process != a_load_rlx(&sn_process), (call), \
		       "the scheduler belongs to the parent process");  \
	} while (0)

/* Make the key and watch forks, once per process. Returns 0, or -EAGAIN or
 * -ENOMEM of the system; later calls return the same. */
SENNIT_MUST_USE int sn_fork_exit_prepare(void);

/* The calling thread must not exit before sn_fork_exit_unwatch. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_fork_exit_watch(struct worker *w);
void                sn_fork_exit_unwatch(void);

/* --- trim ----------------------------------------------------------------- */

/* Returns memory that a peak left unused to the system.
 *
 *	        period over, or told            a few at a time
 *	busy ------------- look ----> surplus ------- steps ----> trimmed
 *
 * A worker returns its idle stacks beyond `spare_stacks` that it has not needed
 * for a whole period, and memory that longer queues needed. One of the workers
 * checks the depots that they share. On request, by sennit_scheduler_trim, a
 * worker does not consider what was needed. No worker does this for another,
 * because idle stacks belong to their worker alone.
 *
 * A worker looks in its upkeep, and before a sleep that may be long. A worker
 * with a surplus returns a few stacks in a row, then works, or checks whether
 * it was woken. While it is busy it returns so few that this takes a twentieth
 * of its time.
 *
 * The number of needed stacks follows from the number of waiting fibers, which
 * upkeep reads. So nothing is counted for this where tasks and fibers run.
 *
 * Invariants
 *   - A worker sleeps with a deadline as long as it may have something to
 *     return, and without one otherwise.
 *   - A sleeper was not told, or is woken: the teller stores, executes a
 *     fence, and looks for sleepers; a worker announces, executes a fence,
 *     and checks whether it was told.
 */

/* Whether w has something to look at or to return now. */
static inline bool sn_trim_is_due(const struct worker *w, sennit_time now)
{
	/* May be seen late: at the next upkeep, or before w sleeps. */
	return now >= w->trim.at ||
	       unlikely(a_load_rlx(&w->scheduler->trim.told) != w->trim.seen);
}

/* w, the caller's worker, is busy: look, or return a few stacks. */
COLD void sn_trim_attend(struct worker *w, sennit_time now);

/* w, the caller's worker, has announced its sleep and is about to sleep until
 * `until` or a wake: return what there is, unless woken. Returns the time to
 * wake. */
sennit_time sn_trim_asleep(struct worker *w, struct sleeper *as,
			   sennit_time until);

/* w, the caller's worker, gives up its thread. It gives back all idle stacks
 * except `keep`, or except one if many are already in the depot, and memory
 * that longer queues needed. */
void sn_trim_leave(struct worker *w, uint32_t keep);

/* Tell all workers of s to trim, and trim what they share. */
void sn_trim_tell(sennit_scheduler *s);

/* Whether w has not finished the trims that were requested. */
static inline bool sn_trim_is_pending(struct worker *w)
{
	/* <- trim.done */
	return a_load_acq(&w->trim.done) !=
	       a_load_rlx(&w->scheduler->trim.told);
}

/* --- worker stacks -------------------------------------------------------- */

/* The stacks of a worker: takes new ones, keeps idle ones, gives stacks back.
 */

/* Make a fiber on a stack that is new to w. NULL: none is available. */
COLD struct sennit_fiber *sn_worker_stacks_new(struct worker *w);

/* Put such a fiber on the idle list. Returns false if no stack is available. */
COLD bool sn_worker_stacks_add(struct worker *w);

/* The fiber on which the worker's thread, which has just begun, runs. */
struct sennit_fiber *sn_worker_stacks_first(struct worker *w);

/* The stack of f, which has in_care set, is about to become idle. Aborts if its
 * canary was changed. For a bound thread where stacks are limited, only this
 * stack stays with the thread: outside of the scheduler the thread could not
 * give others to workers that have none. */
COLD void sn_worker_stacks_check(struct worker *w, struct sennit_fiber *f);

/* An idle stack or a new one. NULL: none is available. */
static inline struct sennit_fiber *sn_worker_stacks_take(struct worker *w)
{
	struct sennit_fiber *f = sn_stack_cache_take(&w->idle_stacks);

	return f ? f : sn_worker_stacks_new(w);
}

/* Return up to `most` idle stacks, at most STACK_BATCH, to the system, except
 * for the `keep` last used ones. Returns their number. */
COLD uint32_t sn_worker_stacks_return(struct worker *w, uint32_t keep,
				      uint32_t most);

/* Where stacks are limited, give all idle ones except one back, for workers
 * that may have none. Otherwise do nothing. */
COLD void sn_worker_stacks_share(struct worker *w);

/* w has ended: give back all its stacks. */
void sn_worker_stacks_free(struct worker *w);

/* --- stack overflow ------------------------------------------------------- */

/* Reports a stack overflow: the task, its stack size, and a backtrace.
 *
 *	a frame grows into the guard --> a fault, handled on the thread's
 *	alternate stack: is the address in the guard of the running fiber, or
 *	the stack pointer outside of its stack? --> print it --> the handler
 *	that was installed before runs, and usually ends the process
 *
 * Other faults are passed on after three comparisons. The handler belongs to
 * the process. The first scheduler that wants it installs it, and it stays
 * installed. Each worker thread and each bound thread gets an alternate stack,
 * unless it has one, and keeps it until it ends.
 *
 * A frame larger than the guard (sennit_config.guard_size) can skip it. libc's
 * frames are smaller than the default guard. Programs with larger frames must
 * be compiled with -fstack-clash-protection, which touches every page; the
 * library itself is.
 */

/* Install the fault handler. */
void sn_stack_overflow_watch(void);

/* Give the calling thread, which now runs w, an alternate stack, so that it can
 * report overflows. It keeps that until it ends. */
void sn_stack_overflow_enter(const struct worker *w);

/* --- task local ----------------------------------------------------------- */

/* The local values that a task, or a thread, has set.
 *
 *	fiber->locals --> { memory, capacity, value, value, ... }   by key
 *
 * The first set makes the array, a later one enlarges it when needed, and the
 * end of the task frees it. CLEANUP_LOCALS of the fiber says that there is
 * something to end. The first array is a block of the worker's pool.
 *
 * Values that a thread has set on its own stack belong to the thread. The
 * thread keeps them while it is unbound; its worker's record of that stack has
 * them while it is bound. So a get looks in one place, whatever runs.
 */

struct local {
	void    *value;
	uint32_t generation; /* of the key that set it; 0: never set */
};

struct locals {
	const sennit_allocator *memory;   /* fixed; NULL: a block of the pool */
	uint32_t                capacity; /* fixed */
	struct local            slots[];  /* indexed by key */
};

/* The values of the caller, on an unbound thread. */
struct locals **sn_task_local_of_thread(void);

static inline struct locals **sn_task_local_mine(void)
{
	struct worker *w = sn_self;

	return likely(w) ? &w->home.current->locals : sn_task_local_of_thread();
}

/* The slot of the key. It contains a value of this key only if the generations
 * match. NULL: nothing was ever set there. */
static inline struct local *sn_task_local_find(const struct locals *l,
					       sennit_local_key     key)
{
	if (unlikely(!l || key.index_ >= l->capacity))
		return NULL;
	return (struct local *)&l->slots[key.index_];
}

/* The caller's slot of the key; makes it if there is none. NULL: out of
 * memory. */
struct local *sn_task_local_make(sennit_local_key key);

/* The task of f, which runs, has returned. May wait. */
void sn_task_local_end(struct sennit_fiber *f);

/* Move the calling thread's values into its worker, and back. This also works
 * while a task runs on the thread's own stack. */
void sn_task_local_enter(struct worker *w);
void sn_task_local_leave(struct worker *w);

/* In the child of a fork: only the thread of w is left of it. */
void sn_task_local_fork(struct worker *w);

#endif
