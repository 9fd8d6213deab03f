/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - what a scheduler is made of: workers, stacks, CPUs, hooks.
 *
 * scheduler.h creates a scheduler from it. A field that is zero takes its
 * default.
 */
#ifndef SENNIT_CONFIG_H
#define SENNIT_CONFIG_H

#include "sennit/base.h"
#include "sennit/resources.h"

#include <stdbool.h>

SENNIT_BEGIN

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

SENNIT_END

#endif
