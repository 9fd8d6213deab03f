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
#include "sennit/resources.h"

#include <stdbool.h>

SENNIT_BEGIN

typedef struct sennit_scheduler sennit_scheduler;

/* sennit_config.workers for a scheduler without threads: tasks run on the
 * thread that schedules them, whenever it blocks or unbinds. */
#define SENNIT_WORKERS_NONE UINT32_MAX

/* The most workers that a scheduler may have. */
#define SENNIT_WORKERS_MAX 1024

/* sennit_config.spin_ns for workers that never spin before they park. */
#define SENNIT_SPIN_NONE UINT32_MAX

/* sennit_config.trim_ms for memory that is given back only when asked for. */
#define SENNIT_TRIM_NEVER UINT32_MAX

/* Where a task scheduled by a task goes. */
enum sennit_placement {
	SENNIT_PLACEMENT_DEFAULT = 0, /* local */
	SENNIT_PLACEMENT_LOCAL = 1,   /* its worker's deque; thieves help */
	SENNIT_PLACEMENT_SPREAD = 2   /* the workers in turn, as from outside;
				       * a searching one takes a share */
};

/* In which order a worker runs its own tasks. Those that are SAME_THREAD on a
 * worker thread run first in, first out whatever this says. */
enum sennit_order {
	SENNIT_ORDER_DEFAULT = 0, /* newest first; no workers: oldest first */
	SENNIT_ORDER_NEWEST = 1,  /* newest first: little memory in fork-join */
	SENNIT_ORDER_OLDEST = 2   /* first in, first out */
};

/* On which CPUs worker threads run. */
enum sennit_affinity {
	SENNIT_AFFINITY_INHERIT = 0, /* the creating thread's mask, untouched */
	SENNIT_AFFINITY_ANY_OF = 1,  /* every worker on any of the CPUs */
	SENNIT_AFFINITY_ONE_OF = 2,  /* worker i on CPU number i modulo count */
	SENNIT_AFFINITY_MASKS = 3    /* worker i on mask number i mod count */
};

/* When worker threads are started. */
enum sennit_start {
	SENNIT_START_DEFAULT = 0, /* now */
	SENNIT_START_NOW = 1,     /* when the worker is added */
	SENNIT_START_LAZY = 2     /* the first at once, each further one when
				   * there is work and no worker idle */
};

/* What happens when a task runs off its stack, into the guard. */
enum sennit_overflow {
	SENNIT_OVERFLOW_REPORT = 0, /* Standard error gets the task, the fiber,
				     * the size and a backtrace; then what
				     * handles SIGSEGV and SIGBUS otherwise
				     * does so. Takes the two handlers, once in
				     * the process, passing all other faults on,
				     * and sets an alternate signal stack in
				     * threads that have none, while they are
				     * workers or bound */
	SENNIT_OVERFLOW_SILENT = 1  /* The fault is a fault like another. No
				     * signal handler is touched on account of
				     * this scheduler */
};

/* Who sees to floating-point control: rounding, traps, flush to zero (on x86-64
 * MXCSR and the x87 control word, on aarch64 FPCR). */
enum sennit_fp {
	SENNIT_FP_PER_TASK = 0, /* the library: each task starts with its
				 * worker's, and what it changes stays its own,
				 * across waits too */
	SENNIT_FP_SHARED = 1    /* the tasks, which must leave it as they found
				 * it whenever they wait or end: a change may
				 * reach others. Saves a nanosecond or so each
				 * time */
};

/* One explicit mask: the CPUs cpus[0..count-1]. */
typedef struct sennit_cpu_mask {
	const uint32_t *cpus;
	size_t          count;
} sennit_cpu_mask;

/* Where a CPU is, by numbers of any kind that are equal for CPUs that share;
 * UINT32_MAX: shared with none. */
typedef struct sennit_cpu_place {
	uint32_t node;  /* memory */
	uint32_t cache; /* the last level of cache */
	uint32_t core;  /* what the hardware threads of a core share */
} sennit_cpu_place;

/* What a scheduler is made of. Set size to sizeof(sennit_config) and every
 * other field to zero (the library chooses) or to what you want; everything
 * pointed to is copied, or used only until create returns, unless it says
 * otherwise. */
typedef struct sennit_config {
	size_t size; /* sizeof(sennit_config) in the caller's build */

	uint32_t workers; /* 0: one per CPU this process may use (affinity mask
			   * and cgroup quota); at most SENNIT_WORKERS_MAX */
	uint32_t spin_ns; /* longest spin before parking; 0: 20,000 ns */

	uint32_t max_workers; /* the most that sennit_scheduler_set_workers may
			       * ask for: no fewer than workers, at most
			       * SENNIT_WORKERS_MAX; 0: as many as workers. With
			       * workers 0 no more are started. Each costs some
			       * 16 KiB of memory also while it has no thread */
	uint32_t start;       /* enum sennit_start */

	size_t   stack_size; /* bytes of a fiber's stack, rounded up to pages;
			      * 0: 64 KiB (256 KiB under AddressSanitizer or
			      * ThreadSanitizer); at least 16 KiB. The library
			      * uses up to 1.5 KiB at the top. Worker threads'
			      * own stacks, on which thread_init, on_shutdown
			      * and destructors of thread-local variables run,
			      * are as large, or 64 KiB: so libc, which takes
			      * large variables from the stack up to a quarter
			      * of the thread's own, takes what fibers have */
	size_t   guard_size; /* bytes of address space below each stack that
			      * fault on access, rounded up to pages; 0: 68 KiB,
			      * more than any frame of libc's. A larger frame,
			      * compiled without -fstack-clash-protection, may
			      * step over it. Costs page tables: 8 bytes for
			      * each page. Where guards cost mappings (Linux
			      * before 6.13) the process guards as many stacks
			      * as a quarter of vm.max_map_count allows; others
			      * carry a marker instead, looked at when their
			      * worker ends, and the gap is plain memory */
	uint32_t max_fibers; /* most stacks at once, no fewer than max_workers;
			      * 0: no limit. At the limit a task that blocks
			      * blocks its thread and new tasks wait unstarted;
			      * nothing fails. Each worker and bound thread may
			      * keep one: so tasks that wait for tasks which
			      * have not started are sure to end only if no more
			      * than max_fibers, less these, wait at once, and
			      * sennit_scheduler_print_report says when no stack
			      * is left */
	uint32_t placement;  /* enum sennit_placement */
	uint32_t order;      /* enum sennit_order */

	uint32_t               affinity; /* enum sennit_affinity */
	const sennit_cpu_mask *masks;    /* INHERIT: NULL. ANY_OF, ONE_OF: one
					  * mask, NULL: the CPUs this process
					  * may use. MASKS: mask_count masks */
	size_t                 mask_count;

	const char *name; /* NULL: "sennit". Threads are called name/index, cut
			   * to 15 bytes as the system demands; control
			   * characters are spelt out (report.h) */

	/* Called once in each worker thread, before any task, with the
	 * worker's index 0..max_workers-1; again, in a new thread, when a
	 * worker that had been taken away is added again, or one that had
	 * retired (retire_ms) is needed. Must not wait for the
	 * scheduler's tasks. Floating-point control set here holds
	 * for every task of that worker. May have been called in some threads
	 * when create fails. */
	void (*thread_init)(void *context, uint32_t index);
	void *thread_init_context;

	const sennit_allocator *allocator; /* NULL: libc. *allocator is copied;
					    * its context must outlive the
					    * scheduler */

	uint32_t trace_events; /* state changes kept per worker for trace.h, at
				* most 2^24; 0: tracing off */
	uint32_t fp;           /* enum sennit_fp */

	uint32_t max_blocking_threads; /* most threads for blocking calls
					* (blocking.h) at once; 0: 256, but no
					* more than a quarter of what control
					* groups and RLIMIT_NPROC allow, or 8 */
	uint32_t blocking_idle_ms;     /* how long such a thread stays without a
				    * call before it ends; 0: 10,000 */
	uint32_t overflow;             /* enum sennit_overflow */
	uint32_t measure_stacks;       /* 1: note how deep tasks use their
					* stacks, for stack_use.h, which says
					* what that costs; 0: do not */

	uint32_t trim_ms;      /* after how long memory that was needed once is
				* given back to the system: between once and
				* twice that. 0: 10,000; SENNIT_TRIM_NEVER: only
				* by sennit_scheduler_trim, which says what */
	uint32_t spare_stacks; /* so many idle stacks each worker keeps in any
				* case; 0: 64 */

	uint32_t retire_ms;   /* after how long without work a worker ends its
			       * thread and gives its idle stacks back; another
			       * is started as soon as there is work and no
			       * worker idle. Never one that has fibers. 0:
			       * workers stay */
	uint32_t min_workers; /* so many threads stay nevertheless, as far as
			       * there are workers; 0: 1 */

	/* Called once, not when create fails, after all workers have let go of
	 * everything, from whichever thread was last. A last block of memory
	 * goes back to the allocator after it, and that thread may be one of
	 * the scheduler's, about to end; both are over when shutdown returns.
	 * Must not call into the scheduler. */
	void (*on_shutdown)(void *context);
	void *on_shutdown_context;

	/* Where a CPU is, asked when the scheduler is created, of CPUs that
	 * single workers are bound to (ONE_OF, MASKS): more than a few workers
	 * steal from neighbours first. Returns false when it does not know.
	 * NULL: the system is asked (Linux: /sys). */
	bool (*cpu_place)(void *context, uint32_t cpu, sennit_cpu_place *out);
	void *cpu_place_context;

	sennit_resources *resources; /* CPUs shared with other schedulers; the
				      * scheduler holds a reference until it has
				      * ended. NULL: none, and the three below
				      * are 0 */
	uint32_t resources_min;      /* so many active workers come before other
				      * schedulers' wishes, at most as many as
				      * there are CPUs and workers */
	uint32_t resources_max;      /* no more are active at once; 0: no limit
				      * but workers and CPUs */
	uint32_t resources_priority; /* weight of the scheduler's share beyond
				      * the minimum, at most
				      * SENNIT_RESOURCES_PRIORITY_MAX; 0: 1 */
} sennit_config;

#define SENNIT_CONFIG(...) \
	(&(const sennit_config){ .size = sizeof(sennit_config), __VA_ARGS__ })

/* Look at *config (NULL: all defaults) as sennit_scheduler_create does, and
 * start nothing. On error *field, unless field is NULL, becomes the name of the
 * first field that is wrong, a literal: "max_workers" also when it is below
 * workers, "max_fibers" when that is below the number of workers, "size" with
 * -E2BIG.
 * Returns 0, -EINVAL for a field that makes no sense, or -E2BIG when a newer
 * caller set bytes that this library does not know. Create may fail all the
 * same: for what the system refuses.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_config_check(const sennit_config *config,
						   const char         **field);

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
