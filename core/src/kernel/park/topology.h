/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - which workers are neighbours: the order in which a thief visits
 * victims, and the partition of CPUs among workers.
 *
 *	seats	all workers, sorted so that neighbours are adjacent
 *
 *	        . . . . . . . . . . . . . . . . . . . . . . . .
 *	        |        |<-- cache -->|      |
 *	        |        |<------ node ------>|
 *	        |<---------------- all workers ---------------->|
 *
 * Each worker has rings: ranges of seats around its own, each inside the next.
 * A round visits at most STEAL_ORDER_TRIES other workers. Each ring, from the
 * innermost out, gets half of the remaining visits, and the last ring gets all
 * of them. Visits that a small ring does not use go to the next ring. The next
 * round continues where this one ended, so a long search visits every worker.
 *
 * A worker that may run on any CPU has no neighbours. If no worker has
 * neighbours, there is one ring with all workers.
 */
#ifndef SN_TOPOLOGY_H
#define SN_TOPOLOGY_H

#include "sennit/scheduler.h"

#define STEAL_ORDER_TRIES 8u
#define STEAL_ORDER_RINGS 4u

/* A core, cache or node number that counts as shared with nobody. */
#define STEAL_ORDER_NOWHERE UINT32_MAX

struct topology_slot {
	sennit_cpu_place place; /* where the worker runs */
	uint32_t         worker;
};

struct steal_rings {
	uint32_t seat; /* the worker's own seat */
	uint32_t count;
	struct {
		uint32_t begin, end;
	} of[STEAL_ORDER_RINGS]; /* innermost first; the last one contains all
				  * workers */
};

/* The position of a search: the next seat of each ring. */
struct steal_tour {
	uint32_t next[STEAL_ORDER_RINGS];
};

/* Sort n workers into seats. On entry seats[i].place is the place of worker
 * i. */
void sn_steal_order_sort(struct topology_slot seats[], uint32_t n);

/* Compute the rings of the worker on `seat`. */
void sn_steal_order_rings(struct steal_rings        *c,
			  const struct topology_slot seats[], uint32_t n,
			  uint32_t seat);

/* Begin a search. `random` makes the searches of different workers differ. */
void sn_steal_order_begin(struct steal_tour *t, const struct steal_rings *c,
			  uint32_t random);

/* Write the workers to visit in this round, in order. Workers with a number of
 * `extent` or above do not exist. Returns how many. */
uint32_t sn_steal_order_round(struct steal_tour *t, const struct steal_rings *c,
			      const struct topology_slot seats[],
			      uint32_t extent, uint32_t out[STEAL_ORDER_TRIES]);

/* --- cpu partition -------------------------------------------------------- */

/* Divides CPUs among workers: ranges of a list in which neighbours are
 * adjacent. The ranges are disjoint and together the whole list, and their
 * sizes differ by one at most. With more workers than CPUs several workers get
 * the same CPU. */

/* Sort the CPUs so that those of a core, a cache and a node are adjacent.
 * slots[i].place is the place of cpus[i]; slots is scratch memory, and so is
 * copy, with n elements. */
void sn_cpu_partition_sort(uint32_t cpus[], struct topology_slot slots[],
			   uint32_t copy[], uint32_t n);

/* The CPUs of worker i of n. */
sennit_cpu_mask sn_cpu_partition_get(sennit_cpu_mask all, uint32_t i,
				     uint32_t n);

#endif
