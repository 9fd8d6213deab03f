/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/watchdog.h"

#include "base/compiler.h"
#include "base/text.h"
#include "sennit/end.h"
#include "sennit/stacks.h"
#include "sennit/symbol.h"
#include "sennit/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks in each limit. */
#define LOOKS 4

struct sennit_watchdog {
	sennit_scheduler       *scheduler; /* a reference; NULL: see weak */
	sennit_weak            *weak; /* fixed: ends with the scheduler, and on
				       * its own thread; NULL: does not */
	sennit_watchdog_options options; /* fixed */
	sennit_time             pause;   /* fixed: between two looks */
	pid_t                   process;
	pthread_t               thread;
	pthread_mutex_t         lock;
	pthread_cond_t          stop;     /* with lock */
	bool                    stopped;  /* under lock */
	struct suspects         suspects; /* its thread's */
};

static void destroy(sennit_watchdog *w)
{
	pthread_cond_destroy(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void add(void *context, const sennit_report_entry *e)
{
	sn_suspects_add(context, e);
}

static void look(sennit_watchdog *w, sennit_scheduler *s)
{
	const struct suspect *n;

	sn_suspects_begin(&w->suspects, sennit_now());
	sennit_scheduler_report(s, add, &w->suspects);
	while ((n = sn_suspects_next(&w->suspects)))
		sn_watchdog_line_write(s, &w->options, n,
				       w->suspects.now - n->first);
}

/* Returns false when it must stop. */
static bool pause_until(sennit_watchdog *w, sennit_time end)
{
	const struct timespec at = {
		.tv_sec = (time_t)(end / SENNIT_SECOND),
		.tv_nsec = (long)(end % SENNIT_SECOND),
	};
	int  err = 0;
	bool stopped;

	pthread_mutex_lock(&w->lock);
	while (!w->stopped && !err)
		err = pthread_cond_timedwait(&w->stop, &w->lock, &at);
	stopped = w->stopped;
	pthread_mutex_unlock(&w->lock);
	return !stopped;
}

static void *watch(void *watchdog)
{
	sennit_watchdog *w = watchdog;

	pthread_setname_np(pthread_self(), "sn-watchdog");
	while (pause_until(w, sennit_after(w->pause)))
		look(w, w->scheduler);
	return NULL;
}

/* The scheduler ends as if nobody watched it: a reference is held only during a
 * look. */
static void *follow(void *watchdog)
{
	sennit_watchdog  *w = watchdog;
	sennit_scheduler *s;

	pthread_setname_np(pthread_self(), "sn-watchdog");
	pthread_detach(pthread_self());
	while (pause_until(w, sennit_after(w->pause)) &&
	       !sennit_weak_lock(w->weak, &s)) {
		look(w, s);
		sennit_scheduler_release(s);
	}
	sennit_weak_release(w->weak);
	destroy(w);
	return NULL;
}

/* --- starting and stopping ---------------------------------------------- */

static sennit_time choose_pause(const sennit_watchdog_options *o)
{
	const uint32_t limits[] = { o->task_ms, o->ready_ms, o->call_ms };
	uint32_t       least = UINT32_MAX;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i] && limits[i] < least)
			least = limits[i];
	return least * SENNIT_MILLISECOND / LOOKS;
}

static void init_waiting(sennit_watchdog *w)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->stop, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* The program's signals are not for this thread. */
static int start_thread(pthread_t *out, sennit_watchdog *w,
			void *(*run)(void *))
{
	sigset_t all, old;
	int      err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(out, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static sennit_watchdog *make(const sennit_watchdog_options *options)
{
	sennit_watchdog *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->options = *options;
	w->pause = choose_pause(options);
	w->process = getpid();
	sn_suspects_init(&w->suspects, options);
	init_waiting(w);
	return w;
}

int sennit_watchdog_start(sennit_watchdog **out, sennit_scheduler *s,
			  const sennit_watchdog_options *options)
{
	sennit_watchdog *w;
	int              err;

	if (!options->task_ms && !options->ready_ms && !options->call_ms)
		return -EINVAL;
	w = make(options);
	if (!w)
		return -ENOMEM;
	w->scheduler = s;
	sennit_scheduler_retain(s);
	err = start_thread(&w->thread, w, watch);
	if (err) {
		sennit_scheduler_release(s);
		destroy(w);
		return err;
	}
	*out = w;
	return 0;
}

int sn_watchdog_follow(sennit_scheduler *s, uint32_t ms)
{
	sennit_watchdog *w = make(&(sennit_watchdog_options){
		.task_ms = ms, .ready_ms = ms, .fd = STDERR_FILENO });
	pthread_t        thread;
	int              err;

	if (!w)
		return -ENOMEM;
	w->weak = sennit_scheduler_weak(s);
	err = start_thread(&thread, w, follow);
	if (err) {
		sennit_weak_release(w->weak);
		destroy(w);
		return err;
	}
	return 0;
}

void sennit_watchdog_stop(sennit_watchdog *w)
{
	if (w->process != getpid()) {
		free(w);
		return;
	}
	pthread_mutex_lock(&w->lock);
	w->stopped = true;
	pthread_cond_signal(&w->stop);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	sennit_scheduler_release(w->scheduler);
	destroy(w);
}

/* --- suspects ------------------------------------------------------------- */

_Static_assert(SUSPECT_MAX <= SUSPECT_SLOTS / 2, "searches stay short");

/* --- the tables --------------------------------------------------------- */

static bool is_suspect(const struct suspect *n, enum suspect_kind kind,
		       const sennit_report_entry *e)
{
	return n->kind == kind && n->entry.thread == e->thread &&
	       n->entry.fiber == e->fiber && n->entry.turn == e->turn;
}

/* The slot of such a suspect, or the free one where it belongs. */
static struct suspect *slot_of(struct suspect_table *t, enum suspect_kind kind,
			       const sennit_report_entry *e)
{
	uint32_t at = (e->thread * 31 + e->fiber * 4 + kind) * 0x9e3779b9u >> 8;

	for (;; at++) {
		struct suspect *n = &t->slots[at % SUSPECT_SLOTS];

		if (!n->used || is_suspect(n, kind, e))
			return n;
	}
}

static void keep(struct suspects *s, enum suspect_kind kind,
		 const sennit_report_entry *e)
{
	const struct suspect *old = slot_of(s->before, kind, e);
	struct suspect       *n = slot_of(s->current, kind, e);

	if (n->used || s->current->count == SUSPECT_MAX)
		return;
	s->current->count++;
	if (old->used) {
		*n = *old;
	} else {
		n->used = true;
		n->kind = kind;
		n->first = s->now;
		n->entry = *e;
		if (e->name)
			strncpy(n->name, e->name, sizeof(n->name) - 1);
	}
	n->entry.name = e->name ? n->name : NULL;
}

/* --- a look ------------------------------------------------------------- */

void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options)
{
	s->limits[SUSPECT_TASK] = options->task_ms * SENNIT_MILLISECOND;
	s->limits[SUSPECT_READY] = options->ready_ms * SENNIT_MILLISECOND;
	s->limits[SUSPECT_CALL] = options->call_ms * SENNIT_MILLISECOND;
	s->current = &s->tables[0];
	s->before = &s->tables[1];
}

void sn_suspects_begin(struct suspects *s, sennit_time now)
{
	struct suspect_table *t = s->before;

	s->before = s->current;
	s->current = t;
	if (t->count)
		memset(t, 0, sizeof(*t));
	s->now = now;
	s->at = 0;
}

/* What runs on `thread` keeps other work waiting. */
static void keep_work(struct suspects *s, uint32_t thread)
{
	const sennit_report_entry work = { .thread = thread };

	if (s->limits[SUSPECT_TASK])
		keep(s, SUSPECT_WORK, &work);
}

/* Its worker has not looked at its timers since the deadline. It only lacks a
 * turn, as a ready fiber does. */
static bool is_overdue(const struct suspects *s, const sennit_report_entry *e)
{
	return e->state == SENNIT_REPORT_BLOCKED && e->deadline &&
	       e->deadline < s->now;
}

void sn_suspects_add(struct suspects *s, const sennit_report_entry *e)
{
	const bool is_call = e->state == SENNIT_REPORT_BLOCKED &&
			     e->waits_for == SENNIT_WAITS_FOR_CALL;
	const bool is_ready = e->state == SENNIT_REPORT_READY ||
			      is_overdue(s, e);

	if (is_ready || e->state == SENNIT_REPORT_QUEUED)
		keep_work(s, e->thread);
	/* Without a task it is a bound thread that may be anywhere. */
	if (e->state == SENNIT_REPORT_RUNNING && e->task &&
	    s->limits[SUSPECT_TASK])
		keep(s, SUSPECT_TASK, e);
	else if (is_ready && s->limits[SUSPECT_READY])
		keep(s, SUSPECT_READY, e);
	else if (is_call && s->limits[SUSPECT_CALL])
		keep(s, SUSPECT_CALL, e);
}

/* --- lines -------------------------------------------------------------- */

static bool is_due(struct suspects *s, const struct suspect *n)
{
	const sennit_report_entry work = { .thread = n->entry.thread };

	if (!n->used || n->told || n->kind == SUSPECT_WORK ||
	    s->now - n->first < s->limits[n->kind])
		return false;
	return n->kind != SUSPECT_TASK ||
	       slot_of(s->current, SUSPECT_WORK, &work)->used;
}

/* The oldest of the last lines must be out of the window. */
static bool may_write(const struct suspects *s)
{
	const sennit_time oldest = s->lines[s->line];

	return !oldest || s->now - oldest >= SENNIT_WATCHDOG_WINDOW;
}

const struct suspect *sn_suspects_next(struct suspects *s)
{
	for (; s->at < SUSPECT_SLOTS && may_write(s); s->at++) {
		struct suspect *n = &s->current->slots[s->at];

		if (!is_due(s, n))
			continue;
		n->told = true;
		s->lines[s->line] = s->now;
		s->line = (s->line + 1) % SENNIT_WATCHDOG_LINES;
		return n;
	}
	return NULL;
}

/* --- watchdog line -------------------------------------------------------- */

struct line {
	size_t used;
	char   text[2048];
};

__attribute__((format(printf, 2, 3))) static void append(struct line *l,
							 const char  *format,
							 ...)
{
	const size_t room = sizeof(l->text) - l->used;
	va_list      arguments;
	int          n;

	va_start(arguments, format);
	n = vsnprintf(l->text + l->used, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		l->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_function(struct line *l, const void *address)
{
	char function[128];

	sennit_symbol_print(address, function, sizeof(function));
	append(l, "%s", function);
}

static void add_place(struct line *l, const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		append(l, "thread %u, bound", e->thread);
	else
		append(l, "worker %u, thread %u", e->worker, e->thread);
	append(l, ", fiber %u: ", e->fiber);
}

static void add_task(struct line *l, const sennit_report_entry *e)
{
	char name[4 * SENNIT_NAME_SIZE];

	if (e->name) {
		sn_escape(name, sizeof(name), e->name);
		append(l, "%s (", name);
	}
	if (e->task)
		add_function(l, (const void *)(uintptr_t)e->task);
	else
		append(l, "its own stack");
	if (e->name)
		append(l, ")");
}

static void add_reason(struct line *l, const struct suspect *n,
		       sennit_time lasted)
{
	const uint64_t ms = lasted / SENNIT_MILLISECOND;

	switch (n->kind) {
	case SUSPECT_TASK:
		append(l, " runs for %" PRIu64 " ms while others are ready",
		       ms);
		break;
	case SUSPECT_READY:
		append(l,
		       n->entry.state == SENNIT_REPORT_BLOCKED
			       ? " is overdue for %" PRIu64 " ms"
			       : " is ready for %" PRIu64 " ms",
		       ms);
		break;
	default:
		append(l, " waits for %" PRIu64 " ms for a blocking call of ",
		       ms);
		add_function(l, n->entry.object);
	}
}

/* --- the backtrace ------------------------------------------------------ */

/* Frames shown at most. */
#define FRAMES 24

struct trace {
	struct line          *line;
	const struct suspect *suspect;
};

/* Whether both are about the same wait, or the same running task. */
static bool is_same(const sennit_report_entry *a, const sennit_report_entry *b)
{
	return a->thread == b->thread && a->fiber == b->fiber &&
	       a->task == b->task && a->state == b->state &&
	       (a->state == SENNIT_REPORT_RUNNING || a->since == b->since);
}

/* If the fiber has gone on since, its stack says nothing. */
static void add_frames(void *context, const sennit_stack *stack)
{
	const struct trace *t = context;

	if (!is_same(stack->fiber, &t->suspect->entry))
		return;
	for (uint32_t i = 0; i < stack->count && i < FRAMES; i++) {
		/* A return address may be the first byte of the next
		 * function. */
		const char *at = stack->frames[i];
		const bool  is_exact = !i &&
				      stack->source == SENNIT_STACK_SAMPLED;

		append(t->line, i ? " < " : ": ");
		add_function(t->line, is_exact ? at : at - 1);
	}
}

static void add_trace(struct line *l, sennit_scheduler *s,
		      const struct suspect *n)
{
	struct trace t = { l, n };

	/* A line without a backtrace is better than none. */
	(void)!sennit_stacks_visit(s, add_frames, &t);
}

/* --- the line ----------------------------------------------------------- */

void sn_watchdog_line_write(sennit_scheduler              *s,
			    const sennit_watchdog_options *options,
			    const struct suspect *n, sennit_time lasted)
{
	struct line l = { .used = 0 };

	append(&l, "sennit watchdog: ");
	add_place(&l, &n->entry);
	add_task(&l, &n->entry);
	add_reason(&l, n, lasted);
	add_trace(&l, s, n);
	if (options->line) {
		options->line(options->context, l.text);
		return;
	}
	l.used = l.used < sizeof(l.text) - 1 ? l.used : sizeof(l.text) - 2;
	l.text[l.used] = '\n';
	(void)sn_write_all(options->fd, l.text, l.used + 1);
}
