/* SPDX-License-Identifier: Apache-2.0 */
/* steal_order.h - whom a thief visits: its neighbours first, and not all in one
 * round.
 *
 *	seats	all workers, sorted so that neighbours sit together
 *
 *	        . . . . . . . . . . . . . . . . . . . . . . . .
 *	        |        |<-- cache -->|      |
 *	        |        |<------ node ------>|
 *	        |<----------------- everybody ----------------->|
 *
 * Each worker knows its circles: runs of seats around its own, each inside the
 * next. In a round it visits STEAL_ORDER_TRIES others at most: of each circle,
 * from the innermost out, half of what is left of these, and of the last all of
 * it. A circle that has fewer leaves the rest to the next. The next round goes
 * on where this one ended: whoever searches long enough visits all.
 *
 * A worker that may run anywhere has no neighbours; where nobody has there is
 * one circle, everybody.
 */
#ifndef SN_STEAL_ORDER_H
#define SN_STEAL_ORDER_H

#include "sennit/scheduler.h"

#define STEAL_ORDER_TRIES 8u
#define STEAL_ORDER_RINGS 4u

/* A number that nobody shares. */
#define STEAL_ORDER_NOWHERE UINT32_MAX

struct topology_slot {
	sennit_cpu_place place; /* of where its worker runs */
	uint32_t         worker;
};

struct steal_rings {
	uint32_t seat; /* one's own */
	uint32_t count;
	struct {
		uint32_t begin, end;
	} of[STEAL_ORDER_RINGS]; /* innermost first; the last is everybody */
};

/* Where a search is: the seat of each circle that comes next. */
struct steal_tour {
	uint32_t next[STEAL_ORDER_RINGS];
};

/* Seat n workers: worker i's place is in seats[i] beforehand. */
void sn_steal_order_sort(struct topology_slot seats[], uint32_t n);

/* The circles of the worker that sits on a seat. */
void sn_steal_order_rings(struct steal_rings        *c,
			  const struct topology_slot seats[], uint32_t n,
			  uint32_t seat);

/* Begin to search; random makes searches differ. */
void sn_steal_order_begin(struct steal_tour *t, const struct steal_rings *c,
			  uint32_t random);

/* The workers to visit in this round, in this order; those from `extent` on do
 * not exist. Returns how many. */
uint32_t sn_steal_order_round(struct steal_tour *t, const struct steal_rings *c,
			      const struct topology_slot seats[],
			      uint32_t extent, uint32_t out[STEAL_ORDER_TRIES]);

#endif
