/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.c - os.h on Linux: CPU lists and thread affinity.
 *
 * Masks are as long as the machine needs, because a plain cpu_set_t ends at
 * 1024 CPUs.
 */
#include "os/os.h"

#include <errno.h>
#include <sched.h>

#define SMALLEST_MASK 1024
#define LARGEST_MASK  (UINT32_C(1) << 20)

/* The calling thread's affinity mask and its size in bits. NULL when the system
 * does not report it. The kernel refuses masks shorter than its own, so the
 * loop tries longer ones. */
static cpu_set_t *own_mask(size_t *bits)
{
	for (*bits = SMALLEST_MASK; *bits <= LARGEST_MASK; *bits *= 2) {
		cpu_set_t *mask = CPU_ALLOC(*bits);

		if (!mask)
			return NULL;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(*bits), mask))
			return mask;
		CPU_FREE(mask);
		if (errno != EINVAL)
			return NULL;
	}
	return NULL;
}

/* Append a CPU to a list of `count` entries. The first `max` entries are
 * stored; all are counted. */
static size_t append_cpu(uint32_t *cpus, size_t max, size_t count, size_t cpu)
{
	if (count < max)
		cpus[count] = (uint32_t)cpu;
	return count + 1;
}

/* If the system reports no mask, assume CPU 0: the process runs on at least one
 * CPU. */
size_t os_cpu_list(uint32_t *cpus, size_t max)
{
	size_t     count = 0;
	size_t     bits;
	cpu_set_t *mask = own_mask(&bits);

	if (!mask)
		return append_cpu(cpus, max, 0, 0);
	for (size_t cpu = 0; cpu < bits; cpu++) {
		if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(bits), mask))
			count = append_cpu(cpus, max, count, cpu);
	}
	CPU_FREE(mask);
	return count;
}

/* The size in bits of the shortest mask with room for all the CPUs. 0 when a
 * CPU number is too large. */
static size_t mask_bits(const uint32_t *cpus, size_t count)
{
	size_t bits = SMALLEST_MASK;

	for (size_t i = 0; i < count; i++) {
		if (cpus[i] >= LARGEST_MASK)
			return 0;
		if (cpus[i] >= bits)
			bits = (size_t)cpus[i] + 1;
	}
	return bits;
}

int os_thread_affinity(const uint32_t *cpus, size_t count)
{
	size_t     bits = mask_bits(cpus, count);
	size_t     size = CPU_ALLOC_SIZE(bits);
	cpu_set_t *mask = bits ? CPU_ALLOC(bits) : NULL;
	int        err;

	if (!mask)
		return bits ? -ENOMEM : -EINVAL;
	CPU_ZERO_S(size, mask);
	for (size_t i = 0; i < count; i++)
		CPU_SET_S(cpus[i], size, mask);
	err = sched_setaffinity(0, size, mask) ? -errno : 0;
	CPU_FREE(mask);
	return err;
}
