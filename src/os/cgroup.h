/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - limits of this process's control groups (cgroups).
 *
 * The limit of a group and the limits of all groups above it apply together:
 *
 *	/sys/fs/cgroup		mount point: the group at the mount's root
 *	    └─ machine		cpu.max "200000 100000": 2 CPUs
 *	        └─ job		cpu.max "max 100000": none of its own
 *
 * A missing or malformed entry counts as no limit.
 */
#ifndef SN_CGROUP_H
#define SN_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

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
