/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - which workers are neighbours.
 *
 * A worker has a place if it is bound to CPUs that share a core, a cache or a
 * node. The places matter only when there are more workers than a thief visits
 * in one round.
 */
#ifndef SN_TOPOLOGY_H
#define SN_TOPOLOGY_H

#include "worker/worker.h"

/* The CPUs that the configuration assigns to worker i. Returns false if it
 * assigns none; *out is then unchanged. */
bool sn_topology_own_cpus(const sennit_scheduler *s, uint32_t i,
			  sennit_cpu_mask *out);

/* Compute the places and rings of all workers, before any thread runs. Returns
 * 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_topology_init(sennit_scheduler *s);

#endif
