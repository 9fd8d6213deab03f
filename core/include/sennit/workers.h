/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h - what the workers of a scheduler do, and which schedulers the
 * process has. For monitors and tools.
 *
 * The calls read what workers write for themselves. They stop no worker and
 * cost workers nothing.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_WORKERS_H
#define SENNIT_WORKERS_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

enum sennit_worker_state {
	SENNIT_WORKER_ABSENT = 0,    /* has no thread now */
	SENNIT_WORKER_BUSY = 1,      /* runs tasks and fibers; a bound thread:
				      * or is not in sennit */
	SENNIT_WORKER_SEARCHING = 2, /* looks for work */
	SENNIT_WORKER_ASLEEP = 3
};

typedef struct sennit_worker_view {
	size_t   size;   /* sizeof(sennit_worker_view) in the library's build */
	uint32_t worker; /* 0..workers-1, or UINT32_MAX: a bound thread */
	uint32_t thread; /* the system's number of its thread; 0: it has had
			  * none */
	uint32_t state;  /* enum sennit_worker_state */
	uint32_t queued; /* tasks that have not started, of any kind but
			  * background tasks, at least */
	uint64_t fibers; /* fibers that are blocked or ready */
	uint64_t tasks;  /* these four as in sennit_stats */
	uint64_t steals;
	uint64_t blocks;
	uint64_t parks;
	uint64_t idle_ns; /* nanoseconds that it has searched and slept so far,
			   * the current search or sleep included; 0 for a
			   * bound thread, which does not measure it */
	uint32_t exact;   /* 1: `queued` is exact, if none comes or goes during
			   * the call; 0: others have left many tasks with the
			   * worker, which count as 63 until it, or a thief,
			   * takes them over: at its next safe point */
	uint32_t reserved_;
} sennit_worker_view;

/* Call visit(context, view) for each worker of *s that has or had a thread, in
 * the order of their indices, and then for each bound thread. Each view is
 * filled in while the worker runs, so its fields need not belong to the same
 * moment. visit must not block and must not call into sennit, except
 * sennit_now: a thread that binds or unbinds waits until visit returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_workers_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_worker_view *view),
	void *context);

/* Store up to `size` schedulers of the process in out[], oldest first. The
 * caller gets a reference to each of them and releases it. Schedulers that have
 * ended are left out. In the child of a fork, those of the parent are, too.
 * Returns the number of schedulers in out[].
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE size_t sennit_schedulers_get(sennit_scheduler *out[],
							size_t            size);

SENNIT_END

#endif
