/* SPDX-License-Identifier: Apache-2.0 */
#include "life/bind.h"
#include "life/fork.h"
#include "observe/histogram.h"
#include "observe/observe.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "sennit/metrics.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The values of the label kind. */
static const char *const kinds[OBSERVE_WAITS] = {
	[SENNIT_WAITS_FOR_NOTHING] = "nothing",
	[SENNIT_WAITS_FOR_EVENT] = "event",
	[SENNIT_WAITS_FOR_WAIT_GROUP] = "wait_group",
	[SENNIT_WAITS_FOR_MUTEX] = "mutex",
	[SENNIT_WAITS_FOR_COND] = "cond",
	[SENNIT_WAITS_FOR_NOTIFY] = "notify",
	[SENNIT_WAITS_FOR_TIME] = "sleep",
	[SENNIT_WAITS_FOR_WORK] = "unbind",
	[SENNIT_WAITS_FOR_RWLOCK] = "rwlock",
	[SENNIT_WAITS_FOR_SEMAPHORE] = "semaphore",
	[SENNIT_WAITS_FOR_BARRIER] = "barrier",
	[SENNIT_WAITS_FOR_ONCE] = "once",
	[SENNIT_WAITS_FOR_TICKET] = "ticket",
	[SENNIT_WAITS_FOR_CALL] = "blocking_call",
	[SENNIT_WAITS_FOR_POOL] = "pool",
	[SENNIT_WAITS_FOR_CHANNEL] = "channel",
	[SENNIT_WAITS_FOR_SELECT] = "select",
	[SENNIT_WAITS_FOR_FUTURE] = "future",
	[SENNIT_WAITS_FOR_GROUP] = "group",
	[SENNIT_WAITS_FOR_IO] = "io",
	[SENNIT_WAITS_FOR_MEMBERS] = "members",
};

void sennit_metrics_record(sennit_scheduler *s, uint32_t every)
{
	MISUSE_INHERITED(s, "sennit_metrics_record");
	if (every)
		sn_stopwatch_prepare();
	/* -> observe.every: the stopwatch is ready */
	a_store_rel(&s->observe.every, every);
	if (sn_self && sn_self->scheduler == s)
		sn_hook_update(sn_self);
}

/* --- families ------------------------------------------------------------- */

/* A metric and the source of its values. */
struct family {
	const char *name;
	const char *help;
	const char *unit; /* NULL: none */
	uint32_t    type; /* enum sennit_metric_type */
	size_t      at;   /* offset of the value, in the struct that AT names */
};

/* The numbers of a worker, or the sums of threads that have unbound. */
struct numbers {
	struct counters_sum counted;
	uint64_t            waits, wakes;
	uint64_t            calls, cancels;
	uint64_t            fibers, queued, unmeasured; /* current values */
};

/* Add the rare counters. The other counters were read before. A sleep that
 * continues a wait does not count as a wait. It may be counted in `again`
 * before it is in the other counters, so that the numbers of waits and wakes
 * seem too small. */
static void add_rare(struct numbers *n, const struct rare_counters *rare)
{
	uint64_t again;

	a_fence(); /* <-> metrics.again: all that are in the counters */
	again = a_load_rlx(&rare->again);
	n->waits = n->counted.blocks - again;
	n->wakes = n->counted.resumes - again;
	n->calls = a_load_rlx(&rare->calls);
	n->cancels = a_load_rlx(&rare->cancels);
}

/* Return a counter that never falls: the maximum of `now` and *told, which is
 * the value returned before. */
static uint64_t never_falling(a_u64 *told, uint64_t now)
{
	uint64_t old = a_load_rlx(told);

	while ((int64_t)(now - old) > 0 && !a_cas_rlx(told, &old, now))
		;
	return (int64_t)(now - old) > 0 ? now : old;
}

static struct numbers numbers_of(struct worker *w)
{
	bool           exact; /* ignored: the help says that the count is a
			       * lower bound */
	struct numbers n = { .fibers = sn_counters_blocked(&w->counters),
			     .queued = sn_worker_queued(w, &exact) };

	sn_counters_add(&n.counted, &w->counters);
	add_rare(&n, &w->observe.rare);
	n.waits = never_falling(&w->observe.told_waits, n.waits);
	n.wakes = never_falling(&w->observe.told_wakes, n.wakes);
	n.unmeasured = sn_observe_is_timed(&w->scheduler->observe) &&
		       !sn_observe_measures(&w->observe);
	return n;
}

static struct numbers numbers_of_past(sennit_scheduler *s)
{
	struct numbers n = { .fibers = 0 };

	sn_counters_join(&n.counted, &s->bound.past);
	add_rare(&n, &s->observe.past_rare);
	return n;
}

static uint64_t value_at(const void *from, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)from + at, sizeof(value));
	return value;
}

#define COUNTER SENNIT_METRIC_COUNTER
#define GAUGE   SENNIT_METRIC_GAUGE

/* clang-format off */
#define AT(field) offsetof(struct numbers, field)
static const struct family of_workers[] = {
	{ "sennit_tasks", "Tasks that have ended.",
	  NULL, COUNTER, AT(counted.tasks) },
	{ "sennit_steals", "Tasks that the worker took from another.",
	  NULL, COUNTER, AT(counted.steals) },
	{ "sennit_parks", "Times that the worker went to sleep.",
	  NULL, COUNTER, AT(counted.parks) },
	{ "sennit_waits", "Waits and yields of fibers.",
	  NULL, COUNTER, AT(waits) },
	{ "sennit_wakes", "Waits and yields of fibers that are over.",
	  NULL, COUNTER, AT(wakes) },
	{ "sennit_waits_cancelled", "Waits that their group ended.",
	  NULL, COUNTER, AT(cancels) },
	{ "sennit_blocking_calls", "Blocking calls.",
	  NULL, COUNTER, AT(calls) },
	{ "sennit_fibers", "Fibers that wait or are ready.",
	  NULL, GAUGE, AT(fibers) },
	{ "sennit_fibers_peak", "The most fibers that have waited at once.",
	  NULL, GAUGE, AT(counted.fibers_peak) },
	{ "sennit_tasks_queued", "Tasks that have not started, at least.",
	  NULL, GAUGE, AT(queued) },
	{ "sennit_workers_unmeasured",
	  "Workers that do not record durations though they should: they "
	  "have not looked for work since, or got no memory.",
	  NULL, GAUGE, AT(unmeasured) },
	{ .name = NULL },
};

#undef AT
#define AT(field) offsetof(sennit_stats, field)
static const struct family of_stats[] = {
	{ "sennit_stacks_unguarded", "Stacks with a canary for a guard page.",
	  NULL, GAUGE, AT(stacks_unguarded) },
	{ "sennit_stacks_trimmed", "Stacks whose memory was given back.",
	  NULL, COUNTER, AT(stacks_trimmed) },
	{ "sennit_stack_bytes", "Addresses mapped for stacks.",
	  "bytes", GAUGE, AT(stack_bytes) },
	{ "sennit_blocking_threads", "Threads for blocking calls.",
	  NULL, GAUGE, AT(blocking_threads) },
	{ "sennit_blocking_calls_waiting",
	  "Blocking calls that have not begun, since every thread is in one.",
	  NULL, GAUGE, AT(blocking_waiting) },
	{ "sennit_worker_threads", "Workers that have a thread.",
	  NULL, GAUGE, AT(threads) },
	{ "sennit_workers_active", "Workers that hold a CPU of resources.",
	  NULL, GAUGE, AT(active) },
	{ "sennit_workers_waiting", "Workers that wait for a CPU of the "
	  "resources.", NULL, GAUGE, AT(waiting) },
	{ .name = NULL },
};

#undef AT
#define AT(field) offsetof(struct measures, field)
#define SAMPLE    "A sample: see sennit_histograms_every."
static const struct family run_times = {
	"sennit_task_run_seconds",
	"How long a task ran, without its waits. " SAMPLE,
	"seconds", SENNIT_METRIC_HISTOGRAM, AT(run) };
static const struct family latencies = {
	"sennit_scheduling_latency_seconds",
	"From when a fiber can continue, or from its deadline, until it does. "
	SAMPLE, "seconds", SENNIT_METRIC_HISTOGRAM, AT(latency) };
static const struct family wait_times = {
	"sennit_wait_seconds",
	"From the begin of a fiber's wait until it can continue. " SAMPLE,
	"seconds", SENNIT_METRIC_HISTOGRAM, AT(waits) };

static const struct family stuck = {
	"sennit_blocking_stuck_seconds",
	"For how long no blocking call that waits has begun.",
	"seconds", GAUGE, 0 };
static const struct family stacks = { .name = "sennit_stacks",
	.help = "Stacks of fibers.", .type = GAUGE };
static const struct family workers = { .name = "sennit_workers",
	.help = "Workers, with a thread or without.", .type = GAUGE };
static const struct family background = {
	.name = "sennit_background_tasks_queued",
	.help = "Background tasks that have not started.", .type = GAUGE };
static const struct family every = { .name = "sennit_histograms_every",
	.help = "One of so many tasks and waits of a worker is in the "
		"histograms. 0: none.", .type = GAUGE };
/* clang-format on */

/* --- visiting ----------------------------------------------------------- */

struct visit {
	sennit_scheduler *s;
	void (*call)(void *context, const sennit_metric *metric);
	void *context;
};

static void visit_value(const struct visit *v, const struct family *f,
			const char *label, const char *label_value,
			uint64_t value, const sennit_histogram *h)
{
	const sennit_metric m = {
		.size = sizeof(m),
		.name = f->name,
		.help = f->help,
		.unit = f->unit ? f->unit : "",
		.type = f->type,
		.label = label,
		.label_value = label_value,
		.value = value,
		.histogram = h,
	};

	v->call(v->context, &m);
}

/* --- numbers of each worker --------------------------------------------- */

static void visit_worker_numbers(const struct visit *v, const struct family *f)
{
	sennit_scheduler *s = v->s;
	struct binding   *b = NULL;
	struct numbers    n;
	uint64_t          bound;
	char              index[12];

	for (uint32_t i = 0; i < s->capacity; i++) {
		n = numbers_of(s->workers[i]);
		snprintf(index, sizeof(index), "%" PRIu32, i);
		visit_value(v, f, "worker", index, value_at(&n, f->at), NULL);
	}
	os_lock(&s->bound.lock);
	n = numbers_of_past(s);
	bound = value_at(&n, f->at);
	while ((b = sn_bound_next(&s->bound, b))) {
		n = numbers_of(sn_worker_bound(b));
		bound += value_at(&n, f->at);
	}
	pthread_mutex_unlock(&s->bound.lock);
	visit_value(v, f, "worker", "bound", bound, NULL);
}

/* --- numbers of the scheduler ------------------------------------------- */

static void visit_stacks(const struct visit *v, const sennit_stats *stats)
{
	uint64_t idle = stats->stacks_idle;

	visit_value(v, &stacks, "state", "idle", idle, NULL);
	visit_value(v, &stacks, "state", "used",
		    stats->stacks > idle ? stats->stacks - idle : 0, NULL);
}

static void visit_scheduler_numbers(const struct visit *v)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(v->s, &stats);
	visit_stacks(v, &stats);
	for (const struct family *f = of_stats; f->name; f++)
		visit_value(v, f, NULL, NULL, value_at(&stats, f->at), NULL);
	visit_value(v, &stuck, NULL, NULL,
		    stats.blocking_stuck_ms * SENNIT_MILLISECOND, NULL);
}

static void visit_workers(const struct visit *v)
{
	visit_value(v, &workers, NULL, NULL, sennit_scheduler_workers(v->s),
		    NULL);
	visit_value(v, &background, NULL, NULL,
		    sn_backlog_count(&v->s->backlog), NULL);
}

/* --- histograms --------------------------------------------------------- */

static void visit_every(const struct visit *v)
{
	visit_value(v, &every, NULL, NULL, a_load_rlx(&v->s->observe.every),
		    NULL);
}

/* Add the histogram at offset `at` of struct measures. */
static void add_measure(sennit_histogram *sum, const struct measures *m,
			size_t at)
{
	if (m)
		sn_histogram_add(
			sum, (const struct histogram
				      *)(const void *)((const char *)m + at));
}

static void sum_histograms(sennit_scheduler *s, sennit_histogram *sum,
			   size_t at)
{
	struct binding *b = NULL;

	*sum = (sennit_histogram){ .count = 0 };
	for (uint32_t i = 0; i < s->capacity; i++)
		add_measure(sum, sn_observe_measures(&s->workers[i]->observe),
			    at);
	os_lock(&s->bound.lock);
	add_measure(sum, s->observe.past, at);
	while ((b = sn_bound_next(&s->bound, b)))
		add_measure(sum,
			    sn_observe_measures(&sn_worker_bound(b)->observe),
			    at);
	pthread_mutex_unlock(&s->bound.lock);
}

static void visit_waits(const struct visit *v)
{
	sennit_histogram sum;

	for (uint32_t kind = 1; kind < OBSERVE_WAITS; kind++) {
		sum_histograms(v->s, &sum,
			       wait_times.at + kind * sizeof(struct histogram));
		if (sum.count)
			visit_value(v, &wait_times, "kind", kinds[kind], 0,
				    &sum);
	}
}

static void visit_histograms(const struct visit *v)
{
	sennit_histogram sum;

	visit_every(v);
	sum_histograms(v->s, &sum, run_times.at);
	visit_value(v, &run_times, NULL, NULL, 0, &sum);
	sum_histograms(v->s, &sum, latencies.at);
	visit_value(v, &latencies, NULL, NULL, 0, &sum);
	visit_waits(v);
}

void sennit_metrics_visit(sennit_scheduler *s,
			  void (*visit)(void                *context,
					const sennit_metric *metric),
			  void *context)
{
	const struct visit v = { s, visit, context };

	MISUSE_INHERITED(s, "sennit_metrics_visit");
	for (const struct family *f = of_workers; f->name; f++)
		visit_worker_numbers(&v, f);
	visit_workers(&v);
	visit_scheduler_numbers(&v);
	visit_histograms(&v);
}

/* --- histograms, for the reader ----------------------------------------- */

uint64_t sennit_histogram_bound(uint32_t bucket)
{
	uint32_t shift = bucket / 4 - 1;

	if (bucket >= SENNIT_HISTOGRAM_BUCKETS - 1)
		return SENNIT_NEVER;
	if (bucket < 4)
		return bucket;
	return ((uint64_t)(bucket % 4 + 5) << shift) - 1;
}

uint64_t sennit_histogram_quantile(const sennit_histogram *h, double part)
{
	uint64_t below = 0;
	uint32_t i = 0;
	double   rank;

	if (!h->count)
		return 0;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	rank = part * (double)h->count;
	while (i < SENNIT_HISTOGRAM_BUCKETS - 1 &&
	       ((below += h->buckets[i]) == 0 || (double)below < rank))
		i++;
	return sennit_histogram_bound(i);
}
