/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_masks.h - a scheduler's copy of the CPU masks in its configuration. */
#ifndef SN_CPU_MASKS_H
#define SN_CPU_MASKS_H

#include "sched/state.h"

/* Copy n masks, or make one of all CPUs of this process if `from` is NULL.
 * Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_cpu_masks_copy(struct cpu_masks       *m,
				      const sennit_allocator *memory,
				      const sennit_cpu_mask *from, size_t n);
void sn_cpu_masks_free(struct cpu_masks *m, const sennit_allocator *memory);

/* Mask i modulo the number of masks. */
static inline sennit_cpu_mask sn_cpu_masks_get(const struct cpu_masks *m,
					       size_t                  i)
{
	return m->masks[i % m->count];
}

/* The CPUs of the first mask, to be sorted before any thread runs. */
static inline uint32_t *sn_cpu_masks_cpus(const struct cpu_masks *m)
{
	return (uint32_t *)(m->masks + m->count);
}

/* The CPUs of all masks. Empty if there are no masks. */
sennit_cpu_mask sn_cpu_masks_all(const struct cpu_masks *m);

#endif
