/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - the number of CPUs and threads that this process may use.
 *
 * The affinity mask selects the CPUs. The CPU quotas of control groups limit
 * the share of their time, which is the limit that matters in a container. Both
 * control groups and the user's resource limit (RLIMIT_NPROC) limit threads.
 */
#ifndef SN_QUOTA_H
#define SN_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* The lowest CPU quota of this process's control group and all groups above it
 * that a mount shows, in both versions. In CPUs, rounded up; UINT32_MAX without
 * a quota. `root` is prefixed to every path that is read; it is "" for the real
 * system. */
uint32_t os_cpu_quota(const char *root);

/* The number of CPUs that this process may use by affinity and quota; at least
 * 1. */
uint32_t os_cpu_count(void);

/* The lowest limit on tasks (here: threads) of the same control groups. */
uint32_t os_thread_quota(const char *root);

/* The maximum number of threads that this process, its control groups and its
 * user may have together. UINT32_MAX for no limit. */
uint32_t os_thread_limit(void);

/* --- cgroup --------------------------------------------------------------- */

/* Limits of this process's control groups (cgroups).
 *
 * The limit of a group and the limits of all groups above it apply together:
 *
 *	/sys/fs/cgroup		mount point: the group at the mount's root
 *	    └─ machine		cpu.max "200000 100000": 2 CPUs
 *	        └─ job		cpu.max "max 100000": none of its own
 *
 * A missing or malformed entry counts as no limit.
 */

#define OS_NO_LIMIT UINT32_MAX

struct os_group;

/* Reads a group's own limit from its files of cgroup version 1 or 2. */
typedef uint32_t os_group_limit(const struct os_group *g, bool v2);

/* The minimum of `limit` over this process's group and all groups above it that
 * a mount shows, in both versions. `root` is prefixed to every path that is
 * read; it is "" for the real system. */
uint32_t os_tightest_group(const char *root, const char *controller,
			   os_group_limit *limit);

/* Read the first line of one of the group's files, for example "/cpu.max". */
bool os_group_line(const struct os_group *g, const char *name, char *line,
		   int size);

/* Parse the digits at *text, and move *text behind them. */
bool os_parse_number(const char **text, uint64_t *number);

#endif
