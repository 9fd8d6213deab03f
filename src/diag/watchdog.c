/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/watchdog.h"

#include "sennit/end.h"
#include "sennit/wait_graph.h"
#include "sennit/watchdog.h"
#include "sennit/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Looks in each limit. */
#define LOOKS 4

/* A graph of 100,000 fibers takes a quarter of a second: after one, this many
 * times the CPU time that it took passes before the next. */
#define GRAPH_REST 20

/* Of a watchdog that the environment starts: how much longer than a task the
 * rest may take, and at least. */
#define FOLLOW_TIMES 10
#define FOLLOW_LEAST 1000

struct sennit_watchdog {
	sennit_scheduler       *scheduler; /* a reference; NULL: see weak */
	sennit_weak            *weak; /* fixed: ends with the scheduler, and on
				       * its own thread; NULL: does not */
	sennit_watchdog_options options; /* fixed; `waits` is its own */
	sennit_time             pause;   /* fixed: between two looks */
	pid_t                   process;
	pthread_t               thread;
	pthread_mutex_t         lock;
	pthread_cond_t          stop;     /* with lock */
	bool                    stopped;  /* under lock */
	sennit_time             graph_at; /* its thread's: none before */
	struct suspects         suspects; /* its thread's */
};

static void destroy(sennit_watchdog *w)
{
	pthread_cond_destroy(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free((void *)w->options.waits);
	free(w);
}

/* --- looks -------------------------------------------------------------- */

static void add(void *context, const sennit_report_entry *e)
{
	sn_suspects_add(context, e);
}

static void count_worker(void *context, const sennit_worker_view *view)
{
	uint32_t *workers = context;

	*workers += view->worker != UINT32_MAX &&
		    view->state != SENNIT_WORKER_ABSENT;
}

/* All workers that exist after the report must be stuck in it. One that came
 * between is counted here, and was not stuck. */
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
	sennit_scheduler_stats(s, &stats);
	if (sn_suspects_calls_are_stuck(&w->suspects, &stats))
		sn_finding_write_stuck_calls(&w->suspects, &stats);
}

/* A deadlock that was found, while its edges come one by one. */
struct circle {
	sennit_watchdog    *w;
	uint32_t            count;
	struct finding_edge edges[FINDING_EDGES];
	sennit_report_entry least; /* the waiter that stands for it */
};

static bool is_before(const sennit_report_entry *a,
		      const sennit_report_entry *b)
{
	return a->thread != b->thread ? a->thread < b->thread
				      : a->fiber < b->fiber;
}

static void copy_name(char name[SENNIT_NAME_SIZE], const char *from)
{
	strncpy(name, from ? from : "", SENNIT_NAME_SIZE - 1);
	name[SENNIT_NAME_SIZE - 1] = '\0';
}

static void keep_edge(struct circle *c, const sennit_wait_edge *edge)
{
	struct finding_edge *e = &c->edges[c->count++];

	e->waiter = *edge->waiter;
	e->relation = edge->relation;
	copy_name(e->name, edge->waiter->name);
	copy_name(e->scheduler, edge->waiter_scheduler);
	e->waiter.name = edge->waiter->name ? e->name : NULL;
}

/* The watchdogs of the environment: which deadlocks they have told. One that
 * goes through several schedulers is found by several of them. */
static struct {
	pthread_mutex_t      lock;
	struct seen_deadlock told[SEEN_DEADLOCKS]; /* under lock */
	uint32_t             next;                 /* under lock */
} followed = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Whether another watchdog has not told it yet. */
static bool is_news(const sennit_watchdog *w, const sennit_report_entry *e)
{
	bool news = true;

	if (!w->weak)
		return true;
	pthread_mutex_lock(&followed.lock);
	for (uint32_t i = 0; i < SEEN_DEADLOCKS; i++)
		news &= followed.told[i].thread != e->thread ||
			followed.told[i].fiber != e->fiber ||
			followed.told[i].turn != e->turn;
	if (news)
		followed.told[followed.next++ % SEEN_DEADLOCKS] =
			(struct seen_deadlock){ .thread = e->thread,
						.fiber = e->fiber,
						.turn = e->turn };
	pthread_mutex_unlock(&followed.lock);
	return news;
}

/* Edges of one deadlock follow each other. */
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
	    is_news(c->w, &c->least))
		sn_finding_write_deadlock(&c->w->options, c->edges, c->count,
					  lasted);
	c->count = 0;
}

static sennit_time cpu_time(void)
{
	struct timespec t = { .tv_sec = 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

static void look_for_deadlocks(sennit_watchdog *w, sennit_scheduler *s)
{
	const sennit_time begin = cpu_time();
	struct circle    *c;

	if (w->suspects.now < w->graph_at ||
	    !sn_suspects_begin_deadlocks(&w->suspects))
		return;
	c = calloc(1, sizeof(*c));
	if (!c)
		return;
	c->w = w;
	/* Without memory the next look may find them. */
	(void)!sennit_scheduler_wait_graph(s, add_edge, c);
	free(c);
	w->graph_at = w->suspects.now + GRAPH_REST * (cpu_time() - begin);
}

static void look(sennit_watchdog *w, sennit_scheduler *s)
{
	const struct suspect *n;

	sn_suspects_begin(&w->suspects, sennit_now());
	sennit_scheduler_report(s, add, &w->suspects);
	look_for_standstill(w, s);
	look_for_stuck_calls(w, s);
	look_for_deadlocks(w, s);
	while ((n = sn_suspects_next(&w->suspects)))
		sn_finding_write_suspect(s, &w->suspects, n);
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

static void lower(uint32_t *least, uint32_t ms)
{
	if (ms && ms < *least)
		*least = ms;
}

/* The shortest limit in milliseconds; UINT32_MAX: there is none. */
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

static bool copy_waits(sennit_watchdog_options *o)
{
	const size_t          bytes = o->wait_count * sizeof(*o->waits);
	sennit_watchdog_wait *waits = malloc(bytes + 1);

	if (!waits)
		return false;
	if (bytes)
		memcpy(waits, o->waits, bytes);
	o->waits = waits;
	return true;
}

static sennit_watchdog *make(const sennit_watchdog_options *options)
{
	sennit_watchdog *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->options = *options;
	if (!copy_waits(&w->options)) {
		free(w);
		return NULL;
	}
	w->pause = shortest(options) * SENNIT_MILLISECOND / LOOKS;
	w->process = getpid();
	sn_suspects_init(&w->suspects, &w->options);
	init_waiting(w);
	return w;
}

int sennit_watchdog_start(sennit_watchdog **out, sennit_scheduler *s,
			  const sennit_watchdog_options *options)
{
	sennit_watchdog *w;
	int              err;

	if (shortest(options) == UINT32_MAX)
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
	const uint32_t             longer = FOLLOW_TIMES * ms > FOLLOW_LEAST
						    ? FOLLOW_TIMES * ms
						    : FOLLOW_LEAST;
	const sennit_watchdog_wait locks = { .kinds = SENNIT_WATCHDOG_LOCKS,
					     .ms = longer };
	sennit_watchdog           *w =
		make(&(sennit_watchdog_options){ .task_ms = ms,
						 .ready_ms = ms,
						 .standstill_ms = longer,
						 .deadlock_ms = longer,
						 .waits = &locks,
						 .wait_count = 1,
						 .fd = STDERR_FILENO });
	pthread_t thread;
	int       err;

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
		 const sennit_report_entry *e, sennit_time limit)
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
		n->limit = limit;
		n->cpu = kind == SUSPECT_TASK ? sn_finding_cpu(e->thread) : 0;
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
	s->options = options;
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
	s->waiting = s->ready = s->queued = 0;
}

/* What runs on `thread` keeps other work waiting. */
static void keep_work(struct suspects *s, uint32_t thread)
{
	const sennit_report_entry work = { .thread = thread };

	if (s->options->task_ms)
		keep(s, SUSPECT_WORK, &work, 0);
}

/* Its worker has not looked at its timers since the deadline. It only lacks a
 * turn, as a ready fiber does. */
static bool is_overdue(const struct suspects *s, const sennit_report_entry *e)
{
	return e->state == SENNIT_REPORT_BLOCKED && e->deadline &&
	       e->deadline < s->now;
}

static bool fits(const sennit_watchdog_wait *wait, const sennit_report_entry *e)
{
	const uint32_t kinds = wait->kinds ? wait->kinds
					   : SENNIT_WATCHDOG_WAITS;

	return kinds & SENNIT_WATCHDOG_KIND(e->waits_for) &&
	       (!wait->task || wait->task == e->task) &&
	       (!wait->name || (e->name && !strcmp(wait->name, e->name)));
}

/* The limit of that wait; 0: none. */
static sennit_time limit_of(const struct suspects     *s,
			    const sennit_report_entry *e)
{
	for (uint32_t i = 0; i < s->options->wait_count; i++)
		if (fits(&s->options->waits[i], e))
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
		keep_work(s, e->thread);
	/* Without a task it is a bound thread that may be anywhere. */
	if (e->state == SENNIT_REPORT_RUNNING && e->task &&
	    (o->task_ms || o->standstill_ms))
		keep(s, SUSPECT_TASK, e, o->task_ms * SENNIT_MILLISECOND);
	else if (is_ready && o->ready_ms)
		keep(s, SUSPECT_READY, e, o->ready_ms * SENNIT_MILLISECOND);
	else if (e->state == SENNIT_REPORT_BLOCKED && limit_of(s, e))
		keep(s, SUSPECT_WAIT, e, limit_of(s, e));
}

/* --- findings ----------------------------------------------------------- */

static bool lasts(const struct suspects *s, const struct suspect *n,
		  sennit_time limit)
{
	return limit && s->now - n->first >= limit;
}

static bool is_due(struct suspects *s, const struct suspect *n)
{
	const sennit_report_entry work = { .thread = n->entry.thread };

	if (!n->used || n->told || !lasts(s, n, n->limit))
		return false;
	return n->kind != SUSPECT_TASK ||
	       slot_of(s->current, SUSPECT_WORK, &work)->used;
}

/* The oldest of the last findings must be out of the window. */
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

/* All waits for the object of n are told with n, or were with an earlier one.
 * Returns whether none was. */
static bool tell_alike(struct suspects *s, const struct suspect *n)
{
	bool is_first = true;

	for (uint32_t i = 0; i < SUSPECT_SLOTS; i++) {
		struct suspect *other = &s->current->slots[i];

		if (!sn_suspects_is_alike(s, n, other))
			continue;
		is_first &= !other->told;
		other->told = true;
	}
	return is_first;
}

const struct suspect *sn_suspects_next(struct suspects *s)
{
	for (; s->at < SUSPECT_SLOTS && may_write(s); s->at++) {
		struct suspect *n = &s->current->slots[s->at];

		if (!is_due(s, n))
			continue;
		n->told = true;
		if (n->kind == SUSPECT_WAIT && !tell_alike(s, n))
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

/* Each was in one turn from its first look to this one. So there was a time at
 * which all of them were. */
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

bool sn_suspects_calls_are_stuck(struct suspects *s, const sennit_stats *stats)
{
	if (stats->blocking_stuck < s->options->standstill_ms)
		s->calls_are_stuck = false;
	else if (!s->calls_are_stuck && may_write(s)) {
		s->calls_are_stuck = true;
		count_finding(s);
		return true;
	}
	return false;
}

/* --- deadlocks ---------------------------------------------------------- */

/* Between two looks for deadlocks at least that part of the limit passes:
 * where other limits are short, few looks are also for deadlocks. */
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
					      .first = s->now };
	*lasted = s->now - d->first;
	if (d->told || !may_write(s) ||
	    *lasted < s->options->deadlock_ms * SENNIT_MILLISECOND)
		return false;
	d->told = true;
	count_finding(s);
	return true;
}
