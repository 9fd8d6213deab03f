/* SPDX-License-Identifier: Apache-2.0 */
#include "api/debugger.h"

#include "api/report.h"
#include "arch/arch.h"
#include "core/task_names.h"
#include "worker/scheduler_list.h"
#include "worker/worker.h"

#define SCHEDULER(member) offsetof(sennit_scheduler, member)
#define WORKER(member)    offsetof(struct worker, member)
#define FIBER(member)     offsetof(struct sennit_fiber, member)

/* A change of what stands here is a new SENNIT_DEBUG_VERSION, unless it is only
 * a change of offsets. */
const struct sennit_debug_descriptor sennit_debug_descriptor = {
	.magic = { 's', 'e', 'n', 'n', 'i', 't', 'd', 'b' },
	.version = SENNIT_DEBUG_VERSION,
	.size = sizeof(struct sennit_debug_descriptor),

	.schedulers = &sn_scheduler_list,
	.task_names = sn_task_names_places,
	.waits = sn_report_waits,
	.context = &arch_saved,
	.task_names_count = TASK_NAMES_PLACES,
	.waits_count = SN_REPORT_WAITS,

	.scheduler_link_at = SCHEDULER(listed.link),
	.scheduler_name_at = SCHEDULER(name),
	.scheduler_name_size = sizeof(((sennit_scheduler *)NULL)->name),
	.scheduler_workers_at = SCHEDULER(workers),
	.scheduler_capacity_at = SCHEDULER(capacity),
	.scheduler_bound_at = SCHEDULER(bound.list),

	.worker_size = sizeof(struct worker),
	.worker_current_at = WORKER(home.current),
	.worker_main_at = WORKER(main),
	.worker_bound_at = WORKER(binding.link),
	.worker_fibers_at = WORKER(roster.fibers),
	.worker_index_at = WORKER(index),
	.worker_thread_at = WORKER(thread.number),
	.worker_clock_at = WORKER(clock),

	.fiber_size = sizeof(struct sennit_fiber),
	.fiber_link_at = FIBER(roster),
	.fiber_context_at = FIBER(suspended),
	.fiber_worker_at = FIBER(home),
	.fiber_id_at = FIBER(id),
	.fiber_low_at = FIBER(low),
	.fiber_task_at = FIBER(state.task),
	.fiber_object_at = FIBER(state.object),
	.fiber_since_at = FIBER(state.since),
	.fiber_deadline_at = FIBER(state.deadline),
	.fiber_doing_at = FIBER(state.doing),
	.fiber_name_version_at = FIBER(name.version),
	.fiber_name_at = FIBER(name.words),
	.fiber_name_size = SENNIT_NAME_SIZE,

	.doing_state = FIBER_STATE_STATE,
	.doing_kind = FIBER_STATE_TIMED - (1u << FIBER_STATE_KIND),
	.doing_kind_shift = FIBER_STATE_KIND,
	.doing_timed = FIBER_STATE_TIMED,
};

const struct sennit_debug_waits sennit_debug_waits = {
	.size = sizeof(struct sennit_debug_waits),
	.fiber_identity_at = FIBER(identity),
	.fiber_scope_at = FIBER(scope),
	.fiber_owner_at = FIBER(look.place),
};

_Static_assert(WORKER(home) == 0, "a fiber's home is its worker");
