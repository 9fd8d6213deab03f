/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/profiler.h"

#include "core/names.h"
#include "observe/report.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sennit/fiber.h"

a_ptr sn_profiler_hooks;

_Thread_local const struct sennit_fiber *sn_called_by;

static a_u32 waits; /* any: whether new schedulers tell of waits */

/* --- telling ------------------------------------------------------------ */

/* A wait for a mutex may be several sleeps; it begins with the first. A yield
 * is none. */
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

static void follow(sennit_scheduler *s, bool on)
{
	if (on) /* -> trace.on: the profiler <- trace.on: the other bit */
		a_or_acqrel(&s->observe.traced, OBSERVE_SLEEPS);
	else /* -> trace.on: nothing more <- trace.on: the other bit */
		a_and_acqrel(&s->observe.traced, ~OBSERVE_SLEEPS);
	sn_trace_tell(s);
}

/* The starter stores `waits` before it takes the lock of the list; *s was made
 * ready under it. So one of the two sees the other. */
void sn_profiler_add(sennit_scheduler *s)
{
	if (a_load_rlx(&waits))
		follow(s, true);
}

/* --- on and off --------------------------------------------------------- */

enum { SCHEDULERS = 256 }; /* of a process, at a time */

static void follow_all(bool on)
{
	sennit_scheduler *all[SCHEDULERS];
	size_t            count = sn_scheduler_list_retain(all, SCHEDULERS);

	for (size_t i = 0; i < count; i++) {
		follow(all[i], on);
		sennit_scheduler_release(all[i]);
	}
}

void sn_profiler_set(const struct sennit_debug_profiler *p, bool wanted)
{
	if (p) /* -> profile.on: all of it */
		a_store_rel(&sn_profiler_hooks, (void *)(uintptr_t)p);
	a_store_rlx(&waits, p && wanted); /* before the list's lock */
	follow_all(p && wanted);
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

static const struct sennit_fiber *running(void)
{
	if (sn_called_by)
		return sn_called_by;
	return sn_self ? sn_self->home.current : NULL;
}

bool sennit_fiber_running(sennit_running *out)
{
	const struct sennit_fiber *f = running();

	if (!f)
		return false;
	out->task = sn_fiber_state_get_task(&f->state);
	out->function = sn_task_names_get(out->task);
	out->fiber = f->id;
	out->worker = sn_worker_of(f)->threaded ? sn_worker_of(f)->index
						: SENNIT_RUNNING_BOUND;
	out->call = sn_called_by;
	out->low = f->low;
	out->high = f->low ? f : NULL;
	if (!sn_task_name_read(&((struct sennit_fiber *)(uintptr_t)f)->name,
			       out->name))
		out->name[0] = '\0';
	return true;
}
