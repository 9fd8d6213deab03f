/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - which workers are whose neighbours.
 *
 * A worker has a place when it is bound to CPUs of its own that share one;
 * where there are so few workers that a thief visits all of them, nobody needs
 * to know.
 */
#ifndef SN_TOPOLOGY_H
#define SN_TOPOLOGY_H

#include "worker/worker.h"

/* The CPUs that the configuration gives to worker i in particular. False: it
 * gives none, and *out is left alone. */
bool sn_topology_own_cpus(const sennit_scheduler *s, uint32_t i,
			  sennit_cpu_mask *out);

/* Before any thread is there. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_topology_init(sennit_scheduler *s);

#endif
