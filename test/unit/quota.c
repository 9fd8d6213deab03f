/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - quotas of control groups, read from made-up file systems. */
#include "os/os.h"
#include "os/quota.h"
#include "made_up_system.h"

#define V2 "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_ROOT(r)                                                          \
	"33 31 0:29 " r " /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup " \
	"cgroup rw,cpu,cpuacct\n"
#define V1 V1_ROOT("/")

static void put_process(const char *groups, const char *mounts)
{
	put("/proc/self/cgroup", groups);
	put("/proc/self/mountinfo", mounts);
}

/* Add the version 2 group at `path` below the mount, with no other limit. */
static void put_v2(const char *path, const char *text)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "/sys/fs/cgroup%s/cpu.max", path);
	put(whole, text);
}

static void put_v1(const char *path, const char *quota, const char *period)
{
	char whole[256];

	snprintf(whole, sizeof(whole),
		 "/sys/fs/cgroup/cpu,cpuacct%s/cpu.cfs_quota_us", path);
	put(whole, quota);
	snprintf(whole, sizeof(whole),
		 "/sys/fs/cgroup/cpu,cpuacct%s/cpu.cfs_period_us", path);
	put(whole, period);
}

/* --- version 2 ---------------------------------------------------------- */

static void v2_quota_is_found(void **state)
{
	(void)state;
	put_process("0::/job\n", V2);
	put_v2("/job", "300000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

static void part_of_a_cpu_counts_as_one(void **state)
{
	(void)state;
	put_process("0::/job\n", V2);
	put_v2("/job", "1000 100000\n");
	assert_int_equal(os_cpu_quota(root), 1);
	put_v2("/job", "200001 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

static void max_is_no_limit(void **state)
{
	(void)state;
	put_process("0::/job\n", V2);
	put_v2("/job", "max 100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void tightest_ancestor_wins(void **state)
{
	(void)state;
	put_process("0::/a/b/c\n", V2);
	put_v2("/a/b/c", "max 100000\n");
	put_v2("/a/b", "400000 100000\n");
	put_v2("/a", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
	put_v2("/a/b/c", "50000 100000\n");
	assert_int_equal(os_cpu_quota(root), 1);
}

static void mount_point_itself_counts(void **state)
{
	(void)state;
	put_process("0::/\n", V2);
	put_v2("", "500000 100000\n");
	assert_int_equal(os_cpu_quota(root), 5);
	put_process("0::/a/b\n", V2);
	assert_int_equal(os_cpu_quota(root), 5);
}

static void nothing_above_the_mount_is_read(void **state)
{
	(void)state;
	put_process("0::/job\n", V2);
	put_v2("/job", "300000 100000\n");
	put("/sys/fs/cpu.max", "100000 100000\n");
	put("/cpu.max", "100000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

static void siblings_do_not_count(void **state)
{
	(void)state;
	put_process("0::/a/bc\n", V2);
	put_v2("/a/bc", "300000 100000\n");
	put_v2("/a/b", "100000 100000\n");
	put_v2("/a/bc/d", "100000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

/* --- version 1 ---------------------------------------------------------- */

static void v1_quota_is_found(void **state)
{
	(void)state;
	put_process("5:cpuset:/x\n4:cpu,cpuacct:/job\n", V1);
	put_v1("/job", "150000\n", "50000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

static void v1_without_quota_is_no_limit(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/job\n", V1);
	put_v1("/job", "-1\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void v1_ancestors_count(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/a/b\n", V1);
	put_v1("/a/b", "-1\n", "100000\n");
	put_v1("/a", "100000\n", "50000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

static void only_the_cpu_controller_counts(void **state)
{
	(void)state;
	put_process("4:c,,cpuset,cpuacct:/job\n", V1);
	put_v1("/job", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put_process("4:cpu:/job\n",
		    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup "
		    "cgroup rw,cpuset,cpuacct\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void hybrid_takes_the_tighter(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/old\n1:name=systemd:/new\n0::/new\n",
		    V1 "38 31 0:35 / /sys/fs/cgroup/unified rw - cgroup2 "
		       "cgroup2 rw\n");
	put_v1("/old", "400000\n", "100000\n");
	put("/sys/fs/cgroup/unified/new/cpu.max", "600000 100000\n");
	assert_int_equal(os_cpu_quota(root), 4);
	put("/sys/fs/cgroup/unified/new/cpu.max", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

/* --- mounts and namespaces ---------------------------------------------- */

static void mounted_subtree_is_entered_at_its_root(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/docker/abc/job\n", V1_ROOT("/docker/abc"));
	put_v1("/job", "300000\n", "100000\n");
	put_v1("", "700000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
	put_process("4:cpu,cpuacct:/docker/abc\n", V1_ROOT("/docker/abc"));
	assert_int_equal(os_cpu_quota(root), 7);
}

static void mount_of_other_groups_does_not_count(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/docker/abcd\n", V1_ROOT("/docker/abc"));
	put_v1("", "100000\n", "100000\n");
	put_v1("/d", "100000\n", "100000\n");
	put_v1("d", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void mount_from_above_the_namespace_gives_its_root(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/job\n", V1_ROOT("/../.."));
	put_v1("", "400000\n", "100000\n");
	put_v1("/job", "100000\n", "100000\n"); /* not this process's group */
	assert_int_equal(os_cpu_quota(root), 4);
}

static void group_outside_the_namespace_is_not_in_its_mount(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/../other\n", V1);
	put_v1("", "100000\n", "100000\n");
	put("/sys/fs/cgroup/other/cpu.cfs_quota_us", "100000\n");
	put("/sys/fs/cgroup/other/cpu.cfs_period_us", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void steps_up_on_both_sides_cancel(void **state)
{
	(void)state;
	put_process("4:cpu,cpuacct:/../other/job\n", V1_ROOT("/.."));
	put_v1("/other/job", "300000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
	put_process("4:cpu,cpuacct:/\n", V1_ROOT("/../other"));
	put_v1("", "100000\n", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void name_of_two_dots_and_more_is_a_name(void **state)
{
	(void)state;
	put_process("0::/..a/b\n", V2);
	put_v2("/..a", "300000 100000\n");
	assert_int_equal(os_cpu_quota(root), 3);
}

static void escapes_of_mountinfo_are_undone(void **state)
{
	(void)state;
	put_process("0::/my group/a\\b/job\n",
		    "30 24 0:26 /my\\040group/a\\134b /sys/c\\040g rw - "
		    "cgroup2 cgroup2 rw\n");
	put("/sys/c g/job/cpu.max", "600000 100000\n");
	assert_int_equal(os_cpu_quota(root), 6);
}

static void every_mount_of_a_hierarchy_is_looked_at(void **state)
{
	(void)state;
	put_process("0::/job/part\n",
		    "30 24 0:26 /else /mnt/else rw - cgroup2 none rw\n"
		    "31 24 0:26 /job /mnt/job rw shared:1 master:2 - cgroup2 "
		    " rw\n");
	put("/mnt/else/cpu.max", "100000 100000\n");
	put("/mnt/job/part/cpu.max", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

static void colons_in_a_group_belong_to_its_name(void **state)
{
	(void)state;
	put_process("0::/job:1:2\n", V2);
	put_v2("/job:1:2", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

static void long_names_fit(void **state)
{
	char name[201];
	char groups[1024];

	(void)state;
	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(groups, sizeof(groups), "0::/top/%s/%s/%s\n", name, name,
		 name);
	put_process(groups, V2);
	put_v2("/top", "200000 100000\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

/* --- malformed files ---------------------------------------------------- */

static void missing_files_are_no_limit(void **state)
{
	(void)state;
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/proc/self/mountinfo", V2 V1);
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/proc/self/cgroup", "0::/job\n4:cpu:/job\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
}

static void garbage_in_a_group_is_no_limit(void **state)
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

	(void)state;
	put_process("0::/job\n", V2);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		put_v2("/job", garbage[i]);
		if (os_cpu_quota(root) != UINT32_MAX)
			fail_msg("a limit was read from \"%s\"", garbage[i]);
	}
}

static void garbage_in_a_v1_group_is_no_limit(void **state)
{
	static const char *const garbage[] = { "",    "\n",   "1x\n", "+1\n",
					       "0\n", " 1\n", "1 1\n" };

	(void)state;
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

static void garbage_in_proc_is_no_limit(void **state)
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

	(void)state;
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

static void more_cpus_than_can_be_counted_are_no_limit(void **state)
{
	(void)state;
	put_process("0::/job\n", V2);
	put_v2("/job", "4294967297 1\n");
	assert_int_equal(os_cpu_quota(root), UINT32_MAX);
	put_v2("/job", "18446744073709551615 18446744073709551615\n");
	assert_int_equal(os_cpu_quota(root), 1);
	put_v2("/job", "18446744073709551615 9223372036854775808\n");
	assert_int_equal(os_cpu_quota(root), 2);
}

/* --- this system -------------------------------------------------------- */

static void count_is_within_mask_and_quota(void **state)
{
	uint32_t count = os_cpu_count();

	(void)state;
	assert_true(count >= 1);
	assert_true(count <= os_cpu_list(NULL, 0));
	assert_true(count <= os_cpu_quota(""));
}

/* --- threads ------------------------------------------------------------ */

static void the_tightest_number_of_tasks_counts_v2(void **state)
{
	(void)state;
	put_process("0::/machine/job\n", V2);
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/machine/job/pids.max", "max\n");
	assert_int_equal(os_thread_quota(root), UINT32_MAX);
	put("/sys/fs/cgroup/machine/pids.max", "512\n");
	assert_int_equal(os_thread_quota(root), 512);
	put("/sys/fs/cgroup/machine/job/pids.max", "100\n");
	assert_int_equal(os_thread_quota(root), 100);
}

static void tasks_have_a_hierarchy_of_their_own_v1(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_NEW_SYSTEM(v2_quota_is_found),
		ON_NEW_SYSTEM(part_of_a_cpu_counts_as_one),
		ON_NEW_SYSTEM(max_is_no_limit),
		ON_NEW_SYSTEM(tightest_ancestor_wins),
		ON_NEW_SYSTEM(mount_point_itself_counts),
		ON_NEW_SYSTEM(nothing_above_the_mount_is_read),
		ON_NEW_SYSTEM(siblings_do_not_count),
		ON_NEW_SYSTEM(v1_quota_is_found),
		ON_NEW_SYSTEM(v1_without_quota_is_no_limit),
		ON_NEW_SYSTEM(v1_ancestors_count),
		ON_NEW_SYSTEM(only_the_cpu_controller_counts),
		ON_NEW_SYSTEM(hybrid_takes_the_tighter),
		ON_NEW_SYSTEM(mounted_subtree_is_entered_at_its_root),
		ON_NEW_SYSTEM(mount_of_other_groups_does_not_count),
		ON_NEW_SYSTEM(mount_from_above_the_namespace_gives_its_root),
		ON_NEW_SYSTEM(group_outside_the_namespace_is_not_in_its_mount),
		ON_NEW_SYSTEM(steps_up_on_both_sides_cancel),
		ON_NEW_SYSTEM(name_of_two_dots_and_more_is_a_name),
		ON_NEW_SYSTEM(escapes_of_mountinfo_are_undone),
		ON_NEW_SYSTEM(every_mount_of_a_hierarchy_is_looked_at),
		ON_NEW_SYSTEM(colons_in_a_group_belong_to_its_name),
		ON_NEW_SYSTEM(long_names_fit),
		ON_NEW_SYSTEM(missing_files_are_no_limit),
		ON_NEW_SYSTEM(garbage_in_a_group_is_no_limit),
		ON_NEW_SYSTEM(garbage_in_a_v1_group_is_no_limit),
		ON_NEW_SYSTEM(garbage_in_proc_is_no_limit),
		ON_NEW_SYSTEM(more_cpus_than_can_be_counted_are_no_limit),
		ON_NEW_SYSTEM(the_tightest_number_of_tasks_counts_v2),
		ON_NEW_SYSTEM(tasks_have_a_hierarchy_of_their_own_v1),
		cmocka_unit_test(count_is_within_mask_and_quota),
	};

	return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
