/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - writes the findings of a watchdog: which tasks they are about,
 * what each does, and where. */
#include "base/compiler.h"
#include "base/text.h"
#include "fibers.h"
#include "stacks.h"
#include "watchdog.h"
#include "sennit/symbol.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

/* The maximum number of fibers of which a finding has the stack. */
enum { PARTIES = 16 };

/* The maximum number of frames of each, and of bytes of their names. */
enum { FINDING_FRAMES = 24, TRACE = 1024 };

#define FINDING_SYMBOL 128u

struct text {
	size_t used;
	size_t room;
	char  *at;
};

struct party {
	sennit_report_entry entry; /* entry.name points to `name` */
	char                name[SENNIT_TASK_NAME_SIZE];
	char                activity[64]; /* what a running task does */
	char                trace[TRACE]; /* "": none */
};

/* The finding that is being written. It is allocated, because watchdogs may run
 * on threads with small stacks. */
struct finding {
	struct text  text;
	uint32_t     count;
	struct party parties[PARTIES];
	char         bytes[SENNIT_WATCHDOG_TEXT];
};

/* --- text --------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append_text(
	struct text *t, const char *format, ...)
{
	const size_t room = t->room - t->used;
	va_list      arguments;
	int          n;

	va_start(arguments, format);
	n = vsnprintf(t->at + t->used, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		t->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void append_function(struct text *t, const void *address)
{
	char function[FINDING_SYMBOL];

	sennit_symbol_print(address, function, sizeof(function));
	append_text(t, "%s", function);
}

static void append_name(struct text *t, const char *name)
{
	char escaped[4 * SENNIT_TASK_NAME_SIZE];

	sn_escape(escaped, sizeof(escaped), name);
	append_text(t, "%s", escaped);
}

/* Append the place, the number and the task of a fiber. */
static void append_party(struct text *t, const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		append_text(t, "thread %u, bound", e->thread);
	else
		append_text(t, "worker %u, thread %u", e->worker, e->thread);
	append_text(t, ", fiber %u: ", e->fiber);
	if (e->name) {
		append_name(t, e->name);
		append_text(t, " (");
	}
	if (e->task)
		append_function(t, (const void *)(uintptr_t)e->task);
	else
		append_text(t, "its own stack");
	if (e->name)
		append_text(t, ")");
}

static void append_wait(struct text *t, const sennit_report_entry *e)
{
	const struct sennit_debug_descriptor *d = &sennit_debug_descriptor;

	append_text(t, "%s",
		    e->waits_for < d->waits_count ? d->waits[e->waits_for]
						  : "unknown");
	if (e->waits_for == SENNIT_WAITS_FOR_CALL) {
		append_text(t, " of ");
		append_function(t, e->object);
	} else if (e->waits_for == SENNIT_WAITS_FOR_IO) {
		append_text(t, " %d", (int)(intptr_t)e->object);
	} else if (e->object) {
		append_text(t, " %#" PRIxPTR, (uintptr_t)e->object);
	}
}

/* --- where threads are -------------------------------------------------- */

/* Return the clock of the CPU time of a thread, by its TID. It has the number
 * that pthread_getcpuclockid() makes from a pthread_t. */
uint64_t sn_finding_cpu(uint32_t thread)
{
	const clockid_t clock = (clockid_t)(~thread << 3 | 6);
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

/* System calls that block for long. Not all processors have the older ones. */
static const struct {
	long        number;
	const char *name;
} calls[] = {
	{ SYS_read, "read" },
	{ SYS_readv, "readv" },
	{ SYS_write, "write" },
	{ SYS_writev, "writev" },
	{ SYS_pread64, "pread" },
	{ SYS_pwrite64, "pwrite" },
#ifdef SYS_accept
	{ SYS_accept, "accept" },
#endif
#ifdef SYS_poll
	{ SYS_poll, "poll" },
#endif
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, "epoll_wait" },
#endif
	{ SYS_accept4, "accept4" },
	{ SYS_connect, "connect" },
	{ SYS_recvfrom, "recv" },
	{ SYS_recvmsg, "recvmsg" },
	{ SYS_sendto, "send" },
	{ SYS_sendmsg, "sendmsg" },
	{ SYS_ppoll, "ppoll" },
	{ SYS_pselect6, "select" },
	{ SYS_epoll_pwait, "epoll_pwait" },
	{ SYS_futex, "futex" },
	{ SYS_nanosleep, "nanosleep" },
	{ SYS_clock_nanosleep, "clock_nanosleep" },
	{ SYS_wait4, "wait4" },
	{ SYS_waitid, "waitid" },
	{ SYS_rt_sigtimedwait, "sigtimedwait" },
	{ SYS_rt_sigsuspend, "sigsuspend" },
	{ SYS_flock, "flock" },
	{ SYS_fcntl, "fcntl" },
	{ SYS_ioctl, "ioctl" },
	{ SYS_openat, "openat" },
	{ SYS_fsync, "fsync" },
	{ SYS_fdatasync, "fdatasync" },
};

static void append_call(struct text *t, long number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number) {
			append_text(t, "is in system call %s", calls[i].name);
			return;
		}
	append_text(t, "is in system call %ld", number);
}

/* Append what a running task does. A thread that uses the CPU may be in a
 * system call only for a moment, so the call is ignored then. */
static void append_activity(struct text *t, uint32_t thread, uint32_t cpu)
{
	const long call = cpu < 50 ? sn_thread_system_call(thread) : -1;

	if (call >= 0)
		append_call(t, call);
	else
		append_text(t, "runs");
	append_text(t, ", with %u %% of a CPU", cpu);
}

/* --- stacks ------------------------------------------------------------- */

/* Report whether both are the same wait, or the same running task. */
static bool is_same(const sennit_report_entry *a, const sennit_report_entry *b)
{
	return a->thread == b->thread && a->fiber == b->fiber &&
	       a->task == b->task && a->state == b->state &&
	       (a->state == SENNIT_REPORT_RUNNING || a->since == b->since);
}

static bool wants(void *context, uint32_t thread, uint32_t fiber)
{
	const struct finding *f = context;

	for (uint32_t i = 0; i < f->count; i++)
		if (f->parties[i].entry.thread == thread &&
		    f->parties[i].entry.fiber == fiber)
			return true;
	return false;
}

static void trace(char text[TRACE], const sennit_stack *stack)
{
	struct text t = { .room = TRACE, .at = text };

	for (uint32_t i = 0; i < stack->count && i < FINDING_FRAMES; i++) {
		/* A return address may be the first byte of the next
		 * function. */
		const char *at = stack->frames[i];
		const bool  is_call = sn_stacks_is_call(stack->source,
							stack->call_count, i);

		append_text(&t, i ? " < " : ": ");
		append_function(&t, is_call ? at - 1 : at);
	}
}

/* Add the stack, unless the fiber has moved on since the report. */
static void add_stack(void *context, const sennit_stack *stack)
{
	struct finding *f = context;

	for (uint32_t i = 0; i < f->count; i++)
		if (is_same(stack->fiber, &f->parties[i].entry))
			trace(f->parties[i].trace, stack);
}

/* Add the stacks of the parties. On error the finding is written without
 * them. */
static void add_stacks(struct finding *f, sennit_scheduler *s)
{
	const struct stacks_visitor by = { .visit = add_stack, .wants = wants };

	(void)!sn_stacks_visit(s, &by, f);
}

/* --- findings ----------------------------------------------------------- */

static struct finding *begin_finding(void)
{
	struct finding *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	/* Leave room for the mark of a cut text, and a newline. */
	f->text = (struct text){ .room = sizeof(f->bytes) - 8, .at = f->bytes };
	append_text(&f->text, "sennit watchdog: ");
	return f;
}

static struct party *add_party(struct finding *f, const sennit_report_entry *e)
{
	struct party *p;

	if (f->count == PARTIES)
		return NULL;
	p = &f->parties[f->count++];
	p->entry = *e;
	if (e->name)
		strncpy(p->name, e->name, sizeof(p->name) - 1);
	p->entry.name = e->name ? p->name : NULL;
	return p;
}

static void end_finding(struct finding *f, const sennit_watchdog_options *o)
{
	struct text *t = &f->text;

	if (t->used == t->room - 1) {
		memcpy(t->at + t->used, " ...", 5);
		t->used += 4;
	}
	if (o->line) {
		o->line(o->context, t->at);
	} else {
		t->at[t->used] = '\n';
		(void)sn_write_all(o->fd, t->at, t->used + 1);
	}
	free(f);
}

/* --- one fiber ---------------------------------------------------------- */

static uint32_t count_alike(const struct suspects *s, const struct suspect *n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SUSPECT_SLOTS; i++)
		count += sn_suspects_is_alike(s, n, &s->current->slots[i]);
	return count;
}

static void append_reason(struct text *t, const struct suspects *s,
			  const struct suspect *n)
{
	const uint64_t ms = (s->clock - n->first) / SENNIT_MILLISECOND;
	uint32_t       others = 0;

	switch (n->kind) {
	case SUSPECT_TASK:
		append_text(t,
			    " runs for %" PRIu64 " ms while others are ready",
			    ms);
		break;
	case SUSPECT_READY:
		append_text(t,
			    n->entry.state == SENNIT_REPORT_BLOCKED
				    ? " is overdue for %" PRIu64 " ms"
				    : " is ready for %" PRIu64 " ms",
			    ms);
		break;
	default:
		append_text(t, " waits for %" PRIu64 " ms for ", ms);
		append_wait(t, &n->entry);
		others = count_alike(s, n);
		if (others)
			append_text(t, ", as %u others do", others);
	}
}

struct holder_search {
	struct finding *finding;
	bool            found, outside; /* the holder was found; it is not a
					 * fiber */
};

/* Store the first holder of the wait of the first party. */
static void add_holder(void *context, const sennit_wait_edge *edge)
{
	struct holder_search      *h = context;
	const sennit_report_entry *first = &h->finding->parties[0].entry;

	if (h->found || edge->waiter->turn != first->turn ||
	    !is_same(edge->waiter, first))
		return;
	h->found = true;
	h->outside = !edge->holder;
	if (edge->holder)
		(void)add_party(h->finding, edge->holder);
}

static void append_holder(struct finding *f, const struct holder_search *h)
{
	const struct party *p = &f->parties[1];

	if (!h->found)
		return;
	append_text(&f->text, "\n  it waits for ");
	if (h->outside) {
		append_text(&f->text, "a thread that is not bound");
		return;
	}
	append_party(&f->text, &p->entry);
	if (p->entry.state == SENNIT_REPORT_BLOCKED) {
		append_text(&f->text, ", which waits for ");
		append_wait(&f->text, &p->entry);
	} else {
		append_text(&f->text, p->entry.state == SENNIT_REPORT_READY
					      ? ", which is ready"
					      : ", which runs");
	}
	append_text(&f->text, "%s", p->trace);
}

void sn_finding_write_suspect(sennit_scheduler      *scheduler,
			      const struct suspects *s, const struct suspect *n)
{
	struct finding      *f = begin_finding();
	struct holder_search h = { .finding = f };

	if (!f)
		return;
	(void)add_party(f, &n->entry);
	if (n->kind == SUSPECT_WAIT)
		(void)!sennit_wait_graph_visit(scheduler, add_holder, &h);
	/* The holder may be in another scheduler. */
	add_stacks(f, f->count > 1 ? NULL : scheduler);
	append_party(&f->text, &n->entry);
	append_reason(&f->text, s, n);
	append_text(&f->text, "%s", f->parties[0].trace);
	append_holder(f, &h);
	end_finding(f, s->options);
}

/* --- standstill --------------------------------------------------------- */

/* Describe what the suspect's thread has done since it was first seen. */
static void describe_party(struct party *p, const struct suspects *s,
			   const struct suspect *n)
{
	const uint64_t cpu = sn_finding_cpu(n->entry.thread);
	const uint64_t spent = s->clock - n->first + (sennit_now() - s->now);
	struct text    t = { .room = sizeof(p->activity), .at = p->activity };

	append_activity(&t, n->entry.thread,
			cpu > n->cpu && spent
				? (uint32_t)((cpu - n->cpu) * 100 / spent)
				: 0);
}

static int by_worker(const void *a, const void *b)
{
	const uint32_t one = ((const struct party *)a)->entry.worker;
	const uint32_t other = ((const struct party *)b)->entry.worker;

	return (one > other) - (one < other);
}

/* Add the stuck tasks. Taking the stacks sends a signal, which ends some system
 * calls, so the activities are read first. */
static void add_stuck(struct finding *f, const struct suspects *s,
		      sennit_scheduler *scheduler)
{
	const struct suspect *n;
	struct party         *p;
	uint32_t              at = 0;

	while ((n = sn_suspects_stuck(s, &at)) && (p = add_party(f, &n->entry)))
		describe_party(p, s, n);
	add_stacks(f, scheduler);
	qsort(f->parties, f->count, sizeof(f->parties[0]), by_worker);
	for (uint32_t i = 0; i < f->count; i++) /* sorting has moved the
						 * entries */
		if (f->parties[i].entry.name)
			f->parties[i].entry.name = f->parties[i].name;
}

void sn_finding_write_standstill(sennit_scheduler      *scheduler,
				 const struct suspects *s, uint32_t workers)
{
	struct finding *f = begin_finding();
	struct text    *t;

	if (!f)
		return;
	t = &f->text;
	add_stuck(f, s, scheduler);
	append_text(t,
		    "standstill: each of the %u workers is in one task for %u "
		    "ms or more; %u fibers wait, %u are ready, %u tasks are "
		    "queued",
		    workers, s->options->standstill_ms, s->waiting, s->ready,
		    s->queued);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct party *p = &f->parties[i];

		append_text(t, "\n  ");
		append_party(t, &p->entry);
		append_text(t, " %s%s", p->activity, p->trace);
	}
	if (workers > f->count)
		append_text(t, "\n  and %u more", workers - f->count);
	end_finding(f, s->options);
}

void sn_finding_write_stuck_calls(const struct suspects *s,
				  const sennit_stats    *stats)
{
	struct finding *f = begin_finding();

	if (!f)
		return;
	append_text(&f->text,
		    "standstill: blocking calls that wait: %" PRIu64
		    "; each of the %" PRIu64
		    " threads is in a call, and none has ended for %" PRIu64
		    " ms (sennit_config.max_blocking_threads)",
		    stats->blocking_waiting, stats->blocking_threads,
		    (s->clock - s->calls_first) / SENNIT_MILLISECOND);
	end_finding(f, s->options);
}

/* --- deadlocks ---------------------------------------------------------- */

static const char *relation_of(const struct finding_edge *e)
{
	if (e->relation == SENNIT_WAIT_MEMBER)
		return "whose member is";
	return e->relation == SENNIT_WAIT_READER ? "held by the reader"
						 : "held by";
}

static void append_edge(struct text *t, const struct finding_edge *e,
			const struct finding_edge *next, const struct party *p)
{
	append_text(t, "\n  ");
	append_name(t, e->scheduler);
	append_text(t, " ");
	append_party(t, &e->waiter);
	append_text(t, " waits for ");
	append_wait(t, &e->waiter);
	append_text(t, ", %s ", relation_of(e));
	if (next == e)
		append_text(t, e->waiter.inside
				       ? "the task on whose stack it runs, "
					 "which waits for it"
				       : "itself");
	else if (next)
		append_text(t, "fiber %u of thread %u", next->waiter.fiber,
			    next->waiter.thread);
	else
		append_text(t, "the next");
	append_text(t, "%s", p->trace);
}

void sn_finding_write_deadlock(const sennit_watchdog_options *options,
			       const struct finding_edge *edges, uint32_t count,
			       sennit_time lasted)
{
	const uint32_t  kept = count < FINDING_EDGES ? count : FINDING_EDGES;
	struct finding *f = begin_finding();

	if (!f)
		return;
	for (uint32_t i = 0; i < kept; i++)
		(void)add_party(f, &edges[i].waiter);
	add_stacks(f, NULL);
	append_text(&f->text, "deadlock of %u fibers for %" PRIu64 " ms", count,
		    lasted / SENNIT_MILLISECOND);
	for (uint32_t i = 0; i < kept; i++)
		append_edge(&f->text, &edges[i],
			    i + 1 < kept   ? &edges[i + 1]
			    : count > kept ? NULL
					   : &edges[0],
			    &f->parties[i]);
	if (count > kept)
		append_text(&f->text, "\n  and %u more", count - kept);
	end_finding(f, options);
}
