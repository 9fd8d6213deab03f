/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - a scheduler: the state that its workers share.
 *
 * Fields are fixed after creation unless marked otherwise, so that workers read
 * them without disturbing each other.
 */
#ifndef SN_SCHEDULER_H
#define SN_SCHEDULER_H

#include "base/torture.h"
#include "core/backlog.h"
#include "core/gate.h"
#include "core/parking.h"
#include "core/pool.h"
#include "core/stack.h"
#include "core/steal_order.h"
#include "fiber/blocking_threads.h"
#include "worker/bound_workers.h"
#include "worker/cpu_masks.h"
#include "worker/end_clients.h"
#include "worker/finalise_state.h"
#include "worker/observe_state.h"
#include "worker/scheduler_list_state.h"
#include "worker/slots_state.h"
#include "worker/trace_state.h"
#include "worker/worker_counts.h"
#include "worker/trim_state.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"

#include <stddef.h>

struct stack_depths;
struct worker;

/* Each part belongs to a module, as the parts of struct worker do. */
struct sennit_scheduler {
	sennit_config    config;     /* fixed: every default filled in */
	sennit_allocator memory;     /* fixed */
	char             name[16];   /* fixed */
	struct worker  **workers;    /* fixed: array of `capacity` workers */
	struct sleeper **sleepers;   /* fixed: their sleepers, for parking */
	uint32_t         capacity;   /* fixed: maximum number of workers */
	uint32_t         process;    /* fixed: the process, see fork_exit.h */
	bool             asymmetric; /* fixed: os_process_barrier() works */
	uint64_t         fp_control; /* fixed: of the creating thread */

	struct worker_counts  counts; /* of worker_counts, worker_threads,
					* retire */
	struct cpu_masks      masks;  /* of cpu_masks */
	struct topology_slot *places; /* fixed: `capacity` entries sorted by
				        * place; NULL: too few workers, see
				        * topology.h */

	struct parking        parking;
	struct stacks         stacks;
	struct stack_depths  *depths; /* fixed; NULL: stacks are not measured */
	struct observe_shared observe; /* of observe, metrics, trace */
	struct pool           pool;
	struct backlog        backlog; /* any: background tasks */
	struct blocking_threads blocking;

	_Alignas(CACHE_LINE) struct gate gate;
	_Alignas(CACHE_LINE) a_u32 next_worker; /* of worker_threads: any: the
						 * next worker for tasks from
						 * outside */
	struct slots_state slots;               /* of slots */
	struct trim_shared trim;                /* of trim */

	_Alignas(CACHE_LINE) struct finalise_state end; /* of finalise */
	struct end_clients          ending;             /* of end_clients */
	struct bound_workers        bound;              /* of bound_workers */
	struct scheduler_list_state listed;             /* of scheduler_list */
	struct trace_state          tracing; /* of trace, trace_write */
};

/* The fields that every thread reads lie before `parking`, whose words all
 * threads write. The gate, next_worker and the count of the end are words that
 * all threads write, each on lines of its own. */
_Static_assert(offsetof(struct sennit_scheduler, parking) % CACHE_LINE == 0,
	       "parking is apart from what is fixed");
_Static_assert(offsetof(struct sennit_scheduler, gate) % CACHE_LINE == 0 &&
		       offsetof(struct sennit_scheduler, next_worker) -
				       offsetof(struct sennit_scheduler,
						gate) ==
			       CACHE_LINE,
	       "the gate is alone on its lines");
_Static_assert(offsetof(struct sennit_scheduler, end) % CACHE_LINE == 0,
	       "the count of the end is apart from the turn of workers");

#endif
