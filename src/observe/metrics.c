/* SPDX-License-Identifier: Apache-2.0 */
#include "life/life.h"
#include "observe/histogram.h"
#include "observe/observe.h"
#include "sennit/metrics.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- metrics family ------------------------------------------------------- */

/* Which metrics there are, and where their values come from. */

struct worker;

struct sn_metric_family {
	const char *name;
	const char *help;
	const char *unit; /* NULL: none */
	uint32_t    type; /* enum sennit_metric_type */

	/* Of metrics of each worker: */
	uint64_t (*of_worker)(struct worker *w);
	uint64_t (*of_past)(sennit_scheduler *s); /* of threads that have
						   * unbound; NULL: 0 */
};

/* The metrics of each worker. The last one has no name. */
extern const struct sn_metric_family sn_metrics_of_workers[];

/* The metrics that are a field of sennit_stats. The last one has no name. */
struct sn_metric_of_stats {
	struct sn_metric_family family;
	size_t                  at; /* offset of the field */
};

extern const struct sn_metric_of_stats sn_metrics_of_stats[];

/* --- metrics -------------------------------------------------------------- */

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
};

void sennit_metrics_record(sennit_scheduler *s, uint32_t every)
{
	MISUSE_INHERITED(s, "sennit_metrics_record");
	if (every)
		sn_stopwatch_prepare();
	/* -> observe.every: the stopwatch is ready */
	a_store_rel(&s->observe.every, every);
	if (sn_self && sn_self->scheduler == s)
		sn_observe_look(sn_self);
}

/* --- visiting ----------------------------------------------------------- */

struct visit {
	sennit_scheduler *s;
	void (*call)(void *context, const sennit_metric *metric);
	void *context;
};

static void tell(const struct visit *v, const struct sn_metric_family *f,
		 const char *label, const char *label_value, uint64_t value,
		 const sennit_histogram *h)
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

static void visit_worker_numbers(const struct visit            *v,
				 const struct sn_metric_family *f)
{
	sennit_scheduler *s = v->s;
	struct binding   *b = NULL;
	uint64_t          bound;
	char              index[12];

	for (uint32_t i = 0; i < s->capacity; i++) {
		snprintf(index, sizeof(index), "%" PRIu32, i);
		tell(v, f, "worker", index, f->of_worker(s->workers[i]), NULL);
	}
	sn_bound_lock(&s->bound);
	bound = f->of_past ? f->of_past(s) : 0;
	while ((b = sn_bound_next(&s->bound, b)))
		bound += f->of_worker(sn_worker_bound(b));
	sn_bound_unlock(&s->bound);
	tell(v, f, "worker", "bound", bound, NULL);
}

/* --- numbers of the scheduler ------------------------------------------- */

static void visit_stacks(const struct visit *v, const sennit_stats *stats)
{
	static const struct sn_metric_family stacks = {
		.name = "sennit_stacks",
		.help = "Stacks of fibers.",
		.type = SENNIT_METRIC_GAUGE,
	};
	uint64_t idle = stats->stacks_idle;

	tell(v, &stacks, "state", "idle", idle, NULL);
	tell(v, &stacks, "state", "used",
	     stats->stacks > idle ? stats->stacks - idle : 0, NULL);
}

static void visit_scheduler_numbers(const struct visit *v)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_stats(v->s, &stats);
	visit_stacks(v, &stats);
	for (const struct sn_metric_of_stats *m = sn_metrics_of_stats;
	     m->family.name; m++) {
		uint64_t value;

		memcpy(&value, (const char *)&stats + m->at, sizeof(value));
		tell(v, &m->family, NULL, NULL, value, NULL);
	}
}

static void visit_workers(const struct visit *v)
{
	static const struct sn_metric_family workers = {
		.name = "sennit_workers",
		.help = "Workers, with a thread or without.",
		.type = SENNIT_METRIC_GAUGE,
	};
	static const struct sn_metric_family queued = {
		.name = "sennit_background_tasks_queued",
		.help = "Background tasks that have not started.",
		.type = SENNIT_METRIC_GAUGE,
	};

	tell(v, &workers, NULL, NULL, sennit_scheduler_workers(v->s), NULL);
	tell(v, &queued, NULL, NULL, sn_backlog_count(&v->s->backlog), NULL);
}

/* --- histograms --------------------------------------------------------- */

#define SAMPLE "A sample: see sennit_histograms_every."

static void visit_every(const struct visit *v)
{
	static const struct sn_metric_family every = {
		.name = "sennit_histograms_every",
		.help = "One of so many tasks and waits of a worker is in the "
			"histograms. 0: none.",
		.type = SENNIT_METRIC_GAUGE,
	};

	tell(v, &every, NULL, NULL, a_load_rlx(&v->s->observe.every), NULL);
}

/* Add the histogram at `at` bytes of struct measures. */
static void add(sennit_histogram *sum, const struct measures *m, size_t at)
{
	if (m)
		sn_histogram_add(
			sum, (const struct histogram
				      *)(const void *)((const char *)m + at));
}

static void sum_up(sennit_scheduler *s, sennit_histogram *sum, size_t at)
{
	struct binding *b = NULL;

	*sum = (sennit_histogram){ .count = 0 };
	for (uint32_t i = 0; i < s->capacity; i++)
		add(sum, sn_observe_measures(&s->workers[i]->observe), at);
	sn_bound_lock(&s->bound);
	add(sum, s->observe.past, at);
	while ((b = sn_bound_next(&s->bound, b)))
		add(sum, sn_observe_measures(&sn_worker_bound(b)->observe), at);
	sn_bound_unlock(&s->bound);
}

static void visit_waits(const struct visit *v)
{
	static const struct sn_metric_family waits = {
		.name = "sennit_wait_seconds",
		.help = "From the begin of a fiber's wait until it can "
			"continue. " SAMPLE,
		.unit = "seconds",
		.type = SENNIT_METRIC_HISTOGRAM,
	};
	sennit_histogram sum;

	for (uint32_t kind = 1; kind < OBSERVE_WAITS; kind++) {
		sum_up(v->s, &sum,
		       offsetof(struct measures, waits) +
			       kind * sizeof(struct histogram));
		if (sum.count)
			tell(v, &waits, "kind", kinds[kind], 0, &sum);
	}
}

static void visit_histograms(const struct visit *v)
{
	static const struct sn_metric_family run = {
		.name = "sennit_task_run_seconds",
		.help = "How long a task ran, without its waits. " SAMPLE,
		.unit = "seconds",
		.type = SENNIT_METRIC_HISTOGRAM,
	};
	static const struct sn_metric_family latency = {
		.name = "sennit_scheduling_latency_seconds",
		.help = "From when a fiber can continue, or from its "
			"deadline, until it does. " SAMPLE,
		.unit = "seconds",
		.type = SENNIT_METRIC_HISTOGRAM,
	};
	sennit_histogram sum;

	visit_every(v);
	sum_up(v->s, &sum, offsetof(struct measures, run));
	tell(v, &run, NULL, NULL, 0, &sum);
	sum_up(v->s, &sum, offsetof(struct measures, latency));
	tell(v, &latency, NULL, NULL, 0, &sum);
	visit_waits(v);
}

void sennit_metrics_visit(sennit_scheduler *s,
			  void (*visit)(void                *context,
					const sennit_metric *metric),
			  void *context)
{
	const struct visit v = { s, visit, context };

	MISUSE_INHERITED(s, "sennit_metrics_visit");
	for (const struct sn_metric_family *f = sn_metrics_of_workers; f->name;
	     f++)
		visit_worker_numbers(&v, f);
	visit_workers(&v);
	visit_scheduler_numbers(&v);
	visit_histograms(&v);
}

/* --- histograms, for the reader ----------------------------------------- */

sennit_time sennit_histogram_bound(uint32_t bucket)
{
	uint32_t shift = bucket / 4 - 1;

	if (bucket >= SENNIT_HISTOGRAM_BUCKETS - 1)
		return SENNIT_NEVER;
	if (bucket < 4)
		return bucket;
	return ((uint64_t)(bucket % 4 + 5) << shift) - 1;
}

sennit_time sennit_histogram_quantile(const sennit_histogram *h, double part)
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

/* --- of workers --------------------------------------------------------- */

static struct counters_sum of(const struct worker *w)
{
	struct counters_sum sum = { .tasks = 0 };

	sn_counters_add(&sum, &w->counters);
	return sum;
}

static struct counters_sum past(sennit_scheduler *s)
{
	struct counters_sum sum = { .tasks = 0 };

	sn_bound_add_past(&s->bound, &sum);
	return sum;
}

#define COUNTED(field)                                    \
	static uint64_t field(struct worker *w)           \
	{                                                 \
		return of(w).field;                       \
	}                                                 \
	static uint64_t past_##field(sennit_scheduler *s) \
	{                                                 \
		return past(s).field;                     \
	}

COUNTED(tasks)
COUNTED(steals)
COUNTED(parks)
COUNTED(blocks)
COUNTED(resumes)
COUNTED(fibers_peak)

#define RARE(field)                                                           \
	static uint64_t field(struct worker *w)                               \
	{                                                                     \
		return a_load_rlx(&sn_observe_rare(&w->observe)->field);      \
	}                                                                     \
	static uint64_t past_##field(sennit_scheduler *s)                     \
	{                                                                     \
		return a_load_rlx(&sn_observe_past_rare(&s->observe)->field); \
	}

RARE(calls)
RARE(cancels)

static uint64_t fibers(struct worker *w)
{
	return sn_worker_blocked(w);
}

/* As reports count them: at least so many. */
static uint64_t queued(struct worker *w)
{
	uint64_t mailed = sn_mailbox_has_tasks(&w->mail);

	return mailed + (w->threaded ? sn_deque_count(sn_worker_deque(w))
				     : sn_backlog_count(&w->own));
}

static uint64_t unmeasured(struct worker *w)
{
	return sn_observe_is_timed(&w->scheduler->observe) &&
	       !sn_observe_measures(&w->observe);
}

#define COUNTER SENNIT_METRIC_COUNTER
#define GAUGE   SENNIT_METRIC_GAUGE

/* clang-format off */
const struct sn_metric_family sn_metrics_of_workers[] = {
	{ "sennit_tasks", "Tasks that have ended.",
	  NULL, COUNTER, tasks, past_tasks },
	{ "sennit_steals", "Tasks that the worker took from another.",
	  NULL, COUNTER, steals, past_steals },
	{ "sennit_parks", "Times that the worker went to sleep.",
	  NULL, COUNTER, parks, past_parks },
	{ "sennit_waits", "Waits and yields of fibers.",
	  NULL, COUNTER, blocks, past_blocks },
	{ "sennit_wakes", "Waits and yields of fibers that are over.",
	  NULL, COUNTER, resumes, past_resumes },
	{ "sennit_waits_cancelled", "Waits that their group ended.",
	  NULL, COUNTER, cancels, past_cancels },
	{ "sennit_blocking_calls", "Blocking calls.",
	  NULL, COUNTER, calls, past_calls },
	{ "sennit_fibers", "Fibers that wait or are ready.",
	  NULL, GAUGE, fibers, NULL },
	{ "sennit_fibers_peak", "The most fibers that have waited at once.",
	  NULL, GAUGE, fibers_peak, past_fibers_peak },
	{ "sennit_tasks_queued", "Tasks that have not started, at least.",
	  NULL, GAUGE, queued, NULL },
	{ "sennit_workers_unmeasured",
	  "Workers that do not record durations though they should: they "
	  "have not looked for work since, or got no memory.",
	  NULL, GAUGE, unmeasured, NULL },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};

/* --- of the scheduler --------------------------------------------------- */

#define AT(field) offsetof(sennit_stats, field)

const struct sn_metric_of_stats sn_metrics_of_stats[] = {
	{ { "sennit_stacks_unguarded", "Stacks with a canary for a guard page.",
	    NULL, GAUGE, NULL, NULL }, AT(stacks_unguarded) },
	{ { "sennit_stacks_trimmed", "Stacks whose memory was given back.",
	    NULL, COUNTER, NULL, NULL }, AT(stacks_trimmed) },
	{ { "sennit_stack_bytes", "Addresses mapped for stacks.",
	    "bytes", GAUGE, NULL, NULL }, AT(stack_bytes) },
	{ { "sennit_blocking_threads", "Threads for blocking calls.",
	    NULL, GAUGE, NULL, NULL }, AT(blocking_threads) },
	{ { "sennit_worker_threads", "Workers that have a thread.",
	    NULL, GAUGE, NULL, NULL }, AT(threads) },
	{ { "sennit_workers_active", "Workers that hold a CPU of resources.",
	    NULL, GAUGE, NULL, NULL }, AT(active) },
	{ { "sennit_workers_waiting", "Workers that wait for a CPU of the "
	    "resources.", NULL, GAUGE, NULL, NULL }, AT(waiting) },
	{ { NULL, NULL, NULL, 0, NULL, NULL }, 0 },
};
/* clang-format on */
