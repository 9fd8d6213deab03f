/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metrics_family.h"

#include "worker/observe.h"

#include <stddef.h>

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
