/* SPDX-License-Identifier: Apache-2.0 */
/* find_metric.h - what metrics and traces say of a scheduler. */
#ifndef SN_TEST_FIND_METRIC_H
#define SN_TEST_FIND_METRIC_H

#include "testing/with_workers.h"
#include "sennit/metrics.h"
#include "sennit/trace.h"
#include "testing/trace_file.h"

/* --- find metric ------------------------------------------------------- */

/* Finds one metric of a scheduler. */

struct wanted {
	const char      *name;
	const char      *label_value; /* NULL: the sum over all */
	uint32_t         found;
	uint64_t         value;
	sennit_histogram histogram;
};

static inline void look_at_metric(void *context, const sennit_metric *m)
{
	struct wanted *w = context;

	if (strcmp(m->name, w->name) ||
	    (w->label_value && strcmp(m->label_value, w->label_value)))
		return;
	w->found++;
	w->value += m->value;
	if (m->histogram)
		w->histogram = *m->histogram;
}

static inline struct wanted find(sennit_scheduler *s, const char *name,
				 const char *label_value)
{
	struct wanted w = { .name = name, .label_value = label_value };

	sennit_metrics_visit(s, look_at_metric, &w);
	return w;
}

static inline uint64_t value_of(sennit_scheduler *s, const char *name)
{
	return find(s, name, NULL).value;
}

static inline uint64_t tasks_timed(sennit_scheduler *s)
{
	return find(s, "sennit_task_run_seconds", NULL).histogram.count;
}

/* --- traced ------------------------------------------------------------ */

/* A scheduler whose events are recorded, and its trace as a file. */

/* The trace of s as a file. */
static inline struct trace_file trace_of(sennit_scheduler *s)
{
	struct trace_file f;
	FILE             *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(sennit_trace_write(s, fileno(file)), 0);
	trace_file_read(&f, fileno(file));
	fclose(file);
	if (f.wrong)
		fail_msg("the file is wrong: %s", f.wrong);
	return f;
}

static inline void start(sennit_scheduler *s)
{
	assert_int_equal(sennit_trace_start(s, NULL), 0);
}

#endif
