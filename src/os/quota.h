/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - how many CPUs this process may use.
 *
 * The affinity mask says on which CPUs; the quotas of control groups say for
 * how much of their time, which is what counts in a container. A group is held
 * by its own quota and by those of all groups above it:
 *
 *	/sys/fs/cgroup		mount point: the group at the mount's root
 *	    └─ machine		cpu.max "200000 100000": 2 CPUs
 *	        └─ job		cpu.max "max 100000": none of its own
 *
 * Whatever is missing or makes no sense is no limit.
 */
#ifndef SN_QUOTA_H
#define SN_QUOTA_H

#include <stdint.h>

/* The tightest CPU quota of this process's group and all those above it that a
 * mount shows, of both versions, in CPUs rounded up; UINT32_MAX without one.
 * root is put before every path that is read: "" for this system. */
uint32_t os_cpu_quota(const char *root);

/* CPUs that this process may use by affinity and quota, at least 1. */
uint32_t os_cpu_count(void);

#endif
