/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - how many CPUs and threads this process may have.
 *
 * The affinity mask says on which CPUs; the quotas of control groups say for
 * how much of their time, which is what counts in a container. Threads are
 * counted by control groups and by user.
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

/* The most tasks, which are threads here, by control groups as above. */
uint32_t os_thread_quota(const char *root);

/* The most threads that this process may have, together with others of its
 * groups or its user; UINT32_MAX for no limit. */
uint32_t os_thread_limit(void);

#endif
