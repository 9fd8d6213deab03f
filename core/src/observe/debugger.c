/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/report.h"

#include "arch/cpu.h"
#include "local/names.h"
#include "os/os.h"
#include "blocking/blocking.h"

#define SCHEDULER(member) offsetof(sennit_scheduler, member)
#define WORKER(member)    offsetof(struct worker, member)
#define FIBER(member)     offsetof(struct sennit_fiber, member)

/* Any change here except of offsets requires a new SENNIT_DEBUG_VERSION. */
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

	.scheduler_link_at = SCHEDULER(in_list.link),
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
	.fiber_name_size = SENNIT_TASK_NAME_SIZE,

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
	.fiber_reads_at = FIBER(reads),
	.fiber_reads_count = READ_LOCKS,
	.rwlock_reader = RWLOCK_READER,
#ifdef SENNIT_SPAWN_SITES
	.fiber_site_at = FIBER(state.site),
#endif
};

const struct sennit_debug_helpers sennit_debug_helpers = {
	.size = sizeof(struct sennit_debug_helpers),
	.fiber_helper_at = FIBER(helper),
	.outermost = (void (*)(void))sn_blocking_call_make,
};

_Static_assert(WORKER(home) == 0, "a fiber's home is its worker");

/* --- scheduler list ------------------------------------------------------- */

struct link *sn_scheduler_list;

static uint32_t forks;  /* changes only while the process has one thread */
static uint64_t joined; /* under debugger_lock: number of schedulers so far */

/* No other lock is taken under it. */
static pthread_mutex_t debugger_lock = PTHREAD_MUTEX_INITIALIZER;

void sn_scheduler_list_join(sennit_scheduler *s)
{
	os_lock(&debugger_lock);
	s->in_list.forks = forks;
	s->in_list.number = ++joined;
	sn_link_join(&sn_scheduler_list, &s->in_list.link);
	pthread_mutex_unlock(&debugger_lock);
}

void sn_scheduler_list_set_ready(sennit_scheduler *s)
{
	os_lock(&debugger_lock);
	s->in_list.ready = true;
	pthread_mutex_unlock(&debugger_lock);
}

void sn_scheduler_list_leave(sennit_scheduler *s)
{
	os_lock(&debugger_lock);
	if (s->in_list.forks == forks)
		sn_link_leave(&sn_scheduler_list, &s->in_list.link);
	pthread_mutex_unlock(&debugger_lock);
}

static sennit_scheduler *scheduler_of_link(struct link *l)
{
	return container_of(l, struct sennit_scheduler, in_list.link);
}

/* The memory of a scheduler in the list is valid. Its gate knows whether it has
 * ended. */
size_t sn_scheduler_list_retain(sennit_scheduler *out[], size_t size)
{
	size_t       count = 0;
	struct link *l;

	os_lock(&debugger_lock);
	for (l = sn_scheduler_list; l && count < size;
	     l = sn_link_after(l, sn_scheduler_list))
		if (scheduler_of_link(l)->in_list.ready &&
		    sn_gate_retain(&scheduler_of_link(l)->gate))
			out[count++] = scheduler_of_link(l);
	pthread_mutex_unlock(&debugger_lock);
	return count;
}

uint64_t sn_scheduler_list_number(const sennit_scheduler *s)
{
	return s->in_list.number;
}

sennit_scheduler *sn_scheduler_list_find(uint64_t number)
{
	sennit_scheduler *s = NULL;
	struct link      *l;

	os_lock(&debugger_lock);
	for (l = sn_scheduler_list;
	     l && scheduler_of_link(l)->in_list.number != number;
	     l = sn_link_after(l, sn_scheduler_list))
		;
	if (l && sn_gate_retain(&scheduler_of_link(l)->gate))
		s = scheduler_of_link(l);
	pthread_mutex_unlock(&debugger_lock);
	return s;
}

/* In the child of a fork: another thread of the parent may have held the
 * lock. */
void sn_scheduler_list_fork(void)
{
	forks++;
	sn_scheduler_list = NULL;
	pthread_mutex_init(&debugger_lock, NULL);
}
