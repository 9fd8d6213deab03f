/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c - workers that are bound to one CPU each and steal from
 * neighbours first. The program prints the neighbours.
 *
 * The library asks Linux which CPUs share caches and memory. A program that
 * knows better passes the places itself. Here hwloc provides them, if it is
 * installed.
 */
#include <sennit.h>

#include <stdio.h>

enum { WORKERS = 16 }; /* with only a few workers all are neighbours */

#ifdef HAVE_HWLOC
#include <hwloc.h>

static uint32_t number_above(hwloc_topology_t all, hwloc_obj_t cpu,
			     hwloc_obj_type_t type)
{
	hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(all, type, cpu);

	return above ? above->logical_index : UINT32_MAX;
}

static bool ask_hwloc(void *topology, uint32_t cpu, sennit_cpu_place *out)
{
	hwloc_topology_t all = topology;
	hwloc_obj_t      pu = hwloc_get_pu_obj_by_os_index(all, cpu);

	if (!pu)
		return false;
	out->node = (uint32_t)hwloc_bitmap_first(pu->nodeset);
	out->cache = number_above(all, pu, HWLOC_OBJ_L3CACHE);
	out->core = number_above(all, pu, HWLOC_OBJ_CORE);
	return true;
}

/* The library calls this. It prints the place. */
static bool show_place(void *topology, uint32_t cpu, sennit_cpu_place *out)
{
	if (!ask_hwloc(topology, cpu, out))
		return false;
	printf("CPU %u: node %u, cache %u, core %u\n", cpu, out->node,
	       out->cache, out->core);
	return true;
}
#endif

static sennit_wait_group left;

static void work(void *unused)
{
	(void)unused;
	sennit_yield();
	sennit_wait_group_done(&left);
}

static int run_on(sennit_scheduler *s)
{
	sennit_task tasks[100];
	int         err;

	for (int i = 0; i < 100; i++)
		tasks[i] = (sennit_task){ .run = work };
	sennit_wait_group_init(&left, 100);
	err = sennit_schedule_many_on(s, tasks, 100);
	if (!err)
		sennit_wait_group_wait(&left);
	sennit_scheduler_release(s);
	return err;
}

int main(void)
{
	sennit_config     c = { .size = sizeof(c),
				.workers = WORKERS,
				.affinity = SENNIT_AFFINITY_ONE_OF };
	sennit_scheduler *s;
	int               err;

#ifdef HAVE_HWLOC
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) || hwloc_topology_load(topology))
		return 1;
	c.cpu_place = show_place;
	c.cpu_place_context = topology;
#endif
	err = sennit_scheduler_create(&s, &c);
#ifdef HAVE_HWLOC
	hwloc_topology_destroy(topology); /* the library has stored the
					   * places */
#endif
	return err || run_on(s);
}
