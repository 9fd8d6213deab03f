/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_write.c - writes metrics as OpenMetrics text 1.0, or in the text
 * format of Prometheus.
 *
 * A family of metrics begins with its TYPE, UNIT and HELP. Durations are in
 * seconds with nine decimals, which is exact. The format of Prometheus differs
 * in three ways: the family of a counter has the suffix of its lines, there is
 * no UNIT, and there is no EOF.
 */
#include "base/text.h"
#include "os/os.h"
#include "sched/state.h"
#include "sennit/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds of the buckets in the text: 2^7 - 1 ns, 2^8 - 1 ns, ... up to 18
 * min. */
#define FIRST_POWER 7
#define LAST_POWER  40

struct metrics_page {
	int         fd;
	int         error; /* 0 or negative errno value of write() */
	bool        older; /* in the format of Prometheus */
	size_t      used;
	const char *last;     /* name of the last metric, or "" */
	char        name[72]; /* of the scheduler, escaped */
	char        text[2048];
};

static void flush_page(struct metrics_page *p)
{
	if (!p->error)
		p->error = sn_write_all(p->fd, p->text, p->used);
	p->used = 0;
}

/* At most OS_LINE bytes. */
static PRINTF(2, 3) void put(struct metrics_page *p, const char *format, ...)
{
	va_list arguments;
	int     n;

	if (p->used + OS_LINE > sizeof(p->text))
		flush_page(p);
	va_start(arguments, format);
	n = vsnprintf(p->text + p->used, OS_LINE, format, arguments);
	va_end(arguments);
	if (n > 0)
		p->used += (size_t)n < OS_LINE ? (size_t)n : OS_LINE - 1;
}

/* Escape the three characters that have an escape sequence within quotation
 * marks. */
static void escape_label(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 2 < size; text++) {
		if (*text == '\n' || *text == '"' || *text == '\\')
			out[used++] = '\\';
		out[used++] = *text == '\n' ? 'n' : *text;
	}
	out[used] = '\0';
}

static void put_metric_head(struct metrics_page *p, const sennit_metric *m)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const char *suffix = p->older && m->type == SENNIT_METRIC_COUNTER
				     ? "_total"
				     : "";

	if (!strcmp(p->last, m->name))
		return;
	p->last = m->name;
	put(p, "# TYPE %s%s %s\n", m->name, suffix, types[m->type]);
	if (m->unit[0] && !p->older)
		put(p, "# UNIT %s %s\n", m->name, m->unit);
	put(p, "# HELP %s%s %s\n", m->name, suffix, m->help);
}

/* The name with a suffix, and the labels without the closing brace. */
static void put_metric_name(struct metrics_page *p, const sennit_metric *m,
			    const char *suffix)
{
	char value[64];

	put(p, "%s%s{scheduler=\"%s\"", m->name, suffix, p->name);
	if (!m->label)
		return;
	escape_label(value, sizeof(value), m->label_value);
	put(p, ",%s=\"%s\"", m->label, value);
}

#define SECONDS        "%" PRIu64 ".%09" PRIu64
#define IN_SECONDS(ns) (ns) / SENNIT_SECOND, (ns) % SENNIT_SECOND

static void put_histogram(struct metrics_page *p, const sennit_metric *m)
{
	const sennit_histogram *h = m->histogram;
	uint64_t                below = 0;
	uint32_t                bucket = 0;

	for (uint32_t power = FIRST_POWER; power <= LAST_POWER; power++) {
		sennit_time bound = (UINT64_C(1) << power) - 1;

		while (sennit_histogram_bound(bucket) <= bound)
			below += h->buckets[bucket++];
		put_metric_name(p, m, "_bucket");
		put(p, ",le=\"" SECONDS "\"} %" PRIu64 "\n", IN_SECONDS(bound),
		    below);
	}
	put_metric_name(p, m, "_bucket");
	put(p, ",le=\"+Inf\"} %" PRIu64 "\n", h->count);
	put_metric_name(p, m, "_count");
	put(p, "} %" PRIu64 "\n", h->count);
	put_metric_name(p, m, "_sum");
	put(p, "} " SECONDS "\n", IN_SECONDS(h->sum));
}

static void put_metric(void *context, const sennit_metric *m)
{
	struct metrics_page *p = context;

	put_metric_head(p, m);
	if (m->type == SENNIT_METRIC_HISTOGRAM) {
		put_histogram(p, m);
		return;
	}
	put_metric_name(p, m, m->type == SENNIT_METRIC_COUNTER ? "_total" : "");
	if (!strcmp(m->unit, "seconds"))
		put(p, "} " SECONDS "\n", IN_SECONDS(m->value));
	else
		put(p, "} %" PRIu64 "\n", m->value);
}

int sennit_metrics_write(sennit_scheduler *s, int fd, uint32_t format)
{
	struct metrics_page p = { .fd = fd, .last = "" };

	if ((unsigned)format > SENNIT_METRICS_PROMETHEUS)
		return -EINVAL;
	p.older = format == SENNIT_METRICS_PROMETHEUS;
	escape_label(p.name, sizeof(p.name), s->name);
	sennit_metrics_visit(s, put_metric, &p);
	if (!p.older)
		put(&p, "# EOF\n");
	flush_page(&p);
	return p.error;
}
