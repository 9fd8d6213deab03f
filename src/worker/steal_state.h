/* SPDX-License-Identifier: Apache-2.0 */
/* steal_state.h - which victims a worker visits: see steal.h. */
#ifndef SN_STEAL_STATE_H
#define SN_STEAL_STATE_H

#include "core/steal_order.h"

struct steal_state {
	uint32_t           random;      /* owner */
	uint32_t           last_victim; /* owner: the worker that last had
					 * tasks; its own index: none */
	struct steal_rings rings; /* fixed: its neighbours; only if there are
				   * places */
};

/* `seed` must not be 0, and must differ between workers. `own` is the worker's
 * index. */
static inline void sn_steal_init(struct steal_state *s, uint32_t seed,
				 uint32_t own)
{
	s->random = seed;
	s->last_victim = own;
}

/* Compute its neighbours from the order of places, before its thread runs. */
static inline void sn_steal_set_neighbours(struct steal_state         *s,
					   const struct topology_slot *places,
					   uint32_t n, uint32_t at)
{
	sn_steal_order_rings(&s->rings, places, n, at);
}

/* The next search begins with this worker. */
static inline void sn_steal_begin_with(struct steal_state *s, uint32_t victim)
{
	s->last_victim = victim;
}

#endif
