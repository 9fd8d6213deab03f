/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/metrics.h"

#include "api/metrics_family.h"
#include "core/stopwatch.h"
#include "worker/fork_exit.h"
#include "worker/observe.h"

#include <inttypes.h>
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
