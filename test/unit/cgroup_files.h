/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_files.h - the files of control groups, versions 1 and 2, in a
 * made-up file system. */
#ifndef SN_TEST_CGROUP_FILES_H
#define SN_TEST_CGROUP_FILES_H

#include "os/os.h"
#include "os/quota.h"
#include "made_up_system.h"

#define V2 "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_ROOT(r)                                                          \
	"33 31 0:29 " r " /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup " \
	"cgroup rw,cpu,cpuacct\n"
#define V1 V1_ROOT("/")

static inline void put_process(const char *groups, const char *mounts)
{
	put("/proc/self/cgroup", groups);
	put("/proc/self/mountinfo", mounts);
}

/* Add the version 2 group at `path` below the mount, with no other limit. */
static inline void put_v2(const char *path, const char *text)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "/sys/fs/cgroup%s/cpu.max", path);
	put(whole, text);
}

static inline void put_v1(const char *path, const char *quota,
			  const char *period)
{
	char whole[256];

	snprintf(whole, sizeof(whole),
		 "/sys/fs/cgroup/cpu,cpuacct%s/cpu.cfs_quota_us", path);
	put(whole, quota);
	snprintf(whole, sizeof(whole),
		 "/sys/fs/cgroup/cpu,cpuacct%s/cpu.cfs_period_us", path);
	put(whole, period);
}

#endif
