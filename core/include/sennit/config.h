/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the configuration of a scheduler: workers, stacks, CPUs, hooks.
 *
 * sennit_scheduler_create (scheduler.h) takes it. A field that is zero has its
 * default value.
 */
#ifndef SENNIT_CONFIG_H
#define SENNIT_CONFIG_H

#include "sennit/base.h"
#include "sennit/resources.h"

#include <stdbool.h>

SENNIT_BEGIN

/* A value of sennit_config.workers: the scheduler has no threads. Tasks run on
 * the thread that schedules them, when it blocks or unbinds. */
#define SENNIT_WORKERS_NONE UINT32_MAX

/* The largest number of workers of a scheduler. */
#define SENNIT_WORKERS_MAX 1024

/* A value of sennit_config.spin_ns: workers park without spinning. */
#define SENNIT_SPIN_NONE UINT32_MAX

/* A value of sennit_config.trim_ms: memory is given back only on request. */
#define SENNIT_TRIM_NEVER UINT32_MAX

/* Where a task goes that a task schedules. */
enum sennit_placement {
	SENNIT_PLACEMENT_DEFAULT = 0, /* local */
	SENNIT_PLACEMENT_LOCAL = 1,   /* its worker's deque; thieves help */
	SENNIT_PLACEMENT_SPREAD = 2   /* the workers in turn, as from an unbound
				       * thread; a searching worker takes a
				       * share */
};

/* The order in which a worker runs its own tasks. SENNIT_TASK_SAME_THREAD tasks
 * run first in, first out in any order, of worker threads and bound threads;
 * only without workers, where all tasks of a thread are in one queue, the order
 * is theirs as well. */
enum sennit_order {
	SENNIT_ORDER_DEFAULT = 0, /* newest first; without workers: oldest
				   * first */
	SENNIT_ORDER_NEWEST = 1,  /* newest first: fork-join needs little
				   * memory */
	SENNIT_ORDER_OLDEST = 2   /* first in, first out */
};

/* On which CPUs worker threads run. */
enum sennit_affinity {
	SENNIT_AFFINITY_INHERIT = 0, /* the creating thread's mask, unchanged */
	SENNIT_AFFINITY_ANY_OF = 1,  /* every worker on any of the CPUs */
	SENNIT_AFFINITY_ONE_OF = 2,  /* worker i on CPU number i modulo count */
	SENNIT_AFFINITY_MASKS = 3,   /* worker i on mask number i modulo
				      * count */
	SENNIT_AFFINITY_DISJOINT = 4 /* each worker on a part of the CPUs. The
				      * parts are disjoint and of equal size, to
				      * one CPU, and the CPUs of a part are
				      * neighbours. The system moves a worker
				      * within its part, so it never puts two
				      * workers on one CPU. With more workers
				      * than CPUs: as ONE_OF. Workers that are
				      * added later (set_workers) get the parts
				      * of the first ones again */
};

/* When worker threads are started. */
enum sennit_start {
	SENNIT_START_DEFAULT = 0, /* now */
	SENNIT_START_NOW = 1,     /* when the worker is added */
	SENNIT_START_LAZY = 2     /* the first at once, each other one when
				   * there is work and no worker is idle */
};

/* What happens when a task overflows its stack into the guard. */
enum sennit_overflow {
	SENNIT_OVERFLOW_REPORT = 0, /* Write the task, the fiber, the size and a
				     * backtrace to standard error, then pass
				     * the fault to the previous handler of
				     * SIGSEGV or SIGBUS. The library installs
				     * the two handlers once in the process and
				     * passes all other faults on. It sets an
				     * alternate signal stack in threads that
				     * have none when they become workers or
				     * are bound. A thread that unbinds keeps
				     * it until it ends */
	SENNIT_OVERFLOW_SILENT = 1  /* Leave the fault to the program. The
				     * library touches no signal handler for
				     * this scheduler */
};

/* What becomes of a stack that can get no guard page. That happens where guards
 * cost mappings (Linux before 6.13): the process guards as many stacks as a
 * quarter of vm.max_map_count allows, two mappings each. Each scheduler gets
 * one for each of max_workers and 64 others in any case. Elsewhere it happens
 * only if the system refuses a guard. On systems without guards (WebAssembly)
 * every stack has a canary. */
enum sennit_guards {
	SENNIT_GUARDS_REQUIRED = 0, /* It is not used: every stack has a guard,
				     * and what max_fibers says about the limit
				     * is true of the stacks that there are. The
				     * first such refusal in the process writes
				     * a line to standard error, and
				     * sennit_report_print says it */
	SENNIT_GUARDS_OPTIONAL = 1  /* It gets a canary instead, in the gap,
				     * which is plain memory there. An overflow
				     * is found when the stack becomes idle, and
				     * ends the process. Before that it may have
				     * overwritten another fiber's stack, whose
				     * task is blamed if it fails first */
};

/* How floating-point control is kept: rounding, traps, flush to zero (on x86-64
 * MXCSR and the x87 control word, on aarch64 FPCR). */
enum sennit_fp {
	SENNIT_FP_PER_TASK = 0, /* by the library: each task starts with its
				 * worker's, and its changes remain local to it,
				 * also across waits */
	SENNIT_FP_SHARED = 1    /* by the tasks, which must restore it whenever
				 * they wait or end: a change may reach other
				 * tasks. Saves about a nanosecond each time */
};

/* One mask: the CPUs cpus[0..count-1]. */
typedef struct sennit_cpu_mask {
	const uint32_t *cpus;
	size_t          count;
} sennit_cpu_mask;

/* The place of a CPU in the machine. The numbers are arbitrary, and equal for
 * CPUs that share the resource. UINT32_MAX: shared with no other CPU. */
typedef struct sennit_cpu_place {
	uint32_t node;  /* memory */
	uint32_t cache; /* the last level of cache */
	uint32_t core;  /* shared by the hardware threads of a core */
} sennit_cpu_place;

/* The configuration of a scheduler. Set size to sizeof(sennit_config), as
 * SENNIT_CONFIG does; base.h says what it is for. Set every other field to
 * zero, for its default, or to a value. The library copies
 * what the pointers point to, or uses it only until sennit_scheduler_create
 * returns, unless a field says otherwise. */
typedef struct sennit_config {
	size_t size; /* sizeof(sennit_config) in the caller's build */

	uint32_t workers; /* 0: one per CPU that this process may use
			   * (affinity mask and cgroup quota); at most
			   * SENNIT_WORKERS_MAX */
	uint32_t spin_ns; /* longest spin before parking, in ns; 0: 20,000 ns.
			   * The time in which a worker that this one has woken
			   * is on its way, at most 150,000 ns, does not
			   * count */

	uint32_t max_workers; /* the largest argument of
			       * sennit_scheduler_set_workers: no fewer than
			       * workers, at most SENNIT_WORKERS_MAX; 0: as many
			       * as workers. With workers 0 no more are started.
			       * Each costs some 16 KiB of memory, even while it
			       * has no thread */
	uint32_t start;       /* enum sennit_start */

	size_t   stack_size; /* bytes of a fiber's stack, rounded up to pages;
			      * 0: 64 KiB (256 KiB under AddressSanitizer or
			      * ThreadSanitizer); at least 16 KiB. The library
			      * uses up to 1.5 KiB at the top. The own stacks of
			      * worker threads, on which thread_init,
			      * on_shutdown and destructors of thread-local
			      * variables run, are as large, or 64 KiB. libc
			      * takes large variables from the stack up to a
			      * quarter of the thread's stack, so it takes no
			      * more than fibers have */
	size_t   guard_size; /* bytes of address space below each stack that
			      * fault on access, rounded up to pages; 0: 68 KiB,
			      * more than any frame of libc's. A larger frame
			      * that is compiled without
			      * -fstack-clash-protection may step over it. Costs
			      * page tables: 8 bytes for each page. Where guards
			      * cost mappings (Linux before 6.13) their number
			      * is limited: see `guards` */
	uint32_t max_fibers; /* largest number of stacks at once, no fewer than
			      * max_workers; 0: no limit. At the limit a task
			      * that blocks blocks its thread, and new tasks
			      * wait unstarted; nothing fails. Each worker and
			      * bound thread may keep one stack. So tasks that
			      * wait for unstarted tasks are sure to end only if
			      * at most max_fibers, less these, wait at once.
			      * sennit_report_print says when no stack
			      * is left */
	uint32_t placement;  /* enum sennit_placement */
	uint32_t order;      /* enum sennit_order */

	uint32_t               affinity; /* enum sennit_affinity */
	const sennit_cpu_mask *masks;    /* INHERIT: NULL. ANY_OF, ONE_OF,
					  * DISJOINT: one mask; NULL: the CPUs
					  * this process may use. MASKS:
					  * mask_count masks */
	size_t                 mask_count;

	const char *name; /* NULL: "sennit". Threads are named name/index, cut
			   * to 15 bytes as the system requires; control
			   * characters are escaped (report.h) */

	/* Called once in each worker thread, before any task, with the worker's
	 * index 0..max_workers-1. Called again, in a new thread, when a worker
	 * that was removed is added again, or when a worker that had retired
	 * (retire_ms) is needed. sennit_scheduler_create does not wait for it,
	 * the end of the scheduler does. Must not wait for the scheduler's
	 * tasks.
	 * Floating-point control that is set here applies to every task of that
	 * worker. If create fails, it may have been called in some threads. */
	void (*thread_init)(void *context, uint32_t index);
	void *thread_init_context;

	const sennit_allocator *allocator; /* NULL: libc. *allocator is copied;
					    * its context must outlive the
					    * scheduler */

	uint32_t trace_events; /* record a trace (trace.h) from the creation
				* on, and keep so many events of each thread:
				* rounded up as there, at most 2^24; 0: record
				* nothing until sennit_trace_start() */
	uint32_t fp;           /* enum sennit_fp */

	uint32_t max_blocking_threads; /* largest number of threads for blocking
					* calls (blocking.h) at once, which
					* start as they are needed. 0: 256, and
					* more while none of them ends a call,
					* up to 8,192; but no more than a
					* quarter and a half of what control
					* groups and RLIMIT_NPROC allow, or 8 */
	uint32_t blocking_idle_ms;     /* how long such a thread stays without
					* a call before it ends, in ms; 0:
					* 10,000 */
	uint32_t overflow;             /* enum sennit_overflow */
	uint32_t measure_stacks;       /* 1: measure how much stack tasks use,
					* for stack_use.h, which says what that
					* costs; 0: do not */

	uint32_t trim_ms;      /* after how many ms without use memory is given
				* back to the system: between once and twice
				* that. 0: 10,000; SENNIT_TRIM_NEVER: only by
				* sennit_scheduler_trim, which says what */
	uint32_t spare_stacks; /* number of idle stacks that each worker keeps
				* in any case; 0: 64 */

	uint32_t retire_ms;   /* after how many ms without work a worker ends
			       * its thread and gives its idle stacks back.
			       * Another is started as soon as there is work and
			       * no worker is idle. A worker that has fibers
			       * does not retire. 0: workers stay */
	uint32_t min_workers; /* number of threads that stay in any case, as far
			       * as there are workers; 0: 1 */

	/* Called once, on the thread that is last, after all workers have
	 * released everything. Not called when create fails. The library gives
	 * a last block of memory back to the allocator after this call, and the
	 * thread may be a worker thread that is about to end. Both are done
	 * when sennit_scheduler_shutdown returns. Must not call into the
	 * scheduler. */
	void (*on_shutdown)(void *context);
	void *on_shutdown_context;

	/* Return the place of a CPU in *out. Called while the scheduler is
	 * created, for CPUs that single workers are bound to (ONE_OF, MASKS,
	 * DISJOINT).
	 * With more than a few workers, workers steal from neighbours first.
	 * Return false if the place is unknown. NULL: the system is asked
	 * (Linux: /sys). */
	bool (*cpu_place)(void *context, uint32_t cpu, sennit_cpu_place *out);
	void *cpu_place_context;

	sennit_resources *resources;          /* CPUs shared with other
					       * schedulers; the scheduler holds
					       * a reference until it has ended.
					       * NULL: none, and the three
					       * fields below are 0 */
	uint32_t          resources_min;      /* number of active workers that
					       * takes precedence over other
					       * schedulers; at most the number
					       * of CPUs and of workers */
	uint32_t          resources_max;      /* largest number of active
					       * workers; 0: limited only by
					       * workers and CPUs */
	uint32_t          resources_priority; /* weight of the scheduler's share
					       * beyond the minimum, at most
					       * SENNIT_RESOURCES_PRIORITY_MAX;
					       * 0: 1 */

	uint32_t guards; /* enum sennit_guards */

	/* What the creator keeps with the scheduler, and the name of its type,
	 * by which sennit_scheduler_owner() returns it. The string must outlive
	 * the scheduler. NULL, and an owner without a type: none */
	void       *owner;
	const char *owner_type;

	uint32_t blocking_fail_ms; /* how long, in ms, a blocking call waits to
				    * begin while no blocking call ends and
				    * there are max_blocking_threads, or the
				    * system refuses more. Then it fails, as
				    * blocking.h says. 0: it waits for ever */
	uint32_t reserved_;        /* must be 0 */
} sennit_config;

#define SENNIT_CONFIG(...)                                             \
	SENNIT_CONSTANT_(sennit_config, .size = sizeof(sennit_config), \
			 __VA_ARGS__)

/* Check *config (NULL: all defaults) as sennit_scheduler_create does, and start
 * nothing. On error, *field becomes the name of the first invalid field, as a
 * literal, unless field is NULL. The name is "max_workers" also if max_workers
 * is below workers, "max_fibers" if it is below the number of workers, and
 * "size" with -E2BIG. sennit_scheduler_create may still fail, for what the
 * system refuses.
 * Returns 0, -EINVAL for an invalid field, or -E2BIG if a newer caller set
 * bytes that this library does not know.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_config_check(const sennit_config *config,
						   const char         **field);

SENNIT_END

#endif
