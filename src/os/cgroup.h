/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - limits of this process's control groups.
 *
 * A group is held by its own limit and by those of all groups above it:
 *
 *	/sys/fs/cgroup		mount point: the group at the mount's root
 *	    └─ machine		cpu.max "200000 100000": 2 CPUs
 *	        └─ job		cpu.max "max 100000": none of its own
 *
 * Whatever is missing or makes no sense is no limit.
 */
#ifndef SN_CGROUP_H
#define SN_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define OS_NO_LIMIT UINT32_MAX

struct os_group;

/* The limit that a group has of its own, by the files of version 1 or 2. */
typedef uint32_t os_group_limit(const struct os_group *g, bool v2);

/* The least of limit's answers for this process's group and all those above it
 * that a mount shows, of both versions. root is put before every path that is
 * read: "" for this system. */
uint32_t os_tightest_group(const char *root, const char *controller,
			   os_group_limit *limit);

/* Read the first line of a file of the group: "/cpu.max". */
bool os_group_line(const struct os_group *g, const char *name, char *line,
		   int size);

/* Parse digits from *text on, and move it behind them. */
bool os_parse_number(const char **text, uint64_t *number);

#endif
