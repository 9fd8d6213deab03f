/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_masks.h - a scheduler's copy of the CPUs that its threads may use:
 * threads may start at any time.
 */
#ifndef SN_CPU_MASKS_H
#define SN_CPU_MASKS_H

#include "sennit/config.h"

struct cpu_masks {
	sennit_cpu_mask *masks; /* fixed: with their CPUs, which lie one behind
				 * the other, in one block; NULL: none */
	size_t           size;  /* fixed: bytes of that block */
	size_t           count; /* fixed */
};

/* Copy n masks, or, for NULL, one of all CPUs of this process. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_cpu_masks_copy(struct cpu_masks       *m,
				      const sennit_allocator *memory,
				      const sennit_cpu_mask *from, size_t n);
void sn_cpu_masks_free(struct cpu_masks *m, const sennit_allocator *memory);

/* Mask i modulo their number. */
static inline sennit_cpu_mask sn_cpu_masks_get(const struct cpu_masks *m,
					       size_t                  i)
{
	return m->masks[i % m->count];
}

/* The CPUs of all masks, none if there are no masks. */
sennit_cpu_mask sn_cpu_masks_all(const struct cpu_masks *m);

#endif
