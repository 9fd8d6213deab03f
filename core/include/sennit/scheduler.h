/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - create, share, bind and end a scheduler.
 *
 * A scheduler owns N >= 0 worker threads and is reference-counted. Its creator
 * gets one reference, and every bound thread holds one. When the last reference
 * is released, the scheduler finishes all its work, blocked fibers included,
 * and ends by itself.
 *
 * A caller that passes a scheduler to a call must hold a reference to it, be
 * bound to it, or run one of its tasks. A user that must not keep the scheduler
 * alive uses a weak handle (end.h).
 *
 * fork() leaves the parent unchanged. In the child, the thread that forked is
 * unbound and may create schedulers, whatever the parent's threads were doing.
 * To use a scheduler of the parent there is misuse. What the parent's
 * schedulers own stays as it was and is of no use. A task that forks must not
 * return in the child; it may exit or exec from there. A mutex that was held by
 * another fiber or thread than the forking one stays locked in the child, as
 * with pthreads.
 *
 * exit() ends the process at once, from any thread, while schedulers exist,
 * workers are busy and fibers are blocked. The library has no exit handlers and
 * waits for nothing. Tasks may run until the very end, so they must not use
 * what the program's destructors and exit handlers destroy. A program whose
 * work must be finished ends its schedulers before.
 *
 * The shared library stays loaded after dlclose(). A library that contains the
 * static library must ensure that itself (-Wl,-z,nodelete), also for the code
 * of its tasks.
 */
#ifndef SENNIT_SCHEDULER_H
#define SENNIT_SCHEDULER_H

#include "sennit/base.h"
#include "sennit/config.h"

SENNIT_BEGIN

typedef struct sennit_scheduler sennit_scheduler;

/* Start a scheduler as *config says (NULL: all defaults) and store it in *out.
 * The caller owns one reference.
 *
 * Threads that are started later have the affinity and floating-point control
 * that they would have got here, but the signal mask of the thread that starts
 * them. A refused affinity is then ignored.
 * Returns 0, or one of these errors, and then nothing is left behind:
 *   - -EINVAL for an invalid config; sennit_config_check names the field;
 *   - -E2BIG if a newer caller set bytes that this library does not know;
 *   - -ENOMEM;
 *   - -EAGAIN if the system refuses a thread, or the one thread-specific key
 *     that the library needs at the first call, or if resources_min is more
 *     than other schedulers have left of the resources;
 *   - -EPERM or -EINVAL if the system refuses an affinity.
 *
 * From: fiber, thread.  Blocks: with an affinity (the thread, while its workers
 * start).  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_create(
	sennit_scheduler **out, const sennit_config *config);

/* Take another reference to *s. The caller must hold a reference or run a task
 * of *s. Returns s.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_scheduler *sennit_scheduler_retain(sennit_scheduler *s);

/* Release a reference. After the last release the scheduler ends once all its
 * work is done, blocked fibers included. The call never waits, even as the last
 * act of one of the scheduler's own tasks. *s may be freed before the call
 * returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_release(sennit_scheduler *s);

/* Release the caller's reference and wait until the scheduler has ended: all
 * work is done, on_shutdown was called, all threads have ended, and all memory
 * is given back, except for one mapping of stacks, at most 2 MiB, which the
 * process keeps for its next scheduler. If the scheduler has run out of work by
 * the deadline, the call waits until its threads have ended. Several threads
 * may call at once, each with a reference of its own; all of them return. It is
 * misuse to call this from a thread that is bound to *s or from a task of *s,
 * since it would wait for itself. end.h has a notification of the end without
 * waiting.
 * Returns 0, or -ETIMEDOUT if the deadline passed first. Then the scheduler is
 * alive (report.h says why), and the caller owns the reference again, to
 * release it or to try again.
 *
 * From: thread, fiber of another scheduler (whose thread sleeps).
 * Blocks: yes (the thread).  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_shutdown(sennit_scheduler *s,
							 sennit_time deadline);

/* Bind the calling thread to *s. The thread gets a worker of its own. It may
 * schedule, it waits as a fiber does, and it holds a reference until it
 * unbinds. Tasks that run on it start with the floating-point control that it
 * has now.
 *
 * It is misuse
 *   - to bind a thread that is bound already, or has a group open (group.h);
 *   - to let a bound thread exit. At the latest, destructors of thread-specific
 *     data (pthread_key) and of thread-local objects of C++ may unbind it;
 *   - to end a worker's thread, by pthread_exit() in a task or in thread_init,
 *     or by cancellation.
 * Returns 0, -ENOMEM if there is no memory for the worker or, if *s has no
 * workers, for a first stack, or -ESHUTDOWN if *s has ended and only a weak
 * handle (end.h) keeps its memory.
 *
 * From: thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_thread_bind(sennit_scheduler *s);

/* Unbind the calling thread: run all tasks that are queued on it, wait for its
 * blocked fibers, then release its worker and its reference. It is misuse on an
 * unbound thread, on a worker thread, from a task instead of the thread's own
 * stack, and while the thread has a group open (group.h) or holds a lock.
 *
 * From: thread that is bound.  Blocks: yes.  */
SENNIT_API void sennit_thread_unbind(void);

/* Return the scheduler that the caller is bound to or runs a task of, or NULL
 * on an unbound thread. The call takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_scheduler *sennit_scheduler_current(void);

/* Return what the creator keeps with *s: `owner` of its configuration, if the
 * configuration's owner_type is equal to this string. Otherwise, or if s is
 * NULL, return NULL. So a library that makes schedulers recognises its own,
 * also when several libraries do.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void *sennit_scheduler_owner(const sennit_scheduler *s,
					const char             *type);

/* Change the number of workers of *s to `count`, from 1 to max_workers of its
 * configuration. No task is lost, and no fiber changes its thread.
 *
 * Added workers get threads at once or, with SENNIT_START_LAZY, when they are
 * needed. If the system refuses a thread then, the other workers do the work,
 * and the library may ask again after 100 ms. The workers with the highest
 * indices are removed. They pass their tasks to the others, run their
 * same-thread tasks and their fibers to the end, whatever these wait for, and
 * then end their threads. The call does not wait for that. A worker that is
 * added again before that continues. A worker that has retired
 * (sennit_config.retire_ms) counts as a worker and gets a thread when it is
 * needed.
 * Returns 0, -EINVAL if the count is out of range or the scheduler has no
 * workers, -EAGAIN if the system refuses a thread, or -ESHUTDOWN if *s has
 * ended and only a weak handle (end.h) keeps its memory. On error the number is
 * unchanged.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_set_workers(sennit_scheduler *s,
							    uint32_t count);

/* Return the number of workers of *s. Workers without a thread count. Removed
 * workers whose last fibers still wait do not count. With SENNIT_WORKERS_NONE
 * the result is 0.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_scheduler_workers(const sennit_scheduler *s);

/* Return the size of a fiber's stack in *s, in bytes: stack_size of its
 * configuration, or the default, before it is rounded up to pages. For
 * libraries whose functions need much.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_scheduler_stack_size(const sennit_scheduler *s);

/* Give memory that *s holds but does not need now back to the system: idle
 * stacks, except spare_stacks of each worker; blocks of tasks' arguments; and
 * what queues have grown by. Memory in use is not touched. Memory that is
 * needed again costs as much as the first time. Stacks keep their addresses and
 * guards. The library tells the system (madvise) that pages inside blocks of
 * the allocator contain nothing. The call also unmaps the stacks that the
 * process keeps of a scheduler that has ended; so does the end of another
 * scheduler whose stacks are kept instead.
 *
 * Shared memory is given back before the call returns. Each worker and bound
 * thread gives back the rest, since only it knows what it uses: at once if it
 * sleeps in sennit, otherwise after it has run some more tasks. A bound thread
 * does so when it next waits or unbinds. sennit_stats.trims_due is 0 when all
 * have done so. Without this call, workers give back memory that they have not
 * needed for a while: see sennit_config.trim_ms.
 *
 * From: fiber, thread.  Blocks: no (it takes a microsecond for each idle stack
 * that no worker holds).  */
SENNIT_API void sennit_scheduler_trim(sennit_scheduler *s);

/* Return the number of CPUs that this process may use: those of its affinity
 * mask, but at most what the tightest CPU quota of its cgroup and all its
 * ancestors (v1 and v2) allows, rounded up; at least 1.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_cpu_count(void);

/* Counters of a scheduler. Each counter is exact for its worker, and the
 * workers are read one after the other: a sum that is taken while work runs
 * is between the values before and after. */
typedef struct sennit_stats {
	size_t   size;        /* sizeof(sennit_stats) in the caller's build */
	uint64_t tasks;       /* tasks that have ended */
	uint64_t steals;      /* tasks that a worker took from another before
			       * they started, including those from unbound
			       * threads that had been sent to that one; not
			       * those that a worker deals to idle ones */
	uint64_t blocks;      /* waits and yields of fibers. A waiter of a mutex
			       * that wakes and finds it locked counts again
			       * here; metrics.h counts one wait */
	uint64_t parks;       /* times that a worker, or a thread that is bound
			       * now, went to sleep */
	uint64_t fibers;      /* fibers that are blocked or ready now, including
			       * bound threads' own stacks */
	uint64_t fibers_peak; /* sum over workers of each one's peak of
			       * `fibers` */
	uint64_t stacks;      /* stacks that exist, including idle ones */
	uint64_t blocking_threads; /* threads for blocking calls, including idle
				    * ones */
	uint64_t stacks_idle;      /* those of `stacks` that nothing runs or
				    * waits on: memory that trimming may give
				    * back; may be off by one for each worker */
	uint64_t stacks_trimmed;   /* stacks whose memory was given back */
	uint64_t stack_bytes;      /* addresses mapped for stacks, of which only
				    * what was touched costs memory: a page or
				    * more for each of `stacks` */
	uint64_t trims_due;        /* workers and bound threads that have yet to
				    * trim after sennit_scheduler_trim */
	uint64_t stacks_unguarded; /* stacks ready for use or in use that have a
				    * canary instead of a guard page, since the
				    * process may have no more mappings
				    * (vm.max_map_count): only with
				    * SENNIT_GUARDS_OPTIONAL */
	uint64_t threads; /* workers that have a thread: not those that have
			   * retired or were not needed yet, but including
			   * removed workers whose last fibers still wait */
	uint64_t active;  /* workers that hold a CPU of the resources; 0 without
			   * resources */
	uint64_t waiting; /* workers that have work and wait for a CPU of the
			   * resources */
	uint64_t blocking_waiting;  /* blocking calls that have not begun: each
				    * of blocking_threads is in a call */
	uint64_t blocking_stuck_ms; /* for how many ms none of blocking_waiting
				    * has begun, because no call has ended and
				    * no thread was added; 0: none waits */
} sennit_stats;

/* Fill *stats with the sums over all workers and bound threads of *s. The
 * caller sets its size field before. It is misuse if the size is smaller than
 * that of the first release.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_get_stats(sennit_scheduler *s,
					   sennit_stats     *stats);

SENNIT_END

#endif
