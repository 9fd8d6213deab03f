/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/trace.h"

#include "base/memory.h"
#include "worker/fork_exit.h"

#include <errno.h>

static void visit_worker(struct worker *w, const uint64_t events[],
			 uint64_t count,
			 void (*visit)(void *, const sennit_trace_span *),
			 void *context)
{
	sennit_time now = sennit_now();

	for (uint64_t i = 0; i < count; i++) {
		sennit_trace_span span = {
			.worker = w->index,
			.state = sn_tracebuffer_state(events[i]),
			.begin = sn_tracebuffer_time(events[i]),
			.end = i + 1 < count
				       ? sn_tracebuffer_time(events[i + 1])
				       : now,
		};

		visit(context, &span);
	}
}

int sennit_trace_visit(sennit_scheduler *s,
		       void (*visit)(void                    *context,
				     const sennit_trace_span *span),
		       void *context)
{
	uint64_t *events;
	size_t    size;

	MISUSE_INHERITED(s, "sennit_trace_visit");
	if (!s->config.trace_events)
		return -ENOTSUP;
	size = (s->config.trace_events + (size_t)1) * sizeof(uint64_t);
	events = sn_memory_take(&s->memory, size, sizeof(*events));
	if (!events)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker *w = s->workers[i];
		uint64_t       count = sn_tracebuffer_copy(&w->trace, events);

		visit_worker(w, events, count, visit, context);
	}
	sn_memory_give(&s->memory, events, size);
	return 0;
}
