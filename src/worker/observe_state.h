/* SPDX-License-Identifier: Apache-2.0 */
/* observe_state.h - the parts of a worker and of a scheduler for observe.h. */
#ifndef SN_OBSERVE_STATE_H
#define SN_OBSERVE_STATE_H

#include "core/histogram.h"
#include "sennit/report.h"

/* Bits of home.observed: who wants to know what the worker does. */
#define OBSERVE_TIMES  1u /* the histograms */
#define OBSERVE_PROBES 2u /* a tracer: see probes.h */
#define OBSERVE_TRACE  4u /* the trace of events: see trace.h */

/* Kinds of waits. */
#define OBSERVE_WAITS (SENNIT_WAITS_FOR_IO + 1)

/* The histograms of one worker. */
struct measures {
	struct histogram run;     /* how long tasks ran */
	struct histogram latency; /* how long fibers were ready */
	struct histogram waits[OBSERVE_WAITS];
};

/* Counters of what is rare. They are counted always. */
struct rare_counters { /* all: owner writes */
	a_u64 calls, cancels;
};

/* The part of a worker. */
struct observe_state {
	a_ptr    measures; /* owner writes: struct measures; NULL: none yet */
	uint32_t every;   /* owner: as in the scheduler; 0: off, or no memory */
	uint32_t task_in; /* owner: tasks until one is timed */
	uint32_t wait_in; /* owner: waits until one is timed */
	uint64_t stamp;   /* owner: when what ran has stopped, if nothing else
			   * has been done since; 0: unknown */
	struct rare_counters rare;
};

/* The part of a scheduler. */
struct observe_shared {
	a_u32 every;           /* any: one of how many tasks and waits is timed;
				* 0: none */
	a_u32 traced;          /* any: 1: events are recorded */
	struct measures *past; /* under bound_workers.lock: of threads that have
				* unbound; NULL: none */
	struct rare_counters past_rare; /* under bound_workers.lock */
};

static inline struct measures *sn_observe_measures(struct observe_state *o)
{
	return a_load_acq(&o->measures); /* <- observe.measures */
}

static inline const struct rare_counters *sn_observe_rare(
	const struct observe_state *o)
{
	return &o->rare;
}

/* bound_workers.lock held. */
static inline const struct rare_counters *sn_observe_past_rare(
	const struct observe_shared *o)
{
	return &o->past_rare;
}

static inline bool sn_observe_is_timed(const struct observe_shared *o)
{
	return a_load_rlx(&o->every); /* for a gauge */
}

/* --- owner only --------------------------------------------------------- */

/* Count down. Returns whether it is not yet the turn of one to be timed. */
static inline bool sn_observe_pass(struct observe_state *o, uint32_t *left)
{
	if (*left <= 1)
		return false;
	--*left;
	o->stamp = 0;
	return true;
}

/* The worker has a new thread, which has not looked yet. */
static inline void sn_observe_reset(struct observe_state *o)
{
	o->every = 0;
	o->stamp = 0;
}

static inline void sn_observe_count_call(struct observe_state *o)
{
	a_bump_owner(&o->rare.calls);
}

static inline void sn_observe_count_cancel(struct observe_state *o)
{
	a_bump_owner(&o->rare.cancels);
}

#endif
