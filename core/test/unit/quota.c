/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - quotas of control groups, read from made-up file systems. */
#include "made_up_system.h"

/* --- version 2 ---------------------------------------------------------- */

TEST_ON_NEW_SYSTEM(v2_quota_is_found)
{
	put_process("0::/job\n", V2);
	put_v2("/job", "300000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

TEST_ON_NEW_SYSTEM(part_of_a_cpu_counts_as_one)
{
	put_process("0::/job\n", V2);
	put_v2("/job", "1000 100000\n");
	assert_int_equal(os_cpu_quota(root), 1);
	put_v2("/job", "200001 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

TEST_ON_NEW_SYSTEM(max_is_no_limit)
{
	put_process("0::/job\n", V2);
	put_v2("/job", "max 100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(tightest_ancestor_wins)
{
	put_process("0::/a/b/c\n", V2);
	put_v2("/a/b/c", "max 100000\n");
	put_v2("/a/b", "400000 100000\n");
	put_v2("/a", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
	put_v2("/a/b/c", "50000 100000\n");
	assert_int_equal(os_cpu_quota(root), 1);
}

TEST_ON_NEW_SYSTEM(mount_point_itself_counts)
{
	put_process("0::/\n", V2);
	put_v2("", "500000 100000\n");
	assert_int_equal(os_cpu_quota(root), 5);
	put_process("0::/a/b\n", V2);
	assert_int_equal(os_cpu_quota(root), 5);
}

TEST_ON_NEW_SYSTEM(nothing_above_the_mount_is_read)
{
	put_process("0::/job\n", V2);
	put_v2("/job", "300000 100000\n");
	put("/sys/fs/cpu.max", "100000 100000\n");
	put("/cpu.max", "100000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

TEST_ON_NEW_SYSTEM(siblings_do_not_count)
{
	put_process("0::/a/bc\n", V2);
	put_v2("/a/bc", "300000 100000\n");
	put_v2("/a/b", "100000 100000\n");
	put_v2("/a/bc/d", "100000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

/* --- version 1 ---------------------------------------------------------- */

TEST_ON_NEW_SYSTEM(v1_quota_is_found)
{
	put_process("5:cpuset:/x\n4:cpu,cpuacct:/job\n", V1);
	put_v1("/job", "150000\n", "50000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

TEST_ON_NEW_SYSTEM(v1_without_quota_is_no_limit)
{
	put_process("4:cpu,cpuacct:/job\n", V1);
	put_v1("/job", "-1\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(v1_ancestors_count)
{
	put_process("4:cpu,cpuacct:/a/b\n", V1);
	put_v1("/a/b", "-1\n", "100000\n");
	put_v1("/a", "100000\n", "50000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

TEST_ON_NEW_SYSTEM(only_the_cpu_controller_counts)
{
	put_process("4:c,,cpuset,cpuacct:/job\n", V1);
	put_v1("/job", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put_process("4:cpu:/job\n",
		    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup "
		    "cgroup rw,cpuset,cpuacct\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(hybrid_takes_the_tighter)
{
	put_process("4:cpu,cpuacct:/old\n1:name=systemd:/new\n0::/new\n",
		    V1 "38 31 0:35 / /sys/fs/cgroup/unified rw - cgroup2 "
		       "cgroup2 rw\n");
	put_v1("/old", "400000\n", "100000\n");
	put("/sys/fs/cgroup/unified/new/cpu.max", "600000 100000\n");
	assert_int_equal(os_cpu_quota(root), 4);
	put("/sys/fs/cgroup/unified/new/cpu.max", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

/* --- malformed files ---------------------------------------------------- */

TEST_ON_NEW_SYSTEM(missing_files_are_no_limit)
{
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/proc/self/mountinfo", V2 V1);
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/proc/self/cgroup", "0::/job\n4:cpu:/job\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

TEST_ON_NEW_SYSTEM(garbage_in_a_group_is_no_limit)
{
	static const char *const garbage[] = {
		"",
		"\n",
		"100000",
		"100000 \n",
		" 1 1\n",
		"-1 1\n",
		"+1 1\n",
		"1 0\n",
		"0 100000\n",
		"1  1\n",
		"1 1 1\n",
		"max\n",
		"1x 1\n",
		"0x1 1\n",
		"99999999999999999999 1\n",
		"1 99999999999999999999\n",
	};

	put_process("0::/job\n", V2);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		put_v2("/job", garbage[i]);
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("a limit was read from \"%s\"", garbage[i]);
	}
}

TEST_ON_NEW_SYSTEM(garbage_in_a_v1_group_is_no_limit)
{
	static const char *const garbage[] = { "",    "\n",   "1x\n", "+1\n",
					       "0\n", " 1\n", "1 1\n" };

	put_process("4:cpu:/job\n", V1);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		put_v1("/job", garbage[i], "1\n");
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("quota: \"%s\"", garbage[i]);
		put_v1("/job", "1\n", garbage[i]);
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("period: \"%s\"", garbage[i]);
	}
}

TEST_ON_NEW_SYSTEM(garbage_in_proc_is_no_limit)
{
	static const char *const garbage[] = {
		"",
		"\n\n",
		"0",
		"0:",
		"0::",
		"0::job",
		":::",
		" - ",
		" - cgroup2",
		" - cgroup2 x rw",
		"1 2 3 4 - cgroup2 x rw",
		"1 2 3 / /sys/fs/cgroup - cgroup2",
		"1 2 3 / - cgroup2 / /sys/fs/cgroup rw",
		"1 - cgroup2 / /sys/fs/cgroup",
		"1 2 3  /sys/fs/cgroup rw - cgroup2 x rw",
		"1 2 3 \\ \\0 rw - cgroup2 x rw",
		"1 2 3 \\777 /sys/fs/cgroup rw - cgroup2 x rw",
	};

	put_v2("/job", "100000 100000\n");
	put_v2("", "100000 100000\n");
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		put_process("0::/job\n", garbage[i]);
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("mounts: \"%s\"", garbage[i]);
		put_process(garbage[i], V2 V1);
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("groups: \"%s\"", garbage[i]);
	}
}

TEST_ON_NEW_SYSTEM(more_cpus_than_can_be_counted_are_no_limit)
{
	put_process("0::/job\n", V2);
	put_v2("/job", "4294967297 1\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put_v2("/job", "18446744073709551615 18446744073709551615\n");
	assert_int_equal(os_cpu_quota(root), 1);
	put_v2("/job", "18446744073709551615 9223372036854775808\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

/* --- this system -------------------------------------------------------- */

TEST(count_is_within_mask_and_quota)
{
	uint32_t count = os_cpu_count();

	assert_true(count >= 1);
	assert_true(count <= os_cpu_list(NULL, 0));
	assert_true(count <= os_cpu_quota(""));
}

/* --- threads ------------------------------------------------------------ */

TEST_ON_NEW_SYSTEM(the_tightest_number_of_tasks_counts_v2)
{
	put_process("0::/machine/job\n", V2);
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/machine/job/pids.max", "max\n");
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/machine/pids.max", "512\n");
	assert_int_equal(os_thread_quota(root), 512);
	put("/sys/fs/cgroup/machine/job/pids.max", "100\n");
	assert_int_equal(os_thread_quota(root), 100);
}

TEST_ON_NEW_SYSTEM(tasks_have_a_hierarchy_of_their_own_v1)
{
	put_process("5:cpu,cpuacct:/other\n3:pids:/job\n",
		    V1 "36 31 0:31 / /sys/fs/cgroup/pids rw shared:9 - cgroup "
		       "cgroup rw,pids\n");
	put("/sys/fs/cgroup/cpu,cpuacct/other/pids.max", "3\n");
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/pids/job/pids.max", "100\n");
	assert_int_equal(os_thread_quota(root), 100);
	put("/sys/fs/cgroup/pids/job/pids.max", "5000000000\n");
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
}
