/* SPDX-License-Identifier: Apache-2.0 */
/* idle_state.h - how a worker spends its idle time: see idle.h. */
#ifndef SN_IDLE_STATE_H
#define SN_IDLE_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct idle_state {
	uint32_t spin_ns;          /* owner: how long the next spin may be */
	bool     starts_searching; /* handed: begins as a counted searcher */
	bool     retiring;         /* owner: asleep, out of the gate, about to
				 * lose its thread */
};

static inline void sn_idle_init(struct idle_state *i, uint32_t spin_ns)
{
	i->spin_ns = spin_ns;
}

/* A worker whose thread is about to begin: whether it is counted as a searcher
 * already. */
static inline void sn_idle_start_searching(struct idle_state *i, bool counted)
{
	i->starts_searching = counted;
}

/* Whether sn_idle has ended as the worker is to retire; once. */
static inline bool sn_idle_is_retiring(const struct idle_state *i)
{
	return i->retiring;
}

static inline void sn_idle_end_retiring(struct idle_state *i)
{
	i->retiring = false;
}

#endif
