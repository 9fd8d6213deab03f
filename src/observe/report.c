/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/report.h"

#include "base/torture.h"
#include "core/names.h"
#include "life/life.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "wait/cancel.h"
#include "sennit/report.h"

/* After this many failed reads, the report shows the fiber without its own
 * name, because it changes too fast. */
#define TRIES 8

typedef void visitor(void *context, const sennit_report_entry *entry);

/* --- walking ------------------------------------------------------------ */

/* The initial values of each entry of w. A running task has been running since
 * w's clock. */
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

/* What the groups around f say to its wait `doing`, which they cannot end. The
 * fiber is kept in the wait, so the groups stay open. */
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

static const void *inside(const struct sennit_fiber *f)
{
	void *identity = a_load_acq(&f->identity); /* <- fiber_state.read */

	return identity == f ? NULL : identity;
}

/* Read the fiber's state and name. Returns false if the fiber has changed
 * meanwhile, so that the two may not belong together. */
static bool look(struct sennit_fiber *f, sennit_report_entry *e, bool *alive,
		 char name[SENNIT_NAME_SIZE])
{
	uint32_t doing = a_load_acq(&f->state.doing); /* <- fiber_state.read */

	*alive = sn_fiber_state_read(&f->state, e);
	if (e->state == SENNIT_REPORT_BLOCKED) {
		e->group = error_of_groups(f, doing);
		e->inside = inside(f);
	}
	TORTURE_POINT();
	e->name = sn_task_name_read(&f->name, name)
			  ? name
			  : sn_task_names_get(e->task);
	/* A reader that has seen another task's name also sees that other
	 * task. */
	return a_load_rlx(&f->state.doing) == doing &&
	       a_load_rlx(&f->state.task) == (uintptr_t)e->task;
}

bool sn_report_read(struct worker *w, struct sennit_fiber *f,
		    sennit_report_entry *e, char name[SENNIT_NAME_SIZE])
{
	bool alive;
	int  tries = TRIES;

	do
		*e = entry_of(w);
	while (!look(f, e, &alive, name) && --tries);
	if (!tries)
		e->name = sn_task_names_get(e->task);
	e->fiber = f->id;
	return alive || f == &w->main;
}

static void visit_fiber(struct worker *w, struct sennit_fiber *f,
			visitor *visit, void *context)
{
	sennit_report_entry e;
	char                name[SENNIT_NAME_SIZE];

	if (sn_report_read(w, f, &e, name))
		visit(context, &e);
}

static void visit_queued(struct worker *w, visitor *visit, void *context)
{
	sennit_report_entry e = entry_of(w);

	e.state = SENNIT_REPORT_QUEUED;
	e.count = !sn_inbox_is_empty(&w->mail.tasks);
	if (w->threaded)
		e.count += sn_deque_count(sn_worker_deque(w));
	else
		e.count += sn_backlog_count(&w->own);
	if (e.count)
		visit(context, &e);
}

static void visit_worker(struct worker *w, visitor *visit, void *context)
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

/* Not how often it went to sleep: a worker that waits for a stack looks now and
 * then. If that changed anything, something else counts. */
static uint64_t count(const struct counters *c)
{
	return a_load_rlx(&c->tasks) + a_load_rlx(&c->blocks) +
	       a_load_rlx(&c->resumes);
}

/* The counters of threads that have unbound stay in the sum. */
uint64_t sn_report_version(sennit_scheduler *s)
{
	struct binding *b = NULL;
	uint64_t        sum = 0;

	for (uint32_t i = 0; i < s->capacity; i++)
		sum += count(&s->workers[i]->counters);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		sum += count(&sn_worker_bound(b)->counters);
	sum += s->bound.past.tasks + s->bound.past.blocks +
	       s->bound.past.resumes;
	pthread_mutex_unlock(&s->bound.lock);
	return sum;
}

/* --- the report --------------------------------------------------------- */

void sennit_scheduler_report(sennit_scheduler *s, visitor *visit, void *context)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		visit_worker(s->workers[i], visit, context);
	visit_backlog(s, visit, context);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		visit_worker(sn_worker_bound(b), visit, context);
	pthread_mutex_unlock(&s->bound.lock);
}
