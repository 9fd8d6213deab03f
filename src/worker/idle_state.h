/* SPDX-License-Identifier: Apache-2.0 */
/* idle_state.h - the state of a worker's idle time: see idle.h. */
#ifndef SN_IDLE_STATE_H
#define SN_IDLE_STATE_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <stdbool.h>
#include <stdint.h>

/* In `time`: the worker is idle. */
#define IDLE_NOW (UINT64_C(1) << 63)

struct idle_state {
	uint32_t spin_ns;          /* owner: maximum length of the next spin, in
				    * ns */
	bool     starts_searching; /* handed: begins as a searcher that is
				    * already counted */
	bool     retiring;         /* owner: asleep, out of the gate, about to
				    * give up its thread */
	a_u64    time;             /* owner writes: the sum of idle times; with
				    * IDLE_NOW: when the current one began minus
				    * the sum of those before it */
};

static inline void sn_idle_init(struct idle_state *i, uint32_t spin_ns)
{
	i->spin_ns = spin_ns;
	a_init(&i->time, 0);
}

/* An idle time begins, or goes on if the worker gave up its thread in it. */
static inline void sn_idle_begin(struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time); /* not raced: only the owner
					       * writes */

	if (!(time & IDLE_NOW))
		a_store_rlx(&i->time, IDLE_NOW | (now - time));
}

static inline void sn_idle_end(struct idle_state *i, sennit_time now)
{
	a_store_rlx(&i->time, now - (a_load_rlx(&i->time) & ~IDLE_NOW));
}

/* Any thread: whether the worker searches or sleeps. May be stale. */
static inline bool sn_idle_is_idle(const struct idle_state *i)
{
	return a_load_rlx(&i->time) & IDLE_NOW;
}

/* Any thread: the sum of all idle times up to `now`. One word holds all that it
 * takes, so the sum never goes back by more than clocks differ. */
static inline uint64_t sn_idle_time(const struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time);

	return time & IDLE_NOW ? now - (time & ~IDLE_NOW) : time;
}

/* For a worker whose thread is about to begin: whether it is already counted as
 * a searcher. */
static inline void sn_idle_start_searching(struct idle_state *i, bool counted)
{
	i->starts_searching = counted;
}

/* Whether sn_idle returned because the worker must retire. sn_idle_end_retiring
 * resets this. */
static inline bool sn_idle_is_retiring(const struct idle_state *i)
{
	return i->retiring;
}

static inline void sn_idle_end_retiring(struct idle_state *i)
{
	i->retiring = false;
}

#endif
