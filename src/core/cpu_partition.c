/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cpu_partition.h"

#include <string.h>

void sn_cpu_partition_sort(uint32_t cpus[], struct topology_slot slots[],
			   uint32_t copy[], uint32_t n)
{
	memcpy(copy, cpus, n * sizeof(*cpus));
	sn_steal_order_sort(slots, n);
	for (uint32_t i = 0; i < n; i++)
		cpus[i] = copy[slots[i].worker];
}

sennit_cpu_mask sn_cpu_partition_get(sennit_cpu_mask all, uint32_t i,
				     uint32_t n)
{
	size_t begin, end;

	i %= n;
	if (all.count < n)
		return (sennit_cpu_mask){ &all.cpus[i % all.count], 1 };
	begin = (size_t)((uint64_t)all.count * i / n);
	end = (size_t)((uint64_t)all.count * (i + 1) / n);
	return (sennit_cpu_mask){ &all.cpus[begin], end - begin };
}
