/* SPDX-License-Identifier: Apache-2.0 */
#include "os/quota.h"

#include "os/cgroup.h"
#include "os/os.h"

#include <sys/resource.h>

static bool at_end(const char *text)
{
	return *text == '\0' || *text == '\n';
}

static bool read_number(const struct os_group *g, const char *name,
			uint64_t *number)
{
	char        line[64];
	const char *text = line;

	return os_group_line(g, name, line, sizeof(line)) &&
	       os_parse_number(&text, number) && at_end(text);
}

/* --- CPUs --------------------------------------------------------------- */

static uint32_t round_up(uint64_t quota, uint64_t period)
{
	uint64_t cpus;

	if (!quota || !period)
		return OS_NO_LIMIT;
	cpus = quota / period + (quota % period != 0);
	return cpus < OS_NO_LIMIT ? (uint32_t)cpus : OS_NO_LIMIT;
}

/* Version 2: "QUOTA PERIOD", or "max PERIOD". */
static uint32_t quota_v2(const struct os_group *g)
{
	char        line[64];
	const char *text = line;
	uint64_t    quota;
	uint64_t    period;

	if (!os_group_line(g, "/cpu.max", line, sizeof(line)) ||
	    !os_parse_number(&text, &quota) || *text++ != ' ' ||
	    !os_parse_number(&text, &period) || !at_end(text))
		return OS_NO_LIMIT;
	return round_up(quota, period);
}

/* Version 1: two files. A quota of -1 means none. */
static uint32_t quota_v1(const struct os_group *g)
{
	uint64_t quota;
	uint64_t period;

	if (!read_number(g, "/cpu.cfs_quota_us", &quota) ||
	    !read_number(g, "/cpu.cfs_period_us", &period))
		return OS_NO_LIMIT;
	return round_up(quota, period);
}

static uint32_t cpu_quota(const struct os_group *g, bool v2)
{
	return v2 ? quota_v2(g) : quota_v1(g);
}

uint32_t os_cpu_quota(const char *root)
{
	return os_tightest_group(root, "cpu", cpu_quota);
}

uint32_t os_cpu_count(void)
{
	uint32_t quota = os_cpu_quota("");
	uint32_t cpus = (uint32_t)os_cpu_list(NULL, 0);

	return quota < cpus ? quota : cpus;
}

/* --- threads ------------------------------------------------------------ */

static uint32_t limit_of(uint64_t number)
{
	return number < OS_NO_LIMIT ? (uint32_t)number : OS_NO_LIMIT;
}

/* "max" or a number, in both versions. */
static uint32_t task_limit(const struct os_group *g, bool v2)
{
	uint64_t tasks;

	(void)v2;
	return read_number(g, "/pids.max", &tasks) ? limit_of(tasks)
						   : OS_NO_LIMIT;
}

uint32_t os_thread_quota(const char *root)
{
	return os_tightest_group(root, "pids", task_limit);
}

uint32_t os_thread_limit(void)
{
	struct rlimit of_user;
	uint32_t      quota = os_thread_quota("");

	if (getrlimit(RLIMIT_NPROC, &of_user) || of_user.rlim_cur >= quota)
		return quota;
	return (uint32_t)of_user.rlim_cur;
}
