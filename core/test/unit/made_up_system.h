/* SPDX-License-Identifier: Apache-2.0 */
/* made_up_system.h - made-up system files. */
#ifndef SN_TEST_MADE_UP_SYSTEM_H
#define SN_TEST_MADE_UP_SYSTEM_H

#include "testing/test.h"
#include "os/os.h"
#include "os/quota.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- made up system ---------------------------------------------------- */

/* Made-up system files in a directory of the test. Code that
 * reads /proc and /sys gets `root` as a prefix for their names.
 *
 *	TEST_ON_NEW_SYSTEM(f)  runs f on a system that has no files yet */

static char root[32];

static inline int make_system(void **state)
{
	strcpy(root, "/tmp/sennit-system-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *s, int type,
			     struct FTW *where)
{
	return remove(path);
}

static inline int remove_system(void **state)
{
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make the directories in the path, and the file unless text is NULL. */
static inline void put(const char *path, const char *text)
{
	char  whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *c = whole + strlen(root) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(whole, 0700);
		*c = '/';
	}
	if (!text)
		return;
	f = fopen(whole, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define TEST_ON_NEW_SYSTEM(f) TEST_BETWEEN(f, make_system, remove_system)

/* --- cgroup files ------------------------------------------------------ */

/* The files of control groups, versions 1 and 2, in a
 * made-up file system. */

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
