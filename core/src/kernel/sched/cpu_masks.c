/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cpu_masks.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>

#define FEW_CPUS 64 /* CPUs; enough for most systems */

/* Allocate n masks with `cpus` CPUs in total. Returns the array of CPUs. */
static uint32_t *make_masks(struct cpu_masks *m, const sennit_allocator *memory,
			    size_t n, size_t cpus)
{
	if (n > SIZE_MAX / 4 / sizeof(*m->masks) ||
	    cpus > SIZE_MAX / 4 / sizeof(uint32_t))
		return NULL;
	m->size = n * sizeof(*m->masks) + cpus * sizeof(uint32_t);
	m->masks = sn_memory_take(memory, m->size, sizeof(void *));
	if (!m->masks)
		return NULL;
	m->count = n;
	return (uint32_t *)(m->masks + n);
}

/* Make one mask of all CPUs. */
static int copy_all(struct cpu_masks *m, const sennit_allocator *memory)
{
	uint32_t  few[FEW_CPUS];
	size_t    cpus = os_cpu_list(few, FEW_CPUS);
	uint32_t *to = make_masks(m, memory, 1, cpus);

	if (!to)
		return -ENOMEM;
	if (cpus <= FEW_CPUS) {
		memcpy(to, few, cpus * sizeof(*to));
	} else {
		size_t now = os_cpu_list(to, cpus);

		cpus = now < cpus ? now : cpus; /* a CPU may just have gone
						 * offline */
	}
	m->masks[0] = (sennit_cpu_mask){ to, cpus };
	return 0;
}

int sn_cpu_masks_copy(struct cpu_masks *m, const sennit_allocator *memory,
		      const sennit_cpu_mask *from, size_t n)
{
	size_t    cpus = 0;
	uint32_t *to;

	if (!from)
		return copy_all(m, memory);
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(cpus, from[i].count, &cpus))
			return -ENOMEM;
	to = make_masks(m, memory, n, cpus);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		memcpy(to, from[i].cpus, from[i].count * sizeof(*to));
		m->masks[i] = (sennit_cpu_mask){ to, from[i].count };
		to += from[i].count;
	}
	return 0;
}

void sn_cpu_masks_free(struct cpu_masks *m, const sennit_allocator *memory)
{
	sn_memory_give(memory, m->masks, m->size);
}

sennit_cpu_mask sn_cpu_masks_all(const struct cpu_masks *m)
{
	sennit_cpu_mask all = { NULL, 0 };

	for (size_t i = 0; i < m->count; i++)
		all.count += m->masks[i].count;
	if (m->count)
		all.cpus = m->masks[0].cpus;
	return all;
}
