/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - creating, sharing, binding and ending a scheduler.
 *
 * A scheduler owns N >= 0 worker threads and is reference-counted: creating it
 * gives the caller one reference, every bound thread holds one, and when the
 * last is released the scheduler finishes all its work, blocked fibers
 * included, and ends by itself.
 *
 * Whoever names a scheduler in a call holds a reference to it, is bound to it,
 * or runs one of its tasks. Who shall not keep it alive has a weak handle
 * (end.h).
 *
 * fork() leaves the parent as it was. In the child the thread that forked is
 * unbound and may create schedulers, whatever the parent's threads were at; to
 * name a scheduler of the parent's there is misuse. What those own stays as it
 * was, of no use. A task that forks must not return in the child, which may
 * exit or exec from there. A mutex that another than the forking fiber or
 * thread held stays locked in the child, as it is with pthreads.
 *
 * exit() ends the process at once, from wherever it is called, with schedulers
 * alive, workers busy and fibers blocked: the library has no exit handlers, and
 * waits for nobody. Tasks may run until the very end, so what destructors and
 * exit handlers of the program's destroy must not be used by them; who wants
 * the work done ends the schedulers first.
 *
 * The shared library stays loaded after dlclose(). A library that contains the
 * archive must see to that itself (-Wl,-z,nodelete), as to the code of tasks.
 */
#ifndef SENNIT_SCHEDULER_H
#define SENNIT_SCHEDULER_H

#include "sennit/base.h"
#include "sennit/config.h"

SENNIT_BEGIN

typedef struct sennit_scheduler sennit_scheduler;

/* Start a scheduler as *config says (NULL: all defaults) and store it in *out;
 * the caller owns one reference.
 * Returns 0, -EINVAL for a config that makes no sense (sennit_config_check says
 * which field), -E2BIG when a newer caller set bytes that this library does not
 * know, -ENOMEM, -EAGAIN when the
 * system refuses a thread (or the one thread-specific key that the library
 * takes of it, at the first call) or resources_min is more than others have
 * left of the resources, or -EPERM/-EINVAL of an affinity that the
 * system refuses. On error nothing is left behind. Threads started later have
 * the affinity and floating-point control that they would have got here, but
 * the signal mask of whoever starts them, and a refused affinity passes in
 * silence.
 *
 * From: fiber, thread.  Blocks: with an affinity or thread_init (the thread,
 * while its workers start).  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_create(
	sennit_scheduler **out, const sennit_config *config);

/* Take another reference to *s, which the caller already holds one of or runs
 * a task of.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_retain(sennit_scheduler *s);

/* Give a reference back. The last one lets the scheduler end once all its
 * work, blocked fibers included, is done. Never waits, also as the last act of
 * one of its own tasks; *s may be gone when it returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_release(sennit_scheduler *s);

/* Release the caller's reference and wait until the scheduler has ended: all
 * work done, on_shutdown called, all threads gone, all memory returned.
 * Returns 0, or -ETIMEDOUT when the deadline passed first: then the scheduler
 * is alive, report.h says why, and the reference is the caller's again, to
 * release or to try once more. A scheduler that has run out of work by its
 * deadline is waited for while its threads leave. Misuse from a thread bound to
 * *s or from its tasks: they would wait for themselves. Several may call at
 * once, each with a reference of its own; all of them return. To learn of the
 * end without waiting: end.h.
 *
 * From: thread, fiber of another scheduler (whose thread sleeps).
 * Blocks: yes (the thread).  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_shutdown(sennit_scheduler *s,
							 sennit_time deadline);

/* Bind the calling thread to *s: it gets a worker of its own, may schedule and
 * may wait as a fiber does, and holds a reference until it unbinds. Tasks that
 * run on it start with the floating-point control that it has now. Binding a
 * thread that is bound is misuse. So is it to let a bound thread exit: the last
 * that may unbind it are destructors of thread-specific data (pthread_key) and
 * thread-local objects of C++. And so is it to end a worker's thread, by
 * pthread_exit() in a task or thread_init, or by cancellation.
 * Returns 0, or -ENOMEM when there is no memory for the worker or, if *s has no
 * workers, for a first stack.
 *
 * From: thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_bind(sennit_scheduler *s);

/* Undo bind: first run all tasks queued on this thread and wait for its blocked
 * fibers, then let go. Misuse on an unbound thread, on a worker thread, and
 * from a task instead of the thread's own stack.
 *
 * From: thread that is bound.  Blocks: yes.  */
SENNIT_API void sennit_unbind(void);

/* The scheduler that the caller is bound to or runs a task of; NULL on an
 * unbound thread. Takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_scheduler *sennit_current(void);

/* Change how many workers *s has, from 1 to max_workers of its configuration.
 * Added ones get threads at once or, with SENNIT_START_LAZY, when they are
 * needed; should the system refuse a thread then, the others do the work, and
 * after 100 ms it may be asked again. Workers taken away, those of the
 * highest indices, hand their tasks to the others, run their same-thread tasks
 * and their fibers to the end, wherever these wait, and then end their threads;
 * the call does not wait for that. A worker that is added again before that
 * stays as it is. One that has retired (sennit_config.retire_ms) counts, and
 * stays without a thread until it is needed. Nothing scheduled is lost, no
 * fiber changes its thread.
 * Returns 0, -EINVAL for a count out of range or a scheduler without workers,
 * or -EAGAIN when the system refuses a thread: the count is as before.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_set_workers(sennit_scheduler *s,
							    uint32_t count);

/* How many workers *s has, those included that have no thread yet, but not
 * those taken away whose last fibers still wait; 0 for SENNIT_WORKERS_NONE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_scheduler_workers(const sennit_scheduler *s);

/* Give memory back to the system that *s holds but does not need now: idle
 * stacks, but for spare_stacks of each worker, blocks of tasks' arguments, and
 * what queues have grown by. What is in use is not touched; what is needed
 * again costs what it did the first time. Stacks keep their addresses and
 * guards, and sennit tells the system (madvise) that pages inside blocks of the
 * allocator's hold nothing.
 *
 * What is shared is given back before this returns, the rest by each worker and
 * bound thread, as only these know what they use: at once if they sleep in
 * sennit, else when they have run some tasks more. A bound thread does so when
 * it next waits or unbinds. sennit_stats.trims_due is 0 when all have. Without
 * being told, workers do the same with what they have not needed for a while:
 * sennit_config.trim_ms.
 *
 * From: fiber, thread.  Blocks: no (it takes a microsecond for each stack that
 * rests with nobody).  */
SENNIT_API void sennit_scheduler_trim(sennit_scheduler *s);

/* CPUs that this process may use: those of its affinity mask, at most as many
 * as the tightest CPU quota of its cgroup and all its ancestors (v1 and v2)
 * allows, rounded up; at least 1.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_cpu_count(void);

/* Counters of a scheduler. Each is exact for its worker and read one after the
 * other: a sum taken while work runs is between the values before and after. */
typedef struct sennit_stats {
	size_t   size;        /* sizeof(sennit_stats) in the caller's build */
	uint64_t tasks;       /* tasks run to their end */
	uint64_t steals;      /* tasks that a worker took from another before
			       * they started, those from outside that had
			       * been sent to that one included; not those
			       * that a worker deals to idle ones */
	uint64_t blocks;      /* waits and yields of fibers */
	uint64_t parks;       /* times a worker, or a thread bound now, went to
			       * sleep */
	uint64_t fibers;      /* fibers that are blocked or ready now, bound
			       * threads' own stacks included */
	uint64_t fibers_peak; /* sum over workers of each one's peak of these */
	uint64_t stacks;      /* stacks in existence, idle ones included */
	uint64_t blocking_threads; /* threads for blocking calls, idle ones
				    * included */
	uint64_t stacks_idle;      /* of `stacks`, those that nothing runs or
				    * waits on: memory that trimming may give
				    * back; one off for each worker */
	uint64_t stacks_trimmed;   /* stacks whose memory was given back */
	uint64_t stack_bytes;      /* addresses mapped for stacks, of which only
				    * what was touched costs memory: a page or
				    * more for each of `stacks` */
	uint64_t trims_due;        /* workers and bound threads that have yet to
				    * do what sennit_scheduler_trim told them */
	uint64_t stacks_unguarded; /* stacks ready for use or in use that carry
				    * a marker instead of a guard page, as the
				    * process may have no more mappings
				    * (vm.max_map_count) */
	uint64_t threads; /* workers that have a thread: not those that have
			   * retired or that nobody has needed yet, but those
			   * taken away whose last fibers still wait */
	uint64_t active;  /* workers that hold a CPU of the resources; 0 without
			   * resources */
	uint64_t waiting; /* workers that have work and wait for one */
} sennit_stats;

/* Fill *stats, whose size field is set, with the sums over all workers and
 * bound threads of *s. Misuse with a size smaller than the first release's.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_stats(sennit_scheduler *s,
				       sennit_stats     *stats);

SENNIT_END

#endif
