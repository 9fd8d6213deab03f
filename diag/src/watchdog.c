/* SPDX-License-Identifier: Apache-2.0 */
#include "watchdog.h"

#include "base/masked_thread.h"
#include "base/sized.h"

#include "sennit/detail/debugger.h"
#include "sennit/wait_graph.h"
#include "sennit/watchdog.h"
#include "sennit/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The number of looks within each limit. A look is one reading of the
 * report. */
#define LOOKS 4

/* A graph of 100,000 fibers takes a quarter of a second. After a graph, this
 * many times its CPU time passes before the next one. */
#define GRAPH_REST 20

/* For a watchdog that the environment starts: the limit of standstills,
 * deadlocks and lock waits is this many times that of tasks, and at least
 * FOLLOW_LEAST. */
#define FOLLOW_TIMES 10
#define FOLLOW_LEAST 1000

struct sennit_watchdog {
	sennit_scheduler       *scheduler; /* a reference; NULL: see number */
	uint64_t                number;  /* fixed: number of the scheduler that
					  * the watchdog follows, on a detached
					  * thread, until it ends; 0: none */
	sennit_watchdog_options options; /* fixed; owns its array `waits` */
	sennit_time             pause;   /* fixed: time between two looks */
	pid_t                   process;
	pthread_t               thread;
	pthread_mutex_t         lock;
	pthread_cond_t          stop;     /* with lock */
	bool                    stopped;  /* under lock */
	sennit_time             graph_at; /* its thread's: the earliest time of
					   * the next graph */
	sennit_time     cpu; /* its thread's: CPU time used before this look */
	struct suspects suspects; /* its thread's */
};

static void destroy(sennit_watchdog *w)
{
	pthread_cond_destroy(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free((void *)w->options.waits);
	free(w);
}

/* --- looks -------------------------------------------------------------- */

static void add_entry(void *context, const sennit_report_entry *e)
{
	sn_suspects_add(context, e);
}

static void count_worker(void *context, const sennit_worker_view *view)
{
	uint32_t *workers = context;

	*workers += view->worker != UINT32_MAX &&
		    view->state != SENNIT_WORKER_ABSENT;
}

/* A standstill means that all workers that exist after the report are stuck in
 * it. A worker that was added in between is counted here but not stuck. */
static void look_for_standstill(sennit_watchdog *w, sennit_scheduler *s)
{
	uint32_t workers = 0;

	if (!w->options.standstill_ms)
		return;
	sennit_workers_visit(s, count_worker, &workers);
	if (sn_suspects_stand_still(&w->suspects, workers))
		sn_finding_write_standstill(s, &w->suspects, workers);
}

static void look_for_stuck_calls(sennit_watchdog *w, sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	if (!w->options.standstill_ms)
		return;
	sennit_scheduler_get_stats(s, &stats);
	if (sn_suspects_calls_are_stuck(&w->suspects, &stats))
		sn_finding_write_stuck_calls(&w->suspects, &stats);
}

/* A deadlock whose edges are being visited. */
struct circle {
	sennit_watchdog    *w;
	uint32_t            count;
	struct finding_edge edges[FINDING_EDGES];
	sennit_report_entry least; /* the waiter that identifies the deadlock */
};

static bool is_before(const sennit_report_entry *a,
		      const sennit_report_entry *b)
{
	return a->thread != b->thread ? a->thread < b->thread
				      : a->fiber < b->fiber;
}

static void copy_entry_name(char name[SENNIT_TASK_NAME_SIZE], const char *from)
{
	strncpy(name, from ? from : "", SENNIT_TASK_NAME_SIZE - 1);
	name[SENNIT_TASK_NAME_SIZE - 1] = '\0';
}

static void keep_edge(struct circle *c, const sennit_wait_edge *edge)
{
	struct finding_edge *e = &c->edges[c->count++];

	e->waiter = *edge->waiter;
	e->relation = edge->relation;
	copy_entry_name(e->name, edge->waiter->name);
	copy_entry_name(e->scheduler, edge->waiter_scheduler);
	e->waiter.name = edge->waiter->name ? e->name : NULL;
}

/* Deadlocks that the watchdogs of the environment have reported. Several
 * watchdogs find a deadlock that spans several schedulers. */
static struct {
	pthread_mutex_t      lock;
	struct seen_deadlock reported[SEEN_DEADLOCKS]; /* under lock */
	uint32_t             next;                     /* under lock */
} followed = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Report whether no other watchdog has reported it. */
static bool claim_deadlock_report(const sennit_watchdog     *w,
				  const sennit_report_entry *e)
{
	bool news = true;

	if (!w->number)
		return true;
	pthread_mutex_lock(&followed.lock);
	for (uint32_t i = 0; i < SEEN_DEADLOCKS; i++)
		news &= followed.reported[i].thread != e->thread ||
			followed.reported[i].fiber != e->fiber ||
			followed.reported[i].turn != e->turn;
	if (news)
		followed.reported[followed.next++ % SEEN_DEADLOCKS] =
			(struct seen_deadlock){ .thread = e->thread,
						.fiber = e->fiber,
						.turn = e->turn };
	pthread_mutex_unlock(&followed.lock);
	return news;
}

/* Edges of one deadlock are consecutive. */
static void add_edge(void *context, const sennit_wait_edge *edge)
{
	struct circle *c = context;
	sennit_time    lasted;

	if (!edge->cycle)
		return;
	if (!c->count || is_before(edge->waiter, &c->least))
		c->least = *edge->waiter;
	if (c->count < FINDING_EDGES)
		keep_edge(c, edge);
	else
		c->count++;
	if (c->count < edge->length)
		return;
	if (sn_suspects_add_deadlock(&c->w->suspects, &c->least, &lasted) &&
	    claim_deadlock_report(c->w, &c->least))
		sn_finding_write_deadlock(&c->w->options, c->edges, c->count,
					  lasted);
	c->count = 0;
}

static sennit_time watchdog_cpu_time(void)
{
	struct timespec t = { .tv_sec = 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

static void look_for_deadlocks(sennit_watchdog *w, sennit_scheduler *s)
{
	const sennit_time begin = watchdog_cpu_time();
	struct circle    *c;

	if (w->suspects.now < w->graph_at ||
	    !sn_suspects_begin_deadlocks(&w->suspects))
		return;
	c = calloc(1, sizeof(*c));
	if (!c)
		return;
	c->w = w;
	/* On -ENOMEM the next look may find them. */
	(void)!sennit_wait_graph_visit(s, add_edge, c);
	free(c);
	w->graph_at = w->suspects.now +
		      GRAPH_REST * (watchdog_cpu_time() - begin);
}

/* Return the time that is expected to have passed since the last look. */
static sennit_time usual_time(sennit_watchdog *w)
{
	const sennit_time before = w->cpu;

	w->cpu = watchdog_cpu_time();
	return w->pause + (w->cpu - before);
}

static void watch_once(sennit_watchdog *w, sennit_scheduler *s)
{
	const struct suspect *n;

	sn_suspects_begin(&w->suspects, sennit_now(), usual_time(w));
	sennit_report_visit(s, add_entry, &w->suspects);
	look_for_standstill(w, s);
	look_for_stuck_calls(w, s);
	look_for_deadlocks(w, s);
	while ((n = sn_suspects_next(&w->suspects)))
		sn_finding_write_suspect(s, &w->suspects, n);
}

/* Returns false when the watchdog must stop. */
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
	while (pause_until(w, sennit_after(w->pause))) {
		sennit_debug_calls.look(true);
		watch_once(w, w->scheduler);
		sennit_debug_calls.look(false);
	}
	return NULL;
}

/* Returns false when the scheduler has ended. */
static bool look_if_alive(sennit_watchdog *w)
{
	sennit_scheduler *s;
	bool              is_alive;

	sennit_debug_calls.look(true); /* before there is a reference */
	s = sennit_debug_calls.find(w->number);
	is_alive = s;
	if (is_alive) {
		watch_once(w, s);
		sennit_scheduler_release(s);
	}
	sennit_debug_calls.look(false);
	return is_alive;
}

/* Watch until the scheduler ends. A reference is held only during a look, so
 * that the watchdog does not delay the end. */
static void *watch_until_end(void *watchdog)
{
	sennit_watchdog *w = watchdog;

	pthread_setname_np(pthread_self(), "sn-watchdog");
	pthread_detach(pthread_self());
	while (pause_until(w, sennit_after(w->pause)) && look_if_alive(w))
		;
	destroy(w);
	return NULL;
}

/* --- starting and stopping ---------------------------------------------- */

static void lower(uint32_t *least, uint32_t ms)
{
	if (ms && ms < *least)
		*least = ms;
}

/* Return the shortest limit in milliseconds; UINT32_MAX: there is none. */
static uint32_t shortest(const sennit_watchdog_options *o)
{
	uint32_t least = UINT32_MAX;

	lower(&least, o->task_ms);
	lower(&least, o->ready_ms);
	lower(&least, o->standstill_ms);
	lower(&least, o->deadlock_ms);
	for (uint32_t i = 0; i < o->wait_count; i++)
		lower(&least, o->waits[i].ms);
	return least;
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

#define WAIT_FIRST    SIZE_THROUGH(sennit_watchdog_wait, name)
#define OPTIONS_FIRST SIZE_THROUGH(sennit_watchdog_options, context)
ENDS_WITH(sennit_watchdog_wait, name);
ENDS_WITH(sennit_watchdog_options, context);

/* Copy the array of an older or newer caller, whose elements have another
 * size. */
static int copy_waits(sennit_watchdog_options *o)
{
	const char           *from = (const char *)o->waits;
	const size_t          step = o->wait_count ? o->waits->size : 0;
	sennit_watchdog_wait *waits = calloc(o->wait_count + 1, sizeof(*waits));
	int                   err = 0;

	if (!waits)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->wait_count && !err; i++)
		err = sn_sized_read(&waits[i], sizeof(*waits), from + i * step,
				    WAIT_FIRST);
	if (err) {
		free(waits);
		return err;
	}
	o->waits = waits;
	return 0;
}

static int make_watchdog(sennit_watchdog              **out,
			 const sennit_watchdog_options *options)
{
	sennit_watchdog *w = calloc(1, sizeof(*w));
	int              err;

	if (!w)
		return -ENOMEM;
	err = sn_sized_read(&w->options, sizeof(w->options), options,
			    OPTIONS_FIRST);
	if (!err)
		err = copy_waits(&w->options);
	if (!err && shortest(&w->options) == UINT32_MAX) {
		free((void *)w->options.waits);
		err = -EINVAL;
	}
	if (err) {
		free(w);
		return err;
	}
	if (!w->options.fd)
		w->options.fd = STDERR_FILENO;
	w->pause = shortest(&w->options) * SENNIT_MILLISECOND / LOOKS;
	w->process = getpid();
	sn_suspects_init(&w->suspects, &w->options);
	init_waiting(w);
	*out = w;
	return 0;
}

int sennit_watchdog_start(sennit_watchdog **out, sennit_scheduler *s,
			  const sennit_watchdog_options *options)
{
	sennit_watchdog *w;
	int              err;

	err = make_watchdog(&w, options);
	if (err)
		return err;
	w->scheduler = s;
	sennit_scheduler_retain(s);
	err = sn_masked_thread_start(&w->thread, NULL, watch, w);
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
	const uint32_t                longer = FOLLOW_TIMES * ms > FOLLOW_LEAST
						       ? FOLLOW_TIMES * ms
						       : FOLLOW_LEAST;
	const sennit_watchdog_wait    locks = { .size = sizeof(locks),
						.kinds = SENNIT_WATCHDOG_LOCKS,
						.ms = longer };
	const sennit_watchdog_options options = { .size = sizeof(options),
						  .task_ms = ms,
						  .ready_ms = ms,
						  .standstill_ms = longer,
						  .deadlock_ms = longer,
						  .waits = &locks,
						  .wait_count = 1 };
	sennit_watchdog              *w;
	pthread_t                     thread;
	int                           err = make_watchdog(&w, &options);

	if (err)
		return err;
	w->number = sennit_debug_calls.number(s);
	err = sn_masked_thread_start(&thread, NULL, watch_until_end, w);
	if (err)
		destroy(w);
	return err;
}

void sennit_watchdog_stop(sennit_watchdog *w)
{
	if (w->process != getpid()) {
		free((void *)w->options.waits);
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

static bool is_suspect(const struct suspect *n, enum suspect_kind kind,
		       const sennit_report_entry *e)
{
	return n->kind == kind && n->entry.thread == e->thread &&
	       n->entry.fiber == e->fiber && n->entry.turn == e->turn;
}

/* Return the slot of this suspect, or the free slot for it. */
static struct suspect *suspect_slot(struct suspect_table      *t,
				    enum suspect_kind          kind,
				    const sennit_report_entry *e)
{
	uint32_t at = (e->thread * 31 + e->fiber * 4 + kind) * 0x9e3779b9u >> 8;

	for (;; at++) {
		struct suspect *n = &t->slots[at % SUSPECT_SLOTS];

		if (!n->used || is_suspect(n, kind, e))
			return n;
	}
}

static void keep_suspect(struct suspects *s, enum suspect_kind kind,
			 const sennit_report_entry *e, sennit_time limit)
{
	const struct suspect *old = suspect_slot(s->before, kind, e);
	struct suspect       *n = suspect_slot(s->current, kind, e);

	if (n->used || s->current->count == SUSPECT_MAX)
		return;
	s->current->count++;
	if (old->used) {
		*n = *old;
	} else {
		n->used = true;
		n->kind = kind;
		n->first = s->clock;
		n->limit = limit;
		n->cpu = kind == SUSPECT_TASK ? sn_finding_cpu(e->thread) : 0;
		n->entry = *e;
		if (e->name)
			strncpy(n->name, e->name, sizeof(n->name) - 1);
	}
	n->entry.name = e->name ? n->name : NULL;
}

/* --- a look ------------------------------------------------------------- */

/* See slack_of() and counted_time(). */
#define SLACK_LEAST (5 * SENNIT_MILLISECOND)
#define LATE_SHARE  8

void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options)
{
	s->options = options;
	s->current = &s->tables[0];
	s->before = &s->tables[1];
}

/* Return how much later than expected a look may be and still be in time.
 * Timers and a busy machine delay it by less. */
static sennit_time slack_of(sennit_time usual)
{
	const sennit_time half = usual / 2;

	return half > SLACK_LEAST ? half : SLACK_LEAST;
}

/* Return how much of the time since the last look counts. For a late look it is
 * not known how long the process was stopped. A share counts, so that a machine
 * that delays every look does not hide a case for ever. */
static sennit_time counted_time(sennit_time elapsed, sennit_time usual)
{
	if (elapsed > usual + slack_of(usual))
		return usual / LATE_SHARE;
	return elapsed < usual ? elapsed : usual;
}

void sn_suspects_begin(struct suspects *s, sennit_time now, sennit_time usual)
{
	struct suspect_table *t = s->before;

	s->before = s->current;
	s->current = t;
	if (t->count)
		memset(t, 0, sizeof(*t));
	s->elapsed = s->now ? now - s->now : 0;
	s->clock += counted_time(s->elapsed, usual);
	s->now = now;
	s->at = 0;
	s->waiting = s->ready = s->queued = 0;
}

/* Record that other work waits for `thread`. */
static void keep_other_work(struct suspects *s, uint32_t thread)
{
	const sennit_report_entry work = { .thread = thread };

	if (s->options->task_ms)
		keep_suspect(s, SUSPECT_WORK, &work, 0);
}

/* Report whether the worker has not checked its timers since the fiber's
 * deadline. Such a fiber waits for its worker, as a ready fiber does. */
static bool is_overdue(const struct suspects *s, const sennit_report_entry *e)
{
	return e->state == SENNIT_REPORT_BLOCKED && e->deadline &&
	       e->deadline < s->now;
}

static bool is_wait_limited(const sennit_watchdog_wait *wait,
			    const sennit_report_entry  *e)
{
	const uint32_t kinds = wait->kinds ? wait->kinds
					   : SENNIT_WATCHDOG_WAITS;

	return kinds & SENNIT_WATCHDOG_KIND(e->waits_for) &&
	       (!wait->task || wait->task == e->task) &&
	       (!wait->name || (e->name && !strcmp(wait->name, e->name)));
}

/* Return the limit of that wait; 0: none. */
static sennit_time limit_of(const struct suspects     *s,
			    const sennit_report_entry *e)
{
	for (uint32_t i = 0; i < s->options->wait_count; i++)
		if (is_wait_limited(&s->options->waits[i], e))
			return s->options->waits[i].ms * SENNIT_MILLISECOND;
	return 0;
}

static void count_entry(struct suspects *s, const sennit_report_entry *e)
{
	s->waiting += e->state == SENNIT_REPORT_BLOCKED;
	s->ready += e->state == SENNIT_REPORT_READY;
	s->queued += e->state == SENNIT_REPORT_QUEUED ? e->count : 0;
}

void sn_suspects_add(struct suspects *s, const sennit_report_entry *e)
{
	const sennit_watchdog_options *o = s->options;
	const bool is_ready = e->state == SENNIT_REPORT_READY ||
			      is_overdue(s, e);

	count_entry(s, e);
	if (is_ready || e->state == SENNIT_REPORT_QUEUED)
		keep_other_work(s, e->thread);
	/* Without a task it is a bound thread, which may run code of the
	 * program. */
	if (e->state == SENNIT_REPORT_RUNNING && e->task &&
	    (o->task_ms || o->standstill_ms))
		keep_suspect(s, SUSPECT_TASK, e,
			     o->task_ms * SENNIT_MILLISECOND);
	else if (is_ready && o->ready_ms)
		keep_suspect(s, SUSPECT_READY, e,
			     o->ready_ms * SENNIT_MILLISECOND);
	else if (e->state == SENNIT_REPORT_BLOCKED && limit_of(s, e))
		keep_suspect(s, SUSPECT_WAIT, e, limit_of(s, e));
}

/* --- findings ----------------------------------------------------------- */

static bool lasts(const struct suspects *s, const struct suspect *n,
		  sennit_time limit)
{
	return limit && s->clock - n->first >= limit;
}

static bool is_due(struct suspects *s, const struct suspect *n)
{
	const sennit_report_entry work = { .thread = n->entry.thread };

	if (!n->used || n->reported || !lasts(s, n, n->limit))
		return false;
	return n->kind != SUSPECT_TASK ||
	       suspect_slot(s->current, SUSPECT_WORK, &work)->used;
}

/* Report whether another finding may be written: the oldest of the last
 * findings must be outside the window. */
static bool may_write(const struct suspects *s)
{
	const sennit_time oldest = s->lines[s->line];

	return !oldest || s->now - oldest >= SENNIT_WATCHDOG_WINDOW;
}

static void count_finding(struct suspects *s)
{
	s->lines[s->line] = s->now;
	s->line = (s->line + 1) % SENNIT_WATCHDOG_LINES;
}

bool sn_suspects_is_alike(const struct suspects *s, const struct suspect *n,
			  const struct suspect *other)
{
	return other != n && other->used && other->kind == SUSPECT_WAIT &&
	       lasts(s, other, other->limit) && n->entry.object &&
	       other->entry.object == n->entry.object &&
	       other->entry.waits_for == n->entry.waits_for;
}

/* Mark all waits for the object of n as reported, because the finding of n
 * covers them. Returns whether none was reported before. */
static bool mark_alike_reported(struct suspects *s, const struct suspect *n)
{
	bool is_first = true;

	for (uint32_t i = 0; i < SUSPECT_SLOTS; i++) {
		struct suspect *other = &s->current->slots[i];

		if (!sn_suspects_is_alike(s, n, other))
			continue;
		is_first &= !other->reported;
		other->reported = true;
	}
	return is_first;
}

const struct suspect *sn_suspects_next(struct suspects *s)
{
	for (; s->at < SUSPECT_SLOTS && may_write(s); s->at++) {
		struct suspect *n = &s->current->slots[s->at];

		if (!is_due(s, n))
			continue;
		n->reported = true;
		if (n->kind == SUSPECT_WAIT && !mark_alike_reported(s, n))
			continue;
		count_finding(s);
		return n;
	}
	return NULL;
}

const struct suspect *sn_suspects_stuck(const struct suspects *s, uint32_t *at)
{
	const sennit_time limit = s->options->standstill_ms *
				  SENNIT_MILLISECOND;

	while (*at < SUSPECT_SLOTS) {
		const struct suspect *n = &s->current->slots[(*at)++];

		if (n->used && n->kind == SUSPECT_TASK && lasts(s, n, limit) &&
		    n->entry.worker < SENNIT_REPORT_BACKGROUND)
			return n;
	}
	return NULL;
}

/* Each worker was in one turn from its first look to this one. So there was a
 * time at which all of them were stuck. */
bool sn_suspects_stand_still(struct suspects *s, uint32_t workers)
{
	uint32_t at = 0, stuck = 0;

	while (sn_suspects_stuck(s, &at))
		stuck++;
	if (!workers || stuck != workers)
		s->stood_still = false;
	else if (!s->stood_still && may_write(s)) {
		s->stood_still = true;
		count_finding(s);
		return true;
	}
	return false;
}

/* Any call that progressed since the last look ends the case; see
 * blocking_stuck_ms. */
bool sn_suspects_calls_are_stuck(struct suspects *s, const sennit_stats *stats)
{
	const sennit_time stuck = stats->blocking_stuck_ms * SENNIT_MILLISECOND;

	if (!stuck || stuck < s->elapsed)
		s->calls_first = s->clock;
	if (s->clock - s->calls_first <
	    s->options->standstill_ms * SENNIT_MILLISECOND)
		s->calls_are_stuck = false;
	else if (!s->calls_are_stuck && may_write(s)) {
		s->calls_are_stuck = true;
		count_finding(s);
		return true;
	}
	return false;
}

/* --- deadlocks ---------------------------------------------------------- */

/* The time between two looks for deadlocks is at least this part of the limit.
 * If other limits are short, most looks do not look for deadlocks. */
#define DEADLOCK_PART 8

bool sn_suspects_begin_deadlocks(struct suspects *s)
{
	const sennit_time limit = s->options->deadlock_ms * SENNIT_MILLISECOND;

	if (!limit || (s->deadlocks_at &&
		       s->now - s->deadlocks_at < limit / DEADLOCK_PART))
		return false;
	s->deadlocks_at = s->now;
	s->deadlocks_now ^= 1;
	s->deadlock_counts[s->deadlocks_now] = 0;
	return true;
}

static const struct seen_deadlock *seen_before(const struct suspects     *s,
					       const sennit_report_entry *e)
{
	const uint32_t set = s->deadlocks_now ^ 1;

	for (uint32_t i = 0; i < s->deadlock_counts[set]; i++) {
		const struct seen_deadlock *d = &s->deadlocks[set][i];

		if (d->thread == e->thread && d->fiber == e->fiber &&
		    d->turn == e->turn)
			return d;
	}
	return NULL;
}

bool sn_suspects_add_deadlock(struct suspects *s, const sennit_report_entry *e,
			      sennit_time *lasted)
{
	const struct seen_deadlock *before = seen_before(s, e);
	uint32_t             *count = &s->deadlock_counts[s->deadlocks_now];
	struct seen_deadlock *d = &s->deadlocks[s->deadlocks_now][*count];

	if (*count == SEEN_DEADLOCKS)
		return false;
	++*count;
	*d = before ? *before
		    : (struct seen_deadlock){ .thread = e->thread,
					      .fiber = e->fiber,
					      .turn = e->turn,
					      .first = s->clock };
	*lasted = s->clock - d->first;
	if (d->reported || !may_write(s) ||
	    *lasted < s->options->deadlock_ms * SENNIT_MILLISECOND)
		return false;
	d->reported = true;
	count_finding(s);
	return true;
}
