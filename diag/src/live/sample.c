/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - the numbers of workers and tasks over the time between two
 * snapshots. */
#include "live/live.h"

#include "sennit/detail/debugger.h"

#include <string.h>

/* Read the name from the record, because no public call returns it. It is
 * constant and ends with a zero. */
static void read_scheduler_name(struct live_sample *m)
{
	const struct sennit_debug_descriptor *d = &sennit_debug_descriptor;

	strncat(m->name, (const char *)m->of + d->scheduler_name_at,
		LIVE_NAME - 1);
}

void sn_live_sample_reset(struct live_sample *m, sennit_scheduler *of)
{
	memset(m, 0, sizeof(*m));
	m->of = of;
	if (of)
		read_scheduler_name(m);
}

/* --- tasks that run ------------------------------------------------------ */

/* Copy the name to a field of fixed size, cut or padded. NULL: none. */
static void pad_name(char to[SENNIT_TASK_NAME_SIZE], const char *name)
{
	size_t length = name ? strnlen(name, SENNIT_TASK_NAME_SIZE - 1) : 0;

	memset(to, 0, SENNIT_TASK_NAME_SIZE);
	if (length)
		memcpy(to, name, length);
}

static bool is_kind(const struct live_task *t, sennit_task_fn *run,
		    const char name[SENNIT_TASK_NAME_SIZE])
{
	return t->run == run && !memcmp(t->name, name, SENNIT_TASK_NAME_SIZE);
}

/* Return a place for a new kind of task: a free one, else that of the kind that
 * has run least, unless it runs now. NULL: all run now. */
static struct live_task *make_place(struct live_sample *m)
{
	struct live_task *least = NULL;

	if (m->task_count < LIVE_TASKS)
		return &m->tasks[m->task_count++];
	for (uint32_t i = 0; i < LIVE_TASKS; i++)
		if (!m->tasks[i].running &&
		    (!least || m->tasks[i].average < least->average))
			least = &m->tasks[i];
	return least;
}

static void count_running(struct live_sample *m, const sennit_report_entry *e)
{
	char              name[SENNIT_TASK_NAME_SIZE];
	struct live_task *t;

	pad_name(name, e->name);
	for (uint32_t i = 0; i < m->task_count; i++)
		if (is_kind(&m->tasks[i], e->task, name)) {
			m->tasks[i].running++;
			return;
		}
	t = make_place(m);
	if (!t)
		return;
	*t = (struct live_task){ .run = e->task, .running = 1 };
	memcpy(t->name, name, sizeof(name));
}

/* Update the averages: over all looks at first, later over LIVE_LOOKS with
 * exponential weights. */
static void average(struct live_sample *m)
{
	uint64_t span = ++m->looks < LIVE_LOOKS ? m->looks : LIVE_LOOKS;

	for (uint32_t i = 0; i < m->task_count; i++) {
		struct live_task *t = &m->tasks[i];

		t->average = (t->average * (span - 1) + t->running * LIVE_ONE) /
			     span;
		t->running = 0;
	}
}

uint32_t sn_live_sample_hottest(const struct live_sample *m, uint32_t order[],
				uint32_t size)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->task_count; i++) {
		uint32_t at = count;

		/* Less than half a thousandth would be shown as 0. */
		if (m->tasks[i].average < LIVE_ONE / 2000)
			continue;
		while (at &&
		       m->tasks[order[at - 1]].average < m->tasks[i].average)
			at--;
		if (at == size)
			continue;
		count += count < size;
		memmove(&order[at + 1], &order[at],
			(count - 1 - at) * sizeof(*order));
		order[at] = i;
	}
	return count;
}

/* --- the report ---------------------------------------------------------- */

/* Keep the fibers that have waited longest, longest first. */
static void note_waiter(struct live_sample *m, const sennit_report_entry *e)
{
	uint32_t at = m->waiter_count;

	if (at == LIVE_WAITERS && m->waiters[at - 1].entry.since <= e->since)
		return;
	m->waiter_count += at < LIVE_WAITERS;
	at = m->waiter_count - 1;
	for (; at && m->waiters[at - 1].entry.since > e->since; at--)
		m->waiters[at] = m->waiters[at - 1];
	m->waiters[at].entry = *e;
	pad_name(m->waiters[at].name, e->name);
}

/* Count the entry. A bound thread's own stack has no task; its waits are left
 * out. */
static void visit_entry(void *context, const sennit_report_entry *e)
{
	struct live_sample *m = context;

	switch (e->state) {
	case SENNIT_REPORT_RUNNING:
		m->running++;
		if (e->task)
			count_running(m, e);
		break;
	case SENNIT_REPORT_READY:
		m->ready++;
		break;
	case SENNIT_REPORT_BLOCKED:
		m->blocked++;
		note_waiter(m, e);
		break;
	default:
		m->queued += e->count;
	}
}

/* --- workers, periods ---------------------------------------------------- */

static void visit_view(void *context, const sennit_worker_view *view)
{
	struct live_sample *m = context;
	struct live_worker *w = &m->workers[m->worker_count];

	if (m->worker_count == LIVE_WORKERS) {
		m->workers_left_out++;
		return;
	}
	m->worker_count++;
	/* A bound thread may have come or gone, or a worker's thread may have
	 * ended. */
	if (w->now.worker != view->worker ||
	    (view->worker == UINT32_MAX && w->now.thread != view->thread))
		*w = (struct live_worker){ .mark = *view };
	w->now = *view;
}

static uint64_t per_second(uint64_t from, uint64_t to, sennit_time elapsed)
{
	return to > from
		       ? (uint64_t)((double)(to - from) * 1e9 / (double)elapsed)
		       : 0;
}

static uint32_t busy_share(const struct live_worker *w, sennit_time elapsed)
{
	uint64_t idle = w->now.idle_ns - w->mark.idle_ns;

	/* The clocks were read at slightly different times. */
	if (w->now.idle_ns < w->mark.idle_ns)
		idle = 0;
	return idle < elapsed ? (uint32_t)((elapsed - idle) * 1000 / elapsed)
			      : 0;
}

static void end_period(struct live_sample *m, sennit_time now)
{
	sennit_time elapsed = now - m->period;

	for (uint32_t i = 0; i < m->worker_count; i++) {
		struct live_worker *w = &m->workers[i];

		w->busy = busy_share(w, elapsed);
		w->tasks_per_s = per_second(w->mark.tasks, w->now.tasks,
					    elapsed);
		w->mark = w->now;
	}
	m->tasks_per_s = per_second(m->mark.tasks, m->stats.tasks, elapsed);
	m->steals_per_s = per_second(m->mark.steals, m->stats.steals, elapsed);
	m->blocks_per_s = per_second(m->mark.blocks, m->stats.blocks, elapsed);
	m->parks_per_s = per_second(m->mark.parks, m->stats.parks, elapsed);
	sn_live_latencies_read(&m->latencies, m->of);
	m->mark = m->stats;
	m->period = now;
	m->warm = true;
}

void sn_live_sample_update(struct live_sample *m)
{
	sennit_time now;

	m->running = m->ready = m->blocked = m->queued = 0;
	m->waiter_count = m->worker_count = m->workers_left_out = 0;
	sennit_report_visit(m->of, visit_entry, m);
	average(m);
	sennit_workers_visit(m->of, visit_view, m);
	m->stats.size = sizeof(m->stats);
	sennit_scheduler_get_stats(m->of, &m->stats);
	now = sennit_now();
	if (!m->period) {
		m->period = now;
		m->mark = m->stats;
		for (uint32_t i = 0; i < m->worker_count; i++)
			m->workers[i].mark = m->workers[i].now;
	} else if (now - m->period >= (m->warm ? LIVE_PERIOD : LIVE_WARM)) {
		end_period(m, now);
	}
}

/* --- live latency --------------------------------------------------------- */

/* Return the record of the metric, and create it if necessary. NULL: no
 * room. */
static struct live_latency *record_of(struct live_latencies *l,
				      const sennit_metric   *m)
{
	const char          *kind = m->label_value ? m->label_value : "";
	struct live_latency *r;

	for (uint32_t i = 0; i < l->count; i++)
		if (!strcmp(l->of[i].name, m->name) &&
		    !strcmp(l->of[i].kind, kind))
			return &l->of[i];
	if (l->count == LIVE_LATENCIES ||
	    strlen(m->name) >= sizeof(l->of[0].name) ||
	    strlen(kind) >= sizeof(l->of[0].kind))
		return NULL;
	r = &l->of[l->count++];
	strcpy(r->name, m->name);
	strcpy(r->kind, kind);
	return r;
}

/* Workers continue meanwhile, so a count may be less than the sum of its
 * buckets. */
static void read_period(struct live_latency *r, const sennit_histogram *now)
{
	sennit_histogram period = { .count = 0 };

	for (uint32_t i = 0; i < SENNIT_HISTOGRAM_BUCKETS; i++) {
		period.buckets[i] = now->buckets[i] - r->all.buckets[i];
		period.count += period.buckets[i];
	}
	r->all = *now;
	r->count = period.count;
	r->p50 = sennit_histogram_quantile(&period, 0.5);
	r->p99 = sennit_histogram_quantile(&period, 0.99);
}

static void visit_metric(void *context, const sennit_metric *m)
{
	struct live_latency *r;

	if (m->type != SENNIT_METRIC_HISTOGRAM || !m->histogram->count)
		return;
	r = record_of(context, m);
	if (r)
		read_period(r, m->histogram);
}

void sn_live_latencies_read(struct live_latencies *l, sennit_scheduler *s)
{
	for (uint32_t i = 0; i < l->count; i++)
		l->of[i].count = 0;
	sennit_metrics_visit(s, visit_metric, l);
}
