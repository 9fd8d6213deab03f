/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/live_latency.h"

#include <string.h>

/* The record of the metric, made if need be. NULL: there is no place. */
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

/* Workers go on meanwhile, so a count may be less than that of its buckets. */
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
