/* SPDX-License-Identifier: Apache-2.0 */
/* report_print.c - prints the report as text. */
#include "base/text.h"
#include "life/end.h"
#include "observe/report.h"
#include "os/os.h"
#include "blocking/blocking.h"
#include "sennit/report.h"
#include "sennit/wait_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct report_page {
	const char      *scheduler; /* name of the scheduler */
	struct os_lines *lines;
	uint32_t         entries;
	bool             hopeless; /* no entry so far can make progress or wake
				    * another one */
};

const char *const sn_report_waits[SN_REPORT_WAITS] = {
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
	[SENNIT_WAITS_FOR_IO] = "I/O on descriptor",
	[SENNIT_WAITS_FOR_MEMBERS] = "members of group",
};

static uint64_t milliseconds(sennit_time from, sennit_time to)
{
	return to > from ? (to - from) / SENNIT_MILLISECOND : 0;
}

static void print_place(char *text, size_t size, const char *scheduler,
			const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		snprintf(text, size, "%s thread %u, bound", scheduler,
			 e->thread);
	else if (e->worker == SENNIT_REPORT_BACKGROUND)
		snprintf(text, size, "%s background", scheduler);
	else
		snprintf(text, size, "%s worker %u, thread %u", scheduler,
			 e->worker, e->thread);
}

/* Return the reason why the fiber still waits although its group has ended. */
static const char *remark_on_group(const sennit_report_entry *e)
{
	if (e->group == -ECANCELED)
		return ", its group is cancelled, but this wait cannot be";
	if (e->group)
		return ", its group is past its deadline, but this wait cannot "
		       "end early";
	return "";
}

void sn_report_function_name(uintptr_t function, char *text, size_t size)
{
	if (sennit_debug_tools)
		sennit_debug_tools->symbol((const void *)function, text, size);
	else
		os_function_name(function, text, size);
}

/* Print the object of the wait: " 0x...", a descriptor's number, or the
 * function. */
static void print_object(char *text, size_t size, const sennit_report_entry *e)
{
	const int used = snprintf(text, size, " of ");

	if (e->waits_for == SENNIT_WAITS_FOR_CALL)
		sn_report_function_name((uintptr_t)e->object, text + used,
					size - (size_t)used);
	else if (e->waits_for == SENNIT_WAITS_FOR_IO)
		snprintf(text, size, " %d", (int)(intptr_t)e->object);
	else if (e->object)
		snprintf(text, size, " %#" PRIxPTR, (uintptr_t)e->object);
	else
		text[0] = '\0';
}

static void print_wait(char *text, size_t size, const sennit_report_entry *e)
{
	bool        timed = e->deadline != SENNIT_NEVER;
	sennit_time now = timed ? os_now() : 0;
	bool        overdue = timed && now >= e->deadline;
	char        object[96];
	char        left[48] = "";

	print_object(object, sizeof(object), e);
	if (overdue)
		snprintf(left, sizeof(left), ", %" PRIu64 " ms overdue",
			 milliseconds(e->deadline, now));
	else if (timed)
		snprintf(left, sizeof(left), ", %" PRIu64 " ms left",
			 milliseconds(now, e->deadline));
	snprintf(text, size, "waits for %s%s%s%s%s",
		 sn_report_waits[e->waits_for], object, left,
		 remark_on_group(e),
		 e->inside ? ", on the stack of a task that waits for it" : "");
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

static void print_name(char *text, size_t size, const sennit_report_entry *e)
{
	char function[128] = "its own stack";
	char name[128];

	if (e->task)
		sn_report_function_name((uintptr_t)e->task, function,
					sizeof(function));
	if (!e->name) {
		snprintf(text, size, "%s", function);
		return;
	}
	sn_escape(name, sizeof(name), e->name);
	snprintf(text, size, "%s (%s)", name, function);
}

/* Print where the call is that spawned the task, if that is known. */
static void print_site(char *text, size_t size, const sennit_report_entry *e)
{
	char function[128];

	text[0] = '\0';
	if (!e->spawned_at)
		return;
	sn_report_function_name((uintptr_t)e->spawned_at - 1, function,
				sizeof(function));
	snprintf(text, size, ", spawned at %s", function);
}

static void print_fiber(const struct report_page  *p,
			const sennit_report_entry *e, const char *place)
{
	char name[264];
	char state[288];
	char site[160];

	print_name(name, sizeof(name), e);
	print_state(state, sizeof(state), e);
	print_site(site, sizeof(site), e);
	os_print_line(p->lines, "%s, fiber %u: %s: %s, for %" PRIu64 " ms%s\n",
		      place, e->fiber, name, state,
		      milliseconds(e->since, os_now()), site);
}

static void print_queued(const struct report_page  *p,
			 const sennit_report_entry *e, const char *place)
{
	os_print_line(p->lines, "%s: %u tasks or more have not started\n",
		      place, e->count);
}

/* Report whether the fiber runs, or can be woken by something other than fibers
 * of this scheduler. A wait for a group has a deadline, but only its members
 * end it. */
static bool may_be_woken(const sennit_report_entry *e)
{
	if (e->state != SENNIT_REPORT_BLOCKED ||
	    e->waits_for == SENNIT_WAITS_FOR_CALL ||
	    e->waits_for == SENNIT_WAITS_FOR_IO)
		return true;
	return e->deadline != SENNIT_NEVER &&
	       e->waits_for != SENNIT_WAITS_FOR_GROUP;
}

static void print_entry(void *context, const sennit_report_entry *e)
{
	struct report_page *p = context;
	char                place[64];

	p->entries++;
	if (may_be_woken(e))
		p->hopeless = false;
	print_place(place, sizeof(place), p->scheduler, e);
	if (e->state == SENNIT_REPORT_QUEUED)
		print_queued(p, e, place);
	else
		print_fiber(p, e, place);
}

/* Print the limit of stacks, if it was reached. A snapshot. Idle stacks in the
 * caches of workers are not counted. */
static void print_limit(sennit_scheduler *s, struct os_lines *lines)
{
	struct stacks_count stacks = sn_stacks_count(&s->stacks);

	if (stacks.no_guard && !stacks.resting)
		os_print_line(
			lines,
			"all %u stacks are in use, and no other can have a "
			"guard page: tasks start when one is free "
			"(vm.max_map_count, sennit_config.guards)\n",
			stacks.made);
	else if (s->config.max_fibers && !stacks.resting &&
		 stacks.made >= s->config.max_fibers)
		os_print_line(
			lines,
			"all %u stacks are in use: tasks start when one is "
			"free (max_fibers)\n",
			stacks.made);
}

/* Print the blocking calls that wait. They wait only while every thread is in a
 * call. */
static void print_waiting_calls(sennit_scheduler *s, struct os_lines *lines)
{
	const struct blocking_count c = sn_blocking_threads_count(&s->blocking);

	if (c.waiting)
		os_print_line(
			lines,
			"blocking calls that wait: %" PRIu32 "; each of the "
			"%" PRIu32 " threads is in a call, and none has ended "
			"for %" PRIu64 " ms (max_blocking_threads: %" PRIu32
			")\n",
			c.waiting, c.threads, c.stuck / SENNIT_MILLISECOND,
			c.most);
}

/* --- deadlocks and holders ----------------------------------------------- */

struct graph_page {
	struct os_lines *lines;
	uint32_t         cycle;   /* number of the deadlock announced last */
	bool             members; /* a fiber in it waits for a group */
};

enum { FIBER_SIZE = 384 };

/* Print the place, the number and the task of a fiber. */
static void print_party(char text[FIBER_SIZE], const char *scheduler,
			const sennit_report_entry *e)
{
	char place[64];
	char name[264];

	print_place(place, sizeof(place), scheduler, e);
	print_name(name, sizeof(name), e);
	snprintf(text, FIBER_SIZE, "%s, fiber %u: %s", place, e->fiber, name);
}

/* Print a fiber that waits for itself, with advice how to fix it. */
static void print_self(const struct graph_page *l, const sennit_wait_edge *edge,
		       const char *who)
{
	const sennit_report_entry *w = edge->waiter;
	const char                *kind = sn_report_waits[w->waits_for];

	os_print_line(l->lines,
		      "deadlock of a fiber with itself:\n"
		      "  %s: waits for %s %#" PRIxPTR "\n",
		      who, kind, (uintptr_t)w->object);
	if (w->inside)
		os_print_line(
			l->lines,
			"  which is held by the task on whose stack it runs: "
			"that waits for it, as the opener of group %#" PRIxPTR
			" or for a task that it spawned, and goes on only "
			"after it. Unlock the %s before that wait\n",
			(uintptr_t)w->inside, kind);
	else if (edge->relation == SENNIT_WAIT_READER)
		os_print_line(
			l->lines,
			"  which it holds as a reader itself. A read lock "
			"cannot be upgraded, and a second one waits for a "
			"writer that came in between: unlock it first\n");
	else
		os_print_line(l->lines,
			      "  which it holds itself: unlock it first\n");
}

/* Print advice after the edges of the last deadlock. */
static void print_advice(struct graph_page *l)
{
	if (l->members)
		os_print_line(
			l->lines,
			"  one of them waits for the members of its group, "
			"and the circle is closed by what it holds: unlock "
			"that before sennit_group_wait()\n");
	l->members = false;
}

static const char *relation_of(const sennit_wait_edge *edge)
{
	if (edge->relation == SENNIT_WAIT_MEMBER)
		return "with the member";
	return edge->relation == SENNIT_WAIT_READER ? "held by the reader"
						    : "held by";
}

static void print_edge(void *context, const sennit_wait_edge *edge)
{
	struct graph_page         *l = context;
	const sennit_report_entry *w = edge->waiter;
	char                       waiter[FIBER_SIZE];
	char holder[FIBER_SIZE] = "a thread that is not bound";

	print_party(waiter, edge->waiter_scheduler, w);
	if (edge->cycle != l->cycle)
		print_advice(l);
	if (edge->length == 1) {
		print_self(l, edge, waiter);
		l->cycle = edge->cycle;
		return;
	}
	if (edge->cycle && edge->cycle != l->cycle)
		os_print_line(l->lines, "deadlock of %u fibers:\n",
			      edge->length);
	l->cycle = edge->cycle;
	l->members |= edge->cycle && edge->relation == SENNIT_WAIT_MEMBER;
	if (edge->holder)
		print_party(holder, edge->holder_scheduler, edge->holder);
	os_print_line(l->lines, "%s%s: waits for %s %#" PRIxPTR ", %s %s\n",
		      edge->cycle ? "  " : "", waiter,
		      sn_report_waits[w->waits_for], (uintptr_t)w->object,
		      relation_of(edge), holder);
}

void sn_report_print_graph(sennit_scheduler *s, struct os_lines *lines)
{
	struct graph_page l = { .lines = lines };

	if (sennit_wait_graph_visit(s, print_edge, &l))
		os_print_line(lines, "no memory for the wait-for graph\n");
	print_advice(&l);
}

/* --- the text ------------------------------------------------------------- */

/* Print the fibers. Returns whether there are fibers, and neither one of them
 * nor a worker could wake another. The entries were read one after the other,
 * so they were true at the same time only if nothing changed meanwhile. */
static bool print_fibers(sennit_scheduler *s, struct os_lines *lines)
{
	struct report_page p = { .scheduler = s->name, .lines = lines };
	const uint64_t     version = sn_report_version(s);

	p.hopeless = !sn_end_check_sees_active(s);
	sennit_report_visit(s, print_entry, &p);
	print_limit(s, lines);
	print_waiting_calls(s, lines);
	if (!p.entries)
		os_print_line(lines, "nothing runs or waits\n");
	return p.entries && p.hopeless && !sn_end_check_sees_active(s) &&
	       sn_report_version(s) == version;
}

void sn_report_print_fibers(sennit_scheduler *s, struct os_lines *lines)
{
	(void)print_fibers(s, lines);
}

int sennit_report_print(sennit_scheduler *s, int fd)
{
	struct os_lines lines = { .fd = fd };
	const bool      hopeless = print_fibers(s, &lines);

	sn_report_print_graph(s, &lines);
	if (hopeless)
		os_print_line(&lines, "nothing in the scheduler can wake any "
				      "of them\n");
	return lines.error;
}
