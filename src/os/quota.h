/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - the number of CPUs and threads that this process may use.
 *
 * The affinity mask selects the CPUs. The CPU quotas of control groups limit
 * the share of their time, which is the limit that matters in a container. Both
 * control groups and the user's resource limit (RLIMIT_NPROC) limit threads.
 */
#ifndef SN_QUOTA_H
#define SN_QUOTA_H

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

#endif
