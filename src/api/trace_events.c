/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/trace_events.h"

#include "worker/fork_exit.h"
#include "worker/trace.h"
#include "worker/trace_write.h"

#include <errno.h>

#define LEAST UINT64_C(64)
#define MOST  (UINT64_C(1) << 24)

/* The events per ring, or 0 if that is not possible. */
static uint64_t choose(uint64_t asked, uint64_t before)
{
	uint64_t n = LEAST;

	if (!asked && before)
		return before;
	if (asked > MOST)
		return 0;
	while (n < (asked ? asked : SENNIT_TRACE_EVENTS))
		n *= 2;
	return before && n != before ? 0 : n;
}

int sennit_trace_start(sennit_scheduler *s, const sennit_trace_options *options)
{
	const sennit_trace_options plain = { 0, -1 };
	uint64_t                   capacity;
	int                        err;

	MISUSE_INHERITED(s, "sennit_trace_start");
	if (!options)
		options = &plain;
	capacity = choose(options->events, sn_trace_capacity(s));
	if (!capacity)
		return -EINVAL;
	err = sn_trace_crash_to(s, options->crash_fd);
	if (err)
		return err;
	err = sn_trace_start(s, capacity);
	if (err)
		sn_trace_crash_forget(s);
	return err;
}

void sennit_trace_stop(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_trace_stop");
	sn_trace_stop(s);
}

int sennit_trace_write(sennit_scheduler *s, int fd)
{
	MISUSE_INHERITED(s, "sennit_trace_write");
	return sn_trace_capacity(s) ? sn_trace_write(s, fd) : -ENOTSUP;
}

static void record(uint32_t kind, const char *name, int64_t v)
{
	struct worker *w = sn_self;

	if (w && sn_worker_is_traced(w))
		sn_recorder_add(&w->recorder, kind, 0, (uintptr_t)name,
				(uint64_t)v);
}

void sennit_trace_begin(const char *name)
{
	record(SENNIT_TRACED_SPAN_BEGIN, name, 0);
}

void sennit_trace_end(void)
{
	record(SENNIT_TRACED_SPAN_END, NULL, 0);
}

void sennit_trace_value(const char *name, int64_t v)
{
	record(SENNIT_TRACED_VALUE, name, v);
}
