/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - a scheduler: what its workers share.
 *
 * Fixed after creation but for the marked fields, so that workers read it
 * without disturbing each other.
 */
#ifndef SN_SCHEDULER_H
#define SN_SCHEDULER_H

#include "base/torture.h"
#include "core/backlog.h"
#include "core/gate.h"
#include "core/parking.h"
#include "core/pool.h"
#include "core/shares.h"
#include "core/stack.h"
#include "core/steal_order.h"
#include "fiber/blocking_threads.h"
#include "worker/counters.h"
#include "worker/trim_state.h"
#include "sennit/end.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"

#include <pthread.h>

struct stack_depths;
struct worker;

/* How many threads that end may be left for the client to join. */
#define FINALISE_EXITS TORTURED(2, 32)

/* What stays as long as anybody has a handle: a part of the scheduler. */
struct sennit_weak {
	a_u32 keepers; /* any: weak handles, + 1 while the scheduler is there */
};

/* Who is told of the end: see worker/end_clients.h. Needs no destroying. */
struct end_clients {
	struct sennit_weak weak;
	sennit_word        lock;
	a_u32              awaited; /* under lock: clients that wait */
	struct link       *clients; /* under lock: struct client */
	struct notice     *notices; /* under lock: the newest first */
	bool               told;    /* under lock: notices are called no more */
};

struct sennit_scheduler {
	sennit_config    config;   /* fixed: every default filled in */
	sennit_allocator memory;   /* fixed */
	char             name[16]; /* fixed */
	struct worker  **workers;  /* fixed: capacity of them */
	struct sleeper **sleepers; /* fixed: theirs, for parking */
	uint32_t         capacity; /* fixed: how many there may be */
	uint32_t process;    /* fixed: whose it is, see worker/fork_exit.h */
	bool     asymmetric; /* fixed: os_process_barrier works */

	/* Which workers there are: see worker/worker_threads.h. */
	a_u32 target;  /* under threads_lock: how many are wanted */
	a_u32 open;    /* under threads_lock: those below take new work */
	a_u32 extent;  /* under threads_lock: none from here on has a
				      * thread */
	a_u32 retired; /* under threads_lock: of those, without a thread,
				  * as they had nothing to do */
	sennit_time
		refused; /* under threads_lock: no thread is asked for before */
	pthread_mutex_t threads_lock;
	void *(*thread_main)(void *worker); /* fixed: what a thread runs */
	sennit_cpu_mask *masks;      /* fixed: copies, with mask_count; NULL */
	size_t           masks_size; /* fixed: bytes of that block */
	size_t           mask_count; /* fixed */
	struct topology_slot
		*places;     /* fixed: capacity, in the order of places;
				      * NULL: few, see scheduler/topology.h */
	uint64_t fp_control; /* fixed: the creating thread's */

	struct parking       parking;
	struct stacks        stacks;
	struct stack_depths *depths; /* fixed; NULL: stacks are not measured */
	struct pool          pool;
	struct backlog       backlog; /* any: tasks for who has nothing to do */
	struct blocking_threads blocking;

	_Alignas(CACHE_LINE) struct gate gate;
	_Alignas(CACHE_LINE) a_u32
		next_worker; /* any: next worker for foreign work */

	/* The budget shared with others: see worker/slots.h. */
	sennit_resources *resources; /* fixed; NULL: none */
	struct sharer     sharer;    /* under its lock */
	bool closed; /* the same: the end is reached, no slot is waited for */

	struct trim_shared trim;

	/* The end: see worker/finalise.h. */
	_Alignas(CACHE_LINE) a_u32 inside; /* any: threads that may still touch
					    * the scheduler, + 1 until DONE */
	struct end_clients ending;
	pthread_mutex_t    lock;
	struct link       *bound; /* under lock: workers of bound threads */
	pthread_t exited[FINALISE_EXITS]; /* under lock: threads that leave,
					       * to be joined */
	uint32_t  exits;                  /* under lock: so many */
	bool      abandoned;              /* fixed once the gate is DONE */
	struct counters_sum past; /* under lock: of threads that have unbound */
};

#endif
