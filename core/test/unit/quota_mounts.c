/* SPDX-License-Identifier: Apache-2.0 */
/* quota_mounts.c - where control groups are mounted: subtrees, namespaces,
 * and names that need care. */
#include "made_up_system.h"

TEST_ON_NEW_SYSTEM(mounted_subtree_is_entered_at_its_root)
{
	put_process("4:cpu,cpuacct:/docker/abc/job\n", V1_ROOT("/docker/abc"));
	put_v1("/job", "300000\n", "100000\n");
	put_v1("", "700000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
	put_process("4:cpu,cpuacct:/docker/abc\n", V1_ROOT("/docker/abc"));
	assert_int_equal(os_cpu_quota(root), 7);
}

TEST_ON_NEW_SYSTEM(mount_of_other_groups_does_not_count)
{
	put_process("4:cpu,cpuacct:/docker/abcd\n", V1_ROOT("/docker/abc"));
	put_v1("", "100000\n", "100000\n");
	put_v1("/d", "100000\n", "100000\n");
	put_v1("d", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(mount_from_above_the_namespace_gives_its_root)
{
	put_process("4:cpu,cpuacct:/job\n", V1_ROOT("/../.."));
	put_v1("", "400000\n", "100000\n");
	put_v1("/job", "100000\n", "100000\n"); /* not this process's group */
	assert_int_equal(os_cpu_quota(root), 4);
}

TEST_ON_NEW_SYSTEM(group_outside_the_namespace_is_not_in_its_mount)
{
	put_process("4:cpu,cpuacct:/../other\n", V1);
	put_v1("", "100000\n", "100000\n");
	put("/sys/fs/cgroup/other/cpu.cfs_quota_us", "100000\n");
	put("/sys/fs/cgroup/other/cpu.cfs_period_us", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(steps_up_on_both_sides_cancel)
{
	put_process("4:cpu,cpuacct:/../other/job\n", V1_ROOT("/.."));
	put_v1("/other/job", "300000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
	put_process("4:cpu,cpuacct:/\n", V1_ROOT("/../other"));
	put_v1("", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(name_of_two_dots_and_more_is_a_name)
{
	put_process("0::/..a/b\n", V2);
	put_v2("/..a", "300000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

TEST_ON_NEW_SYSTEM(escapes_of_mountinfo_are_undone)
{
	put_process("0::/my group/a\\b/job\n",
		    "30 24 0:26 /my\\040group/a\\134b /sys/c\\040g rw - "
		    "cgroup2 cgroup2 rw\n");
	put("/sys/c g/job/cpu.max", "600000 100000\n");
	assert_int_equal(os_cpu_quota(root), 6);
}

TEST_ON_NEW_SYSTEM(every_mount_of_a_hierarchy_is_looked_at)
{
	put_process("0::/job/part\n",
		    "30 24 0:26 /else /mnt/else rw - cgroup2 none rw\n"
		    "31 24 0:26 /job /mnt/job rw shared:1 master:2 - cgroup2 "
		    " rw\n");
	put("/mnt/else/cpu.max", "100000 100000\n");
	put("/mnt/job/part/cpu.max", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

TEST_ON_NEW_SYSTEM(colons_in_a_group_belong_to_its_name)
{
	put_process("0::/job:1:2\n", V2);
	put_v2("/job:1:2", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

TEST_ON_NEW_SYSTEM(long_names_fit)
{
	char name[201];
	char groups[1024];

	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(groups, sizeof(groups), "0::/top/%s/%s/%s\n", name, name,
		 name);
	put_process(groups, V2);
	put_v2("/top", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}
