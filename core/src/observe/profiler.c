/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/profiler.h"

#include "base/sized.h"
#include "local/names.h"
#include "observe/report.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sennit/fiber.h"

a_ptr sn_profiler_hooks;

_Thread_local const struct sennit_fiber *sn_called_by;

static a_u32 waits; /* any: whether new schedulers report waits */

/* --- reports to the profiler -------------------------------------------- */

/* A wait for a mutex may be several sleeps; it begins with the first one. A
 * yield is not a wait. */
void sn_profiler_note_wait(const struct worker *w, struct fiber_times *t)
{
	if (t->slept && t->kind == SENNIT_WAITS_FOR_MUTEX)
		return;
	t->slept = sn_worker_is_profiled(w) && t->kind ? os_now() : 0;
}

void sn_profiler_end_wait(struct fiber_times *t)
{
	/* <- profile.on */
	const struct sennit_debug_profiler *p = a_load_acq(&sn_profiler_hooks);

	if (p)
		p->waited(t->kind, os_now() - t->slept);
	t->slept = 0;
}

static void trace_sleeps(sennit_scheduler *s, bool on)
{
	if (on) /* -> trace.on: the profiler <- trace.on: the other bit */
		a_or_acqrel(&s->observe.traced, OBSERVE_SLEEPS);
	else /* -> trace.on: nothing more <- trace.on: the other bit */
		a_and_acqrel(&s->observe.traced, ~OBSERVE_SLEEPS);
	sn_trace_tell(s);
}

/* The thread that starts a profile stores `waits` before it takes the lock of
 * the list, and *s was added under that lock. So at least one of the two sees
 * the other. */
void sn_profiler_add(sennit_scheduler *s)
{
	if (a_load_rlx(&waits))
		trace_sleeps(s, true);
}

/* --- start and stop ----------------------------------------------------- */

enum { PROFILED_SCHEDULERS = 256 }; /* maximum number per process */

static void trace_all_sleeps(bool on)
{
	sennit_scheduler *all[PROFILED_SCHEDULERS];
	size_t count = sn_scheduler_list_retain(all, PROFILED_SCHEDULERS);

	for (size_t i = 0; i < count; i++) {
		trace_sleeps(all[i], on);
		sennit_scheduler_release(all[i]);
	}
}

void sn_profiler_set(const struct sennit_debug_profiler *p, bool wanted)
{
	if (p) /* -> profile.on: all of it */
		a_store_rel(&sn_profiler_hooks, (void *)(uintptr_t)p);
	a_store_rlx(&waits, p && wanted); /* before the list's lock is taken */
	trace_all_sleeps(p && wanted);
	if (!p)
		a_store_rel(&sn_profiler_hooks,
			    NULL); /* -> profile.on: nothing */
}

void sn_profiler_fork(void)
{
	a_store_rlx(&sn_profiler_hooks, NULL); /* there is no other thread */
	a_store_rlx(&waits, 0);
	sn_called_by = NULL;
}

/* --- what a thread runs ------------------------------------------------- */

static const struct sennit_fiber *profiled_fiber(void)
{
	if (sn_called_by)
		return sn_called_by;
	return sn_self ? sn_self->home.current : NULL;
}

ENDS_WITH(sennit_running, name);

bool sennit_fiber_running(sennit_running *out)
{
	const struct sennit_fiber *f = profiled_fiber();
	sennit_running             r;

	if (!f)
		return false;
	r = (sennit_running){ .task = sn_fiber_state_get_task(&f->state),
			      .fiber = f->id,
			      .worker = sn_worker_of(f)->threaded
						? sn_worker_of(f)->index
						: SENNIT_RUNNING_BOUND,
			      .call = sn_called_by != NULL,
			      .low = f->low,
			      .high = f->low ? f : NULL };
	r.function = sn_task_names_get(r.task);
	if (!sn_task_name_read(&((struct sennit_fiber *)(uintptr_t)f)->name,
			       r.name))
		r.name[0] = '\0';
	MISUSE(!sn_sized_write(out, &r, sizeof(r),
			       SIZE_THROUGH(sennit_running, name)),
	       "sennit_fiber_running", "out->size is not set");
	return true;
}
