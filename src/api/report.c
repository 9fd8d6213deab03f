/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/report.h"

#include "base/escape.h"
#include "base/torture.h"
#include "core/task_names.h"
#include "os/os.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <stdio.h>

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
	};
}

/* Read the fiber's state and name. Returns false if the fiber has changed
 * meanwhile, so that the two may not belong together. */
static bool look(struct sennit_fiber *f, sennit_report_entry *e, bool *alive,
		 char name[SENNIT_NAME_SIZE])
{
	uint32_t doing = a_load_acq(&f->state.doing); /* <- fiber_state.read */

	*alive = sn_fiber_state_read(&f->state, e);
	TORTURE_POINT();
	e->name = sn_task_name_read(&f->name, name)
			  ? name
			  : sn_task_names_get(e->task);
	/* A reader that has seen another task's name also sees that other
	 * task. */
	return a_load_rlx(&f->state.doing) == doing &&
	       a_load_rlx(&f->state.task) == (uintptr_t)e->task;
}

static void visit_fiber(struct worker *w, struct sennit_fiber *f,
			visitor *visit, void *context)
{
	sennit_report_entry e;
	char                name[SENNIT_NAME_SIZE];
	bool                alive;
	int                 tries = TRIES;

	do
		e = entry_of(w);
	while (!look(f, &e, &alive, name) && --tries);
	if (!tries)
		e.name = sn_task_names_get(e.task);
	e.fiber = f->id;
	if (alive || f == &w->main)
		visit(context, &e);
}

static void visit_queued(struct worker *w, visitor *visit, void *context)
{
	sennit_report_entry e = entry_of(w);

	e.state = SENNIT_REPORT_QUEUED;
	e.count = sn_mailbox_has_tasks(&w->mail);
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
	sn_roster_lock(&w->roster);
	while ((f = sn_roster_next(&w->roster, f)))
		visit_fiber(w, f, visit, context);
	sn_roster_unlock(&w->roster);
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

void sennit_scheduler_report(sennit_scheduler *s, visitor *visit, void *context)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		visit_worker(s->workers[i], visit, context);
	visit_backlog(s, visit, context);
	sn_bound_lock(&s->bound);
	while ((b = sn_bound_next(&s->bound, b)))
		visit_worker(sn_worker_bound(b), visit, context);
	sn_bound_unlock(&s->bound);
}

/* --- printing ----------------------------------------------------------- */

struct page {
	const char *scheduler; /* name of the scheduler */
	int         fd;
	uint32_t    entries;
	bool        hopeless; /* so far, no entry can make progress or wake
			       * another */
};

static const char *const waits[] = {
	[SENNIT_WAITS_FOR_NOTHING] = "nothing",
	[SENNIT_WAITS_FOR_EVENT] = "event",
	[SENNIT_WAITS_FOR_WAIT_GROUP] = "wait group",
	[SENNIT_WAITS_FOR_MUTEX] = "mutex",
	[SENNIT_WAITS_FOR_COND] = "condition variable",
	[SENNIT_WAITS_FOR_NOTIFY] = "a notify, mutex",
	[SENNIT_WAITS_FOR_TIME] = "the end of its sleep",
	[SENNIT_WAITS_FOR_WORK] = "its own tasks and fibers, to unbind",
	[SENNIT_WAITS_FOR_RWLOCK] = "reader-writer lock",
	[SENNIT_WAITS_FOR_SEMAPHORE] = "semaphore",
	[SENNIT_WAITS_FOR_BARRIER] = "barrier",
	[SENNIT_WAITS_FOR_ONCE] = "once",
	[SENNIT_WAITS_FOR_TICKET] = "ticket",
	[SENNIT_WAITS_FOR_CALL] = "a blocking call",
	[SENNIT_WAITS_FOR_POOL] = "pool",
	[SENNIT_WAITS_FOR_CHANNEL] = "channel",
	[SENNIT_WAITS_FOR_SELECT] = "one of several objects, the first",
	[SENNIT_WAITS_FOR_FUTURE] = "future",
	[SENNIT_WAITS_FOR_GROUP] = "group",
};

static uint64_t milliseconds(sennit_time from, sennit_time to)
{
	return to > from ? (to - from) / SENNIT_MILLISECOND : 0;
}

/* Print the worker and thread of an entry. */
static void print_place(char *text, size_t size, const struct page *p,
			const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		snprintf(text, size, "%s thread %u, bound", p->scheduler,
			 e->thread);
	else if (e->worker == SENNIT_REPORT_BACKGROUND)
		snprintf(text, size, "%s background", p->scheduler);
	else
		snprintf(text, size, "%s worker %u, thread %u", p->scheduler,
			 e->worker, e->thread);
}

static void print_wait(char *text, size_t size, const sennit_report_entry *e)
{
	bool        timed = e->deadline != SENNIT_NEVER;
	sennit_time now = timed ? os_now() : 0;
	bool        overdue = timed && now >= e->deadline;
	char        object[24] = "";
	char        left[48] = "";

	if (e->object)
		snprintf(object, sizeof(object), " %p", e->object);
	if (overdue)
		snprintf(left, sizeof(left), ", %" PRIu64 " ms overdue",
			 milliseconds(e->deadline, now));
	else if (timed)
		snprintf(left, sizeof(left), ", %" PRIu64 " ms left",
			 milliseconds(now, e->deadline));
	snprintf(text, size, "waits for %s%s%s", waits[e->waits_for], object,
		 left);
}

/* Print what the fiber does. */
static void print_state(char *text, size_t size, const sennit_report_entry *e)
{
	switch (e->state) {
	case SENNIT_REPORT_RUNNING:
		snprintf(text, size, "runs");
		break;
	case SENNIT_REPORT_READY:
		snprintf(text, size, "is ready");
		break;
	default:
		print_wait(text, size, e);
	}
}

/* Print the name and function of the task. */
static void print_name(char *text, size_t size, const sennit_report_entry *e)
{
	char function[128] = "its own stack";
	char name[128];

	if (e->task)
		os_function_name((uintptr_t)e->task, function,
				 sizeof(function));
	if (!e->name) {
		snprintf(text, size, "%s", function);
		return;
	}
	sn_escape(name, sizeof(name), e->name);
	snprintf(text, size, "%s (%s)", name, function);
}

static void print_fiber(const struct page *p, const sennit_report_entry *e,
			const char *place)
{
	char name[264];
	char state[128];

	print_name(name, sizeof(name), e);
	print_state(state, sizeof(state), e);
	os_print(p->fd, "%s, fiber %u: %s: %s, for %" PRIu64 " ms\n", place,
		 e->fiber, name, state, milliseconds(e->since, os_now()));
}

static void print_queued(const struct page *p, const sennit_report_entry *e,
			 const char *place)
{
	os_print(p->fd, "%s: %u tasks or more have not started\n", place,
		 e->count);
}

/* Whether the fiber runs, or is woken by something other than fibers of this
 * scheduler. A wait for a group has a deadline but only its members end it. */
static bool is_hopeful(const sennit_report_entry *e)
{
	if (e->state != SENNIT_REPORT_BLOCKED ||
	    e->waits_for == SENNIT_WAITS_FOR_CALL)
		return true;
	return e->deadline != SENNIT_NEVER &&
	       e->waits_for != SENNIT_WAITS_FOR_GROUP;
}

static void print_entry(void *context, const sennit_report_entry *e)
{
	struct page *p = context;
	char         place[64];

	p->entries++;
	if (is_hopeful(e))
		p->hopeless = false;
	print_place(place, sizeof(place), p, e);
	if (e->state == SENNIT_REPORT_QUEUED)
		print_queued(p, e, place);
	else
		print_fiber(p, e, place);
}

/* A snapshot. Idle stacks in the caches of workers are not counted. */
static void print_limit(sennit_scheduler *s, int fd)
{
	struct stacks_count stacks = sn_stacks_count(&s->stacks);

	if (s->config.max_fibers && !stacks.resting &&
	    stacks.made >= s->config.max_fibers)
		os_print(fd,
			 "all %u stacks are taken: tasks start when one is "
			 "free (max_fibers)\n",
			 stacks.made);
}

void sennit_scheduler_print_report(sennit_scheduler *s, int fd)
{
	struct page p = { .scheduler = s->name, .fd = fd };

	/* Check before and after: a fiber that was woken in between would be
	 * missed. */
	p.hopeless = !sn_gate_active(&s->gate);
	sennit_scheduler_report(s, print_entry, &p);
	print_limit(s, fd);
	if (!p.entries)
		os_print(fd, "nothing runs or waits\n");
	else if (p.hopeless && !sn_gate_active(&s->gate))
		os_print(fd, "nothing in the scheduler can wake any of them\n");
}
