/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - which CPUs share caches and memory, read from made-up file
 * systems. */
#include "os/os.h"
#include "made_up_system.h"

#define CPU "/sys/devices/system/cpu/cpu"

static void put_cache(uint32_t cpu, unsigned index, const char *level,
		      const char *shared)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "%u/cache/index%u/level", cpu, index);
	put(path, level);
	snprintf(path, sizeof(path), CPU "%u/cache/index%u/shared_cpu_list",
		 cpu, index);
	put(path, shared);
}

TEST_ON_NEW_SYSTEM(a_cpu_is_on_its_node_and_in_its_caches)
{
	sennit_cpu_place p;

	put_cache(13, 0, "1\n", "12-13\n");
	put_cache(13, 1, "1\n", "12-13\n");
	put_cache(13, 2, "2\n", "12-13\n");
	put_cache(13, 3, "3\n", "8-15,40-47\n");
	put(CPU "13/node1/", NULL);
	assert_true(os_cpu_place(root, 13, &p));
	assert_int_equal(p.node, 1);
	assert_int_equal(p.cache, 8);
	assert_int_equal(p.core, 12);
}

TEST_ON_NEW_SYSTEM(without_a_third_level_the_second_is_the_last)
{
	sennit_cpu_place p;

	put_cache(3, 0, "1\n", "3\n");
	put_cache(3, 1, "2\n", "0-3\n");
	assert_true(os_cpu_place(root, 3, &p));
	assert_int_equal(p.node, 0);
	assert_int_equal(p.cache, 0);
	assert_int_equal(p.core, 0);
}

TEST_ON_NEW_SYSTEM(a_node_alone_is_a_place)
{
	sennit_cpu_place p;

	put(CPU "5/node3/", NULL);
	assert_true(os_cpu_place(root, 5, &p));
	assert_int_equal(p.node, 3);
	assert_int_equal(p.core, 5);
}

TEST_ON_NEW_SYSTEM(a_cpu_of_which_nothing_is_known_has_none)
{
	sennit_cpu_place p = { 7, 8, 9 };

	put(CPU "5/topology/", NULL);
	put_cache(6, 0, "x\n", "y\n");
	assert_false(os_cpu_place(root, 4, &p));
	assert_false(os_cpu_place(root, 5, &p));
	assert_false(os_cpu_place(root, 6, &p));
	assert_int_equal(p.node, 7);
	assert_int_equal(p.core, 9);
}
