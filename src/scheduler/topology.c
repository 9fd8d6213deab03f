/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/topology.h"

#include "base/memory.h"
#include "core/cpu_partition.h"
#include "os/os.h"

#include <errno.h>

static const sennit_cpu_place nowhere = { STEAL_ORDER_NOWHERE,
					  STEAL_ORDER_NOWHERE,
					  STEAL_ORDER_NOWHERE };

bool sn_topology_own_cpus(const sennit_scheduler *s, uint32_t i,
			  sennit_cpu_mask *out)
{
	sennit_cpu_mask first = sn_cpu_masks_get(&s->masks, 0);

	switch (s->config.affinity) {
	case SENNIT_AFFINITY_ONE_OF:
		*out = (sennit_cpu_mask){ &first.cpus[i % first.count], 1 };
		return true;
	case SENNIT_AFFINITY_MASKS:
		*out = sn_cpu_masks_get(&s->masks, i);
		return true;
	case SENNIT_AFFINITY_DISJOINT:
		*out = sn_cpu_partition_get(first, i, s->config.workers);
		return true;
	default:
		return false;
	}
}

static sennit_cpu_place place_of_cpu(const sennit_scheduler *s, uint32_t cpu)
{
	const sennit_config *c = &s->config;
	sennit_cpu_place     p = nowhere;

	if (!(c->cpu_place ? c->cpu_place(c->cpu_place_context, cpu, &p)
			   : os_cpu_place("", cpu, &p)))
		return nowhere;
	return p;
}

/* The place that the first and the last CPU of worker i's mask share. The other
 * CPUs usually lie between them. If they do not, only the steal order gets
 * worse. */
static sennit_cpu_place place_of(const sennit_scheduler *s, uint32_t i)
{
	sennit_cpu_place a, b;
	sennit_cpu_mask  own;

	if (!sn_topology_own_cpus(s, i, &own))
		return nowhere;
	a = place_of_cpu(s, own.cpus[0]);
	if (own.count == 1)
		return a;
	b = place_of_cpu(s, own.cpus[own.count - 1]);
	if (a.node != b.node)
		return nowhere;
	if (a.cache != b.cache)
		a.cache = STEAL_ORDER_NOWHERE;
	if (a.cache != b.cache || a.core != b.core)
		a.core = STEAL_ORDER_NOWHERE;
	return a;
}

/* Sort the CPUs of the only mask by their places. */
static int sort_cpus(sennit_scheduler *s)
{
	struct topology_slot *slots;
	uint32_t *const       cpus = sn_cpu_masks_cpus(&s->masks);
	const size_t          n = sn_cpu_masks_get(&s->masks, 0).count;
	const size_t          size = n * (sizeof(*slots) + sizeof(*cpus));

	if (n > UINT32_MAX / (sizeof(*slots) + sizeof(*cpus)))
		return -ENOMEM;
	slots = sn_memory_take(&s->memory, size,
			       _Alignof(struct topology_slot));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		slots[i].place = place_of_cpu(s, cpus[i]);
	sn_cpu_partition_sort(cpus, slots, (uint32_t *)&slots[n], (uint32_t)n);
	sn_memory_give(&s->memory, slots, size);
	return 0;
}

int sn_topology_init(sennit_scheduler *s)
{
	uint32_t n = s->capacity;
	int      err;

	if (n && s->config.affinity == SENNIT_AFFINITY_DISJOINT) {
		err = sort_cpus(s);
		if (err)
			return err;
	}
	if (n <= STEAL_ORDER_TRIES + 1)
		return 0;
	s->places = sn_memory_take(&s->memory, n * sizeof(*s->places),
				   _Alignof(struct topology_slot));
	if (!s->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		s->places[i].place = place_of(s, i);
	sn_steal_order_sort(s->places, n);
	for (uint32_t i = 0; i < n; i++) {
		struct worker *w = s->workers[s->places[i].worker];

		sn_steal_set_neighbours(&w->steal, s->places, n, i);
	}
	return 0;
}
