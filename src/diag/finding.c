/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - what a watchdog writes: who it is about, what each does, and
 * where. */
#include "base/compiler.h"
#include "base/text.h"
#include "diag/fibers.h"
#include "diag/stacks.h"
#include "diag/watchdog.h"
#include "sennit/symbol.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

/* Fibers of which a finding has the stack. */
enum { PARTIES = 16 };

/* Frames of each, and bytes of their names. */
enum { FRAMES = 24, TRACE = 1024 };

#define SYMBOL 128u

struct text {
	size_t used;
	size_t room;
	char  *at;
};

struct party {
	sennit_report_entry entry; /* its name is `name` */
	char                name[SENNIT_NAME_SIZE];
	char                activity[64]; /* of a running task */
	char                trace[TRACE]; /* "": none */
};

/* What is being written, on its own memory: threads of small stacks may
 * watch. */
struct finding {
	struct text  text;
	uint32_t     count;
	struct party parties[PARTIES];
	char         bytes[SENNIT_WATCHDOG_TEXT];
};

/* --- text --------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(struct text *t,
							 const char  *format,
							 ...)
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
	char function[SYMBOL];

	sennit_symbol_print(address, function, sizeof(function));
	append(t, "%s", function);
}

static void append_name(struct text *t, const char *name)
{
	char escaped[4 * SENNIT_NAME_SIZE];

	sn_escape(escaped, sizeof(escaped), name);
	append(t, "%s", escaped);
}

/* Who it is: its place, its number and its task. */
static void append_party(struct text *t, const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		append(t, "thread %u, bound", e->thread);
	else
		append(t, "worker %u, thread %u", e->worker, e->thread);
	append(t, ", fiber %u: ", e->fiber);
	if (e->name) {
		append_name(t, e->name);
		append(t, " (");
	}
	if (e->task)
		append_function(t, (const void *)(uintptr_t)e->task);
	else
		append(t, "its own stack");
	if (e->name)
		append(t, ")");
}

static void append_wait(struct text *t, const sennit_report_entry *e)
{
	const struct sennit_debug_descriptor *d = &sennit_debug_descriptor;

	append(t, "%s",
	       e->waits_for < d->waits_count ? d->waits[e->waits_for]
					     : "unknown");
	if (e->waits_for == SENNIT_WAITS_FOR_CALL) {
		append(t, " of ");
		append_function(t, e->object);
	} else if (e->waits_for == SENNIT_WAITS_FOR_IO) {
		append(t, " %d", (int)(intptr_t)e->object);
	} else if (e->object) {
		append(t, " %#" PRIxPTR, (uintptr_t)e->object);
	}
}

/* --- where threads are -------------------------------------------------- */

/* The kernel's number of a thread's clock of the CPU that it uses:
 * pthread_getcpuclockid() makes it from a pthread_t. */
uint64_t sn_finding_cpu(uint32_t thread)
{
	const clockid_t clock = (clockid_t)(~thread << 3 | 6);
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

/* Calls that block for long; not all processors have the older ones. */
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
			append(t, "is in system call %s", calls[i].name);
			return;
		}
	append(t, "is in system call %ld", number);
}

/* What a running task does. A thread that uses the CPU may be in a system call
 * for a moment. */
static void append_activity(struct text *t, uint32_t thread, uint32_t cpu)
{
	const long call = cpu < 50 ? sn_thread_system_call(thread) : -1;

	if (call >= 0)
		append_call(t, call);
	else
		append(t, "runs");
	append(t, ", with %u %% of a CPU", cpu);
}

/* --- stacks ------------------------------------------------------------- */

/* Whether both are about the same wait, or the same running task. */
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

	for (uint32_t i = 0; i < stack->count && i < FRAMES; i++) {
		/* A return address may be the first byte of the next
		 * function. */
		const char *at = stack->frames[i];
		const bool  is_call = sn_stacks_is_call(stack->source,
							stack->call_count, i);

		append(&t, i ? " < " : ": ");
		append_function(&t, is_call ? at - 1 : at);
	}
}

/* If the fiber has gone on since, its stack says nothing. */
static void add_stack(void *context, const sennit_stack *stack)
{
	struct finding *f = context;

	for (uint32_t i = 0; i < f->count; i++)
		if (is_same(stack->fiber, &f->parties[i].entry))
			trace(f->parties[i].trace, stack);
}

/* A finding without backtraces is better than none. */
static void add_stacks(struct finding *f, sennit_scheduler *s)
{
	const struct stacks_visitor by = { .visit = add_stack, .wants = wants };

	(void)!sn_stacks_visit(s, &by, f);
}

/* --- findings ----------------------------------------------------------- */

static struct finding *begin(void)
{
	struct finding *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	/* Room for what says that it was cut, and a newline. */
	f->text = (struct text){ .room = sizeof(f->bytes) - 8, .at = f->bytes };
	append(&f->text, "sennit watchdog: ");
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

static void end(struct finding *f, const sennit_watchdog_options *o)
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
	const uint64_t ms = (s->now - n->first) / SENNIT_MILLISECOND;
	uint32_t       others = 0;

	switch (n->kind) {
	case SUSPECT_TASK:
		append(t, " runs for %" PRIu64 " ms while others are ready",
		       ms);
		break;
	case SUSPECT_READY:
		append(t,
		       n->entry.state == SENNIT_REPORT_BLOCKED
			       ? " is overdue for %" PRIu64 " ms"
			       : " is ready for %" PRIu64 " ms",
		       ms);
		break;
	default:
		append(t, " waits for %" PRIu64 " ms for ", ms);
		append_wait(t, &n->entry);
		others = count_alike(s, n);
		if (others)
			append(t, ", as %u others do", others);
	}
}

struct holder_search {
	struct finding *finding;
	bool            found, outside; /* it has a holder; that is no fiber */
};

/* The first holder of the wait of the first party. */
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
	append(&f->text, "\n  it waits for ");
	if (h->outside) {
		append(&f->text, "a thread that is not bound");
		return;
	}
	append_party(&f->text, &p->entry);
	if (p->entry.state == SENNIT_REPORT_BLOCKED) {
		append(&f->text, ", which waits for ");
		append_wait(&f->text, &p->entry);
	} else {
		append(&f->text, p->entry.state == SENNIT_REPORT_READY
					 ? ", which is ready"
					 : ", which runs");
	}
	append(&f->text, "%s", p->trace);
}

void sn_finding_write_suspect(sennit_scheduler      *scheduler,
			      const struct suspects *s, const struct suspect *n)
{
	struct finding      *f = begin();
	struct holder_search h = { .finding = f };

	if (!f)
		return;
	(void)add_party(f, &n->entry);
	if (n->kind == SUSPECT_WAIT)
		(void)!sennit_scheduler_wait_graph(scheduler, add_holder, &h);
	/* The holder may be in another scheduler. */
	add_stacks(f, f->count > 1 ? NULL : scheduler);
	append_party(&f->text, &n->entry);
	append_reason(&f->text, s, n);
	append(&f->text, "%s", f->parties[0].trace);
	append_holder(f, &h);
	end(f, s->options);
}

/* --- standstill --------------------------------------------------------- */

/* What its thread did since it was seen first. */
static void describe(struct party *p, const struct suspect *n)
{
	const uint64_t cpu = sn_finding_cpu(n->entry.thread);
	const uint64_t spent = sennit_now() - n->first;
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

/* A signal finds the stacks. It ends some system calls, so the activities are
 * asked for first. */
static void add_stuck(struct finding *f, const struct suspects *s,
		      sennit_scheduler *scheduler)
{
	const struct suspect *n;
	struct party         *p;
	uint32_t              at = 0;

	while ((n = sn_suspects_stuck(s, &at)) && (p = add_party(f, &n->entry)))
		describe(p, n);
	add_stacks(f, scheduler);
	qsort(f->parties, f->count, sizeof(f->parties[0]), by_worker);
	for (uint32_t i = 0; i < f->count; i++) /* they have moved */
		if (f->parties[i].entry.name)
			f->parties[i].entry.name = f->parties[i].name;
}

void sn_finding_write_standstill(sennit_scheduler      *scheduler,
				 const struct suspects *s, uint32_t workers)
{
	struct finding *f = begin();
	struct text    *t;

	if (!f)
		return;
	t = &f->text;
	add_stuck(f, s, scheduler);
	append(t,
	       "standstill: each of the %u workers is in one task for %u ms or "
	       "more; %u fibers wait, %u are ready, %u tasks are queued",
	       workers, s->options->standstill_ms, s->waiting, s->ready,
	       s->queued);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct party *p = &f->parties[i];

		append(t, "\n  ");
		append_party(t, &p->entry);
		append(t, " %s%s", p->activity, p->trace);
	}
	if (workers > f->count)
		append(t, "\n  and %u more", workers - f->count);
	end(f, s->options);
}

void sn_finding_write_stuck_calls(const struct suspects *s,
				  const sennit_stats    *stats)
{
	struct finding *f = begin();

	if (!f)
		return;
	append(&f->text,
	       "standstill: blocking calls that wait: %" PRIu64 "; each of the "
	       "%" PRIu64 " threads is in a call, and none has ended for "
	       "%" PRIu64 " ms (sennit_config.max_blocking_threads)",
	       stats->blocking_waiting, stats->blocking_threads,
	       stats->blocking_stuck);
	end(f, s->options);
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
	append(t, "\n  ");
	append_name(t, e->scheduler);
	append(t, " ");
	append_party(t, &e->waiter);
	append(t, " waits for ");
	append_wait(t, &e->waiter);
	append(t, ", %s ", relation_of(e));
	if (next == e)
		append(t, e->waiter.inside ? "the task on whose stack it runs, "
					     "which waits for it"
					   : "itself");
	else if (next)
		append(t, "fiber %u of thread %u", next->waiter.fiber,
		       next->waiter.thread);
	else
		append(t, "the next");
	append(t, "%s", p->trace);
}

void sn_finding_write_deadlock(const sennit_watchdog_options *options,
			       const struct finding_edge *edges, uint32_t count,
			       sennit_time lasted)
{
	const uint32_t  kept = count < FINDING_EDGES ? count : FINDING_EDGES;
	struct finding *f = begin();

	if (!f)
		return;
	for (uint32_t i = 0; i < kept; i++)
		(void)add_party(f, &edges[i].waiter);
	add_stacks(f, NULL);
	append(&f->text, "deadlock of %u fibers for %" PRIu64 " ms", count,
	       lasted / SENNIT_MILLISECOND);
	for (uint32_t i = 0; i < kept; i++)
		append_edge(&f->text, &edges[i],
			    i + 1 < kept   ? &edges[i + 1]
			    : count > kept ? NULL
					   : &edges[0],
			    &f->parties[i]);
	if (count > kept)
		append(&f->text, "\n  and %u more", count - kept);
	end(f, options);
}
