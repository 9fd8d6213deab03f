/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/report.h"

#include "base/torture.h"
#include "local/names.h"
#include "life/bind.h"
#include "life/worker_threads.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "group/cancel.h"
#include "sennit/report.h"

/* After this many failed reads, the report shows the fiber without its own
 * name, because the name changes too fast. */
#define REPORT_TRIES 8

typedef void visitor(void *context, const sennit_report_entry *entry);

/* --- walking ------------------------------------------------------------ */

/* After this many failed reads, report the fiber as running: a fiber that
 * changes so fast is. */
#define FIBER_READ_TRIES 8

#ifdef SENNIT_SPAWN_SITES
static uintptr_t read_site(struct fiber_state *s)
{
	return a_load_acq(&s->site); /* <- fiber_state.read */
}
#else
static uintptr_t read_site(struct fiber_state *s)
{
	(void)s;
	return 0;
}
#endif

static bool read_fiber_state(struct fiber_state *s, sennit_report_entry *e)
{
	/* <- fiber_state.read */
	uint32_t  doing = a_load_acq(&s->doing);
	uintptr_t site = read_site(s);
	/* <- fiber_state.read */
	uintptr_t task = a_load_acq(&s->task);
	/* <- fiber_state.read */
	void *object = a_load_acq(&s->object);
	/* <- fiber_state.read */
	sennit_time since = a_load_acq(&s->since);
	/* <- fiber_state.read */
	sennit_time deadline = a_load_acq(&s->deadline);

	e->task = (sennit_task_fn *)task;
	e->spawned_at = task && read_site(s) == site ? (const void *)site
						     : NULL;
	if (a_load_rlx(&s->doing) != doing)
		return false;
	e->state = doing & FIBER_STATE_STATE;
	if (e->state == SENNIT_REPORT_RUNNING)
		return true;
	e->waits_for = doing % FIBER_STATE_TIMED >> FIBER_STATE_KIND;
	e->object = e->waits_for ? object : NULL;
	e->since = since;
	e->turn = doing / FIBER_STATE_SERIAL;
	e->deadline = doing & FIBER_STATE_TIMED ? deadline : SENNIT_NEVER;
	return true;
}

/* Copy *s into the report entry. Returns false if no task is alive here. */
static bool copy_state(struct fiber_state *s, sennit_report_entry *e)
{
	for (int i = 0; i < FIBER_READ_TRIES; i++)
		if (read_fiber_state(s, e))
			break;
	return e->state != SENNIT_REPORT_RUNNING || e->task;
}

/* Return the initial values of each entry of w. A running task counts as
 * running since w's clock. */
static sennit_report_entry entry_of(const struct worker *w)
{
	return (sennit_report_entry){
		.size = sizeof(sennit_report_entry),
		.worker = w->threaded ? w->index : SENNIT_REPORT_BOUND,
		.thread = sn_thread_number(&w->thread),
		.since = a_load_rlx(&w->clock),
		.deadline = SENNIT_NEVER,
		.turn = sn_counters_tasks(&w->counters) +
			sn_counters_blocks(&w->counters),
	};
}

/* Return the error of the groups around f, which do not end its wait `doing`.
 * The fiber is kept in the wait, so the groups stay open. */
static int error_of_groups(struct sennit_fiber *f, uint32_t doing)
{
	const struct sennit_cancel_scope *scope;
	uintptr_t                         place;
	int                               err = 0;

	if (!sn_waited_lock_keep(&f->look, &place))
		return 0;
	if (place & WAITED_LOCK_SHIELDED &&
	    a_load_rlx(&f->state.doing) == doing) {
		scope = a_load_acq(&f->scope); /* <- fiber_state.read */
		err = sn_cancel_scope_error(scope);
	}
	sn_waited_lock_let_go(&f->look, place);
	return err;
}

static const void *inner_identity(const struct sennit_fiber *f)
{
	void *identity = a_load_acq(&f->identity); /* <- fiber_state.read */

	return identity == f ? NULL : identity;
}

/* Read the fiber's state and name. Returns false if the fiber has changed
 * meanwhile, so that the two may not belong together. */
static bool read_fiber_once(struct sennit_fiber *f, sennit_report_entry *e,
			    bool *alive, char name[SENNIT_TASK_NAME_SIZE])
{
	uint32_t doing = a_load_acq(&f->state.doing); /* <- fiber_state.read */

	*alive = copy_state(&f->state, e);
	if (e->state == SENNIT_REPORT_BLOCKED) {
		e->group = error_of_groups(f, doing);
		e->inside = inner_identity(f);
	}
	TORTURE_POINT();
	e->name = sn_task_name_read(&f->name, name)
			  ? name
			  : sn_task_names_get(e->task);
	/* A reader that has seen another task's name also sees that the task
	 * has changed. */
	return a_load_rlx(&f->state.doing) == doing &&
	       a_load_rlx(&f->state.task) == (uintptr_t)e->task;
}

bool sn_report_read(struct worker *w, struct sennit_fiber *f,
		    sennit_report_entry *e, char name[SENNIT_TASK_NAME_SIZE])
{
	bool alive;
	int  tries = REPORT_TRIES;

	do
		*e = entry_of(w);
	while (!read_fiber_once(f, e, &alive, name) && --tries);
	if (!tries)
		e->name = sn_task_names_get(e->task);
	e->fiber = f->id;
	return alive || f == &w->main;
}

static void visit_fiber(struct worker *w, struct sennit_fiber *f,
			visitor *visit, void *context)
{
	sennit_report_entry e;
	char                name[SENNIT_TASK_NAME_SIZE];

	if (sn_report_read(w, f, &e, name))
		visit(context, &e);
}

static void visit_queued(struct worker *w, visitor *visit, void *context)
{
	sennit_report_entry e = entry_of(w);
	bool                exact; /* ignored: the count is documented as a
				    * lower bound */

	e.state = SENNIT_REPORT_QUEUED;
	e.count = sn_worker_queued(w, &exact);
	if (e.count)
		visit(context, &e);
}

static void report_worker(struct worker *w, visitor *visit, void *context)
{
	struct sennit_fiber *f = NULL;

	if (!w->threaded)
		visit_fiber(w, &w->main, visit, context);
	os_lock(&w->roster.lock);
	while ((f = sn_roster_next(&w->roster, f)))
		visit_fiber(w, f, visit, context);
	pthread_mutex_unlock(&w->roster.lock);
	visit_queued(w, visit, context);
}

static void visit_backlog(sennit_scheduler *s, visitor *visit, void *context)
{
	sennit_report_entry e = {
		.size = sizeof(e),
		.state = SENNIT_REPORT_QUEUED,
		.worker = SENNIT_REPORT_BACKGROUND,
		.count = sn_backlog_count(&s->backlog), /* a snapshot */
		.deadline = SENNIT_NEVER,
	};

	if (e.count)
		visit(context, &e);
}

/* --- versions ----------------------------------------------------------- */

/* Sum the counters. Sleeps are not included: a worker that waits for a stack
 * polls at intervals. If that changes anything, another counter changes. */
static uint64_t sum_counters(const struct counters *c)
{
	return a_load_rlx(&c->tasks) + a_load_rlx(&c->blocks) +
	       a_load_rlx(&c->resumes);
}

/* The counters of threads that have unbound are part of the sum. */
uint64_t sn_report_version(sennit_scheduler *s)
{
	struct binding *b = NULL;
	uint64_t        sum = 0;

	for (uint32_t i = 0; i < s->capacity; i++)
		sum += sum_counters(&s->workers[i]->counters);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		sum += sum_counters(&sn_worker_bound(b)->counters);
	sum += s->bound.past.tasks + s->bound.past.blocks +
	       s->bound.past.resumes;
	pthread_mutex_unlock(&s->bound.lock);
	return sum;
}

/* --- the report --------------------------------------------------------- */

void sennit_report_visit(sennit_scheduler *s, visitor *visit, void *context)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		report_worker(s->workers[i], visit, context);
	visit_backlog(s, visit, context);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		report_worker(sn_worker_bound(b), visit, context);
	pthread_mutex_unlock(&s->bound.lock);
}
