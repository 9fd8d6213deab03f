/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_partition.h - divides CPUs among workers: ranges of a list in which
 * neighbours are adjacent. The ranges are disjoint and together the whole list,
 * and their sizes differ by one at most. With more workers than CPUs several
 * workers get the same CPU.
 */
#ifndef SN_CPU_PARTITION_H
#define SN_CPU_PARTITION_H

#include "core/steal_order.h"

/* Sort the CPUs so that those of a core, a cache and a node are adjacent.
 * slots[i].place is the place of cpus[i]; slots is scratch memory, and so is
 * copy, with n elements. */
void sn_cpu_partition_sort(uint32_t cpus[], struct topology_slot slots[],
			   uint32_t copy[], uint32_t n);

/* The CPUs of worker i of n. */
sennit_cpu_mask sn_cpu_partition_get(sennit_cpu_mask all, uint32_t i,
				     uint32_t n);

#endif
