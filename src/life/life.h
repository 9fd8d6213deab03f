/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - how schedulers, threads, stacks and processes come and go: bind,
 * start, threads of workers, fork, trim, overflow, task-local values. */
#ifndef SN_LIFE_H
#define SN_LIFE_H

#include "os/os.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "sennit/local.h"

/* Give the calling thread, which is unbound, a worker of s. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_bind(sennit_scheduler *s);

/* Run all tasks of the calling thread's worker, then free the worker. *s may be
 * gone afterwards. */
void sn_unbind(struct worker *w);

/* --- bound workers -------------------------------------------------------- */

static inline void sn_bound_init(struct bound_workers *b)
{
	pthread_mutex_init(&b->lock, NULL);
	a_init(&b->spare, NULL);
}

/* Leave a worker's memory for the next thread that binds. Returns what was
 * there: NULL or another one. */
static inline struct worker *sn_bound_swap_spare(struct bound_workers *b,
						 struct worker        *w)
{
	/* -> bound.spare: no more accesses <- bound.spare */
	return a_swap_acqrel(&b->spare, w);
}

/* Take that memory. NULL: there is none. A stale NULL costs an allocation. */
static inline struct worker *sn_bound_take_spare(struct bound_workers *b)
{
	if (!a_load_rlx(&b->spare))
		return NULL;
	return a_swap_acq(&b->spare, NULL); /* <- bound.spare */
}

/* The binding after `after`, or the first one for NULL. NULL: there is none.
 * Lock held. */
static inline struct binding *sn_bound_next(const struct bound_workers *b,
					    const struct binding       *after)
{
	struct link *l = after ? sn_link_after(&after->link, b->list) : b->list;

	return l ? container_of(l, struct binding, link) : NULL;
}

static inline void sn_bound_join(struct bound_workers *b, struct binding *mine)
{
	os_lock(&b->lock);
	sn_link_join(&b->list, &mine->link);
	pthread_mutex_unlock(&b->lock);
}

/* The worker's counters stay in the sums. Lock held. */
static inline void sn_bound_leave(struct bound_workers *b, struct binding *mine,
				  const struct counters *counters)
{
	sn_link_leave(&b->list, &mine->link);
	sn_counters_add(&b->past, counters);
}

static inline bool sn_bound_is_any(struct bound_workers *b)
{
	bool any;

	os_lock(&b->lock);
	any = b->list;
	pthread_mutex_unlock(&b->lock);
	return any;
}

/* The worker of *b. */
static inline struct worker *sn_worker_bound(struct binding *b)
{
	return container_of(b, struct worker, binding);
}

/* --- start ---------------------------------------------------------------- */

/* Creates a scheduler and its threads. */

/* Create a scheduler from *config, in which all defaults are filled in. Returns
 * what sennit_scheduler_create returns. On an error nothing remains. */
SENNIT_MUST_USE int sn_start(sennit_scheduler   **out,
			     const sennit_config *config);

/* --- worker threads ------------------------------------------------------- */

/* Starts, closes and calls back workers.
 *
 *	inactive --started--> open --closed--> closed --nothing left--> inactive
 *	                    |  ^                |
 *	        idle for    |  +- called back --+
 *	        long        +----> retired (open, no thread) --started--> open
 *
 *	0 ........ open ............ target ............ capacity
 *	take work  threadless: started when needed  unwanted: inactive or closed
 *
 * A closed worker passes its tasks on to open ones, sleeps only where wakes of
 * its fibers reach it, and stays active in the gate until nothing is left that
 * only it can do. Then its thread ends as at the scheduler's end. Its record
 * stays, with one stack, for the next thread.
 *
 * Invariants
 *   - 1 <= open <= target <= capacity; without threadless workers open
 *     equals target.
 *   - `retired` of the open workers have no thread, and no task that
 *     others could not take. At least one open worker has a thread. The
 *     retired workers and those from open to target are threadless.
 *   - No worker from `extent` on has a thread or a task.
 *   - A task sent to a worker that closes meanwhile is seen by the sender
 *     or by the thread that closes it: one stores and one pushes, each
 *     executes a fence, and each looks.
 *   - Only the holder of `counts.lock` changes these numbers and
 *     `thread.present`. So a worker either leaves or is called back.
 *   - A task sent to a worker that retires meanwhile lies where every
 *     searcher looks. Its sender wakes or starts a worker, or, if no
 *     thread can be started, moves the task to a worker that has one.
 *   - A thread that starts a worker is active or holds a reference, so
 *     the gate cannot refuse the worker.
 */

static inline void sn_worker_counts_init(struct worker_counts *t,
					 uint32_t target, uint32_t open,
					 void *(*main)(void *worker))
{
	a_init(&t->target, target);
	a_init(&t->open, open);
	a_init(&t->extent, open);
	a_init(&t->retired, 0);
	t->refused = 0;
	t->main = main;
	pthread_mutex_init(&t->lock, NULL);
}

/* The number of workers wanted. Any answer may be stale. */
static inline uint32_t sn_worker_counts_target(const struct worker_counts *t)
{
	return a_load_rlx(&t->target);
}

/* The number of workers that take new work. Stale unless the lock is held. */
static inline uint32_t sn_worker_counts_open(const struct worker_counts *t)
{
	return a_load_rlx(&t->open);
}

/* Only workers below this may have a thread or tasks. Stale unless the lock is
 * held: a thread that adds a worker also wakes for it. */
static inline uint32_t sn_worker_counts_extent(const struct worker_counts *t)
{
	return a_load_rlx(&t->extent);
}

/* Whether the worker with this index takes no new work. */
static inline bool sn_worker_counts_is_closed(const struct worker_counts *t,
					      uint32_t                    index)
{
	return index >= a_load_acq(&t->open); /* <- worker_threads.open */
}

/* Under lock. */
static inline void sn_worker_counts_set_open(struct worker_counts *t,
					     uint32_t              open)
{
	TORTURE_POINT();
	a_store_rel(&t->open, open); /* -> worker_threads.open: extent */
}

/* Set the number of workers, 1 to capacity. Returns 0. On -EAGAIN the number is
 * unchanged.
 */
SENNIT_MUST_USE int sn_worker_threads_resize(sennit_scheduler *s,
					     uint32_t          count);

/* parking calls this when no other worker can be woken: start a threadless
 * worker. */
void sn_worker_threads_start_one(struct parking *p);

/* Put the node of a queued task where only the worker with this index takes it,
 * and wake that worker, or start it. Returns 0, -ENOENT if there is no such
 * worker, or -EAGAIN if it has no thread and none can be started. */
SENNIT_MUST_USE int sn_worker_threads_send_to(sennit_scheduler *s,
					      uint32_t index, struct node *n);

/* Check whether w, the caller's worker, is closed. If so, pass on all its tasks
 * that others may run. Returns whether it is closed. */
bool sn_worker_threads_check(struct worker *w);

/* w, which is closed, had nothing left to do. Returns true if it has no thread
 * any more; the caller must then not access it. False: it was called back, or
 * an errand has come. */
SENNIT_MUST_USE bool sn_worker_threads_close_worker(struct worker *w);

/* Whether w must take no new tasks. */
static inline bool sn_worker_threads_is_draining(const struct worker *w)
{
	return sn_worker_counts_is_closed(&w->scheduler->counts, w->index);
}

/* Whether w, which knows that it was closed, is open again. */
static inline bool sn_worker_threads_is_kept(const struct worker *w)
{
	return w->run.draining && !sn_worker_threads_is_draining(w);
}

/* --- retire --------------------------------------------------------------- */

/* Workers without a thread: started, retired, started again.
 *
 *	working --idle for retire_ms--> retired
 *	   ^                               |
 *	   +---- work, and nobody asleep --+
 *
 * A worker retires from its sleep, out of the gate, without work of its own.
 * Its thread ends, but its record stays open. It is then a sleeper without a
 * bit, like one that was never started (core/parking.h). A thread that adds
 * work and finds no other worker to wake starts it again.
 *
 * Invariants
 *   - Any searcher may take the tasks in its inbox, so nothing is lost if
 *     its thread does not come back.
 *   - It retires and starts under `counts.lock`, so it has at most one
 *     thread.
 *   - At least min_workers threads stay, and at least one.
 *   - A sleeper was seen to have missed nothing before it retires,
 *     because it looked again after its first nap (sched/idle.c).
 */

/* Start a thread for w, which has none. started: w already counts as a
 * searcher. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_worker_threads_start_locked(struct worker *w,
						   bool           started);

/* w, the caller's worker, is about to give up its thread: free what its next
 * thread will not need. */
void sn_retire_prepare(struct worker *w);

/* w, the caller's worker, has announced its sleep, left the gate, and slept for
 * long. Returns true if w has no thread any more; the caller must then not
 * access it. False: w was woken, or is one of the last. */
SENNIT_MUST_USE bool sn_worker_threads_retire_worker(struct worker *w);

/* How many of the first `open` workers have retired. */
uint32_t sn_retire_count_locked(const sennit_scheduler *s, uint32_t open);

/* Start a thread for a retired worker, as a counted searcher. There must be a
 * retired worker. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_restart_locked(sennit_scheduler *s);

/* The same for w, which has retired. */
SENNIT_MUST_USE int sn_retire_restart_this_locked(struct worker *w);

/* No thread can be started for the retired workers: move the tasks in their
 * inboxes to a worker that has a thread. Otherwise the remaining workers might
 * be too busy to search. */
void sn_retire_relieve_locked(sennit_scheduler *s);

/* Make sure that enough of the first `open` workers, which stay open, have
 * threads, because the others may be about to leave. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_keep_floor_locked(sennit_scheduler *s,
						uint32_t          open);

/* The number of open workers that have a thread. Stale unless the lock is
 * held. */
static inline uint32_t sn_retire_threads(const sennit_scheduler *s)
{
	uint32_t retired =
		a_load_rlx(&s->counts.retired); /* stale: see above */

	return sn_worker_counts_open(&s->counts) - retired;
}

/* The time at which w must retire, if it goes to sleep now and has been idle
 * since `since`. */
static inline sennit_time sn_retire_time(const struct worker *w,
					 sennit_time          since)
{
	const sennit_scheduler *s = w->scheduler;

	/* One of the last workers stays. If another is started after this look,
	 * that one retires instead. */
	if (!s->config.retire_ms || sn_counters_blocked(&w->counters) ||
	    sn_retire_threads(s) <= s->config.min_workers)
		return SENNIT_NEVER;
	return since + s->config.retire_ms * SENNIT_MILLISECOND;
}

/* --- thread --------------------------------------------------------------- */

/* Stale unless counts.lock is held. */
static inline bool sn_thread_is_present(const struct thread_state *t)
{
	return a_load_rlx(&t->present); /* not raced under the lock */
}

/* Under counts.lock. */
static inline void sn_thread_set_present(struct thread_state *t, bool present)
{
	a_store_rlx(&t->present, present); /* the lock or the gate makes it
					    * visible */
}

/* Start the thread with run(argument). Its stack has `stack` bytes, and as many
 * more as a signal stack at its far end takes. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE static inline int sn_thread_start(struct thread_state *t,
						  void *(*run)(void *),
						  void *argument, size_t stack)
{
	return os_thread_start(&t->id, run, argument,
			       stack + os_fault_stack_size());
}

static inline void sn_thread_join(const struct thread_state *t)
{
	os_thread_join(t->id);
}

/* A new thread reports to *startup, if that is not NULL, before it works.
 * founding: its scheduler is being created. */
static inline void sn_thread_prepare(struct thread_state *t,
				     struct startup *startup, bool founding)
{
	t->startup = startup;
	t->founding = founding;
}

/* The calling thread is the worker's. Only reports use the number, so relaxed
 * is enough. */
static inline void sn_thread_begin(struct thread_state *t)
{
	a_store_rlx(&t->number, os_thread_id());
}

/* Stale: the previous thread's id, or 0 before the first thread. */
static inline uint32_t sn_thread_number(const struct thread_state *t)
{
	return a_load_rlx(&t->number);
}

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

/* A new worker ignores earlier requests. */
static inline void sn_trim_init(struct trim_state        *t,
				const struct trim_shared *shared)
{
	t->seen = a_load_rlx(&shared->told); /* the requests so far */
	a_init(&t->done, t->seen);
}

/* Record the number of the owner's fibers that wait now. */
static inline void sn_trim_note_blocked(struct trim_state *t, uint64_t blocked)
{
	if (blocked > t->busiest)
		t->busiest = blocked;
}

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

/* Put fibers on stacks that are new to w on the idle list, one or more. Returns
 * false if no stack is available. */
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
	if (!w->idle_stacks.idle && !sn_worker_stacks_add(w))
		return NULL;
	return sn_stack_cache_take(&w->idle_stacks);
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
