/* SPDX-License-Identifier: Apache-2.0 */
/* idle_state.h - the state of a worker's idle time: see idle.h. */
#ifndef SN_IDLE_STATE_H
#define SN_IDLE_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct idle_state {
	uint32_t spin_ns;          /* owner: maximum length of the next spin, in
				    * ns */
	bool     starts_searching; /* handed: begins as a searcher that is
				    * already counted */
	bool     retiring;         /* owner: asleep, out of the gate, about to
				    * give up its thread */
};

static inline void sn_idle_init(struct idle_state *i, uint32_t spin_ns)
{
	i->spin_ns = spin_ns;
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
