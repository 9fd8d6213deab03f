/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.c - os.h on Windows: CPU lists, affinity, topology.
 *
 * Windows divides CPUs into groups of at most 64. CPU n of group g has the
 * number 64 * g + n here. A thread runs in one group.
 */
#include "os/os.h"
#include "os/quota.h"

#include <errno.h>
#include <windows.h>

enum { GROUP = 64, GROUPS_MAX = 64 };

/* --- which there are ---------------------------------------------------- */

/* The CPUs of one group in which this process may run. The mask of a process
 * that runs in several groups reads as 0: it has all their CPUs. */
static uint64_t group_mask(USHORT group, bool alone)
{
	DWORD     count = GetActiveProcessorCount(group);
	DWORD_PTR mask = 0, all;

	if (alone && GetProcessAffinityMask(GetCurrentProcess(), &mask, &all) &&
	    mask)
		return mask;
	return count < GROUP ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* If the system reports no CPU, assume CPU 0: the process runs on at least
 * one. */
size_t os_cpu_list(uint32_t *cpus, size_t max)
{
	USHORT groups[GROUPS_MAX] = { 0 };
	USHORT n = GROUPS_MAX;
	size_t count = 0;

	if (!GetProcessGroupAffinity(GetCurrentProcess(), &n, groups))
		n = 1;
	for (USHORT g = 0; g < n; g++) {
		uint64_t mask = group_mask(groups[g], n == 1);

		for (uint32_t i = 0; i < GROUP; i++) {
			if (!(mask >> i & 1))
				continue;
			if (count < max)
				cpus[count] = groups[g] * GROUP + i;
			count++;
		}
	}
	if (!count && max)
		cpus[0] = 0;
	return count ? count : 1;
}

/* CPUs of several groups are -EINVAL. */
int os_thread_affinity(const uint32_t *cpus, size_t count)
{
	GROUP_AFFINITY a = { 0 };

	if (!count || cpus[0] / GROUP >= GROUPS_MAX)
		return -EINVAL;
	a.Group = (WORD)(cpus[0] / GROUP);
	for (size_t i = 0; i < count; i++) {
		if (cpus[i] / GROUP != a.Group)
			return -EINVAL;
		a.Mask |= (KAFFINITY)1 << cpus[i] % GROUP;
	}
	return SetThreadGroupAffinity(GetCurrentThread(), &a, NULL) ? 0
								    : -EINVAL;
}

/* --- where they are ----------------------------------------------------- */

typedef SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX relation;

/* All that the system says of its processors, of this size. NULL: nothing. */
static relation *all_relations(DWORD *size)
{
	relation *all;

	*size = 0;
	GetLogicalProcessorInformationEx(RelationAll, NULL, size);
	if (!*size)
		return NULL;
	all = os_map(*size);
	if (all && GetLogicalProcessorInformationEx(RelationAll, all, size))
		return all;
	if (all)
		os_unmap(all, *size);
	return NULL;
}

static bool has_cpu(const GROUP_AFFINITY *a, uint32_t cpu)
{
	return a->Group == cpu / GROUP && a->Mask >> cpu % GROUP & 1;
}

static uint32_t first_cpu(const GROUP_AFFINITY *a)
{
	return a->Group * GROUP + (uint32_t)__builtin_ctzll(a->Mask);
}

/* As in Linux, the first CPU that shares a cache is the number of that cache,
 * and CPUs that share a level 2 cache are of one core. */
static void note_cache(const CACHE_RELATIONSHIP *c, uint32_t cpu,
		       uint32_t *last, sennit_cpu_place *out)
{
	if (c->Type == CacheInstruction || !has_cpu(&c->GroupMask, cpu))
		return;
	if (c->Level == 2)
		out->core = first_cpu(&c->GroupMask);
	if (c->Level > *last) {
		*last = c->Level;
		out->cache = first_cpu(&c->GroupMask);
	}
}

static bool find_place(const relation *all, DWORD size, uint32_t cpu,
		       sennit_cpu_place *out)
{
	uint32_t last = 1;
	bool     found = false;

	for (DWORD at = 0; at < size;) {
		const relation *r = (const void *)((const char *)all + at);

		if (r->Relationship == RelationCache) {
			note_cache(&r->Cache, cpu, &last, out);
		} else if (r->Relationship == RelationNumaNode &&
			   has_cpu(&r->NumaNode.GroupMask, cpu)) {
			out->node = r->NumaNode.NodeNumber;
			found = true;
		}
		at += r->Size;
	}
	return found || last > 1;
}

/* There are no files, so another root has no CPUs. */
bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	sennit_cpu_place p = { .core = cpu };
	DWORD            size;
	relation        *all = *root ? NULL : all_relations(&size);
	bool             found;

	if (!all)
		return false;
	found = find_place(all, size, cpu, &p);
	os_unmap(all, size);
	if (found)
		*out = p;
	return found;
}

/* --- windows quota -------------------------------------------------------- */

/* quota.h on Windows: the job object of this process. There are no files, so
 * the root of the calls has no meaning. */

enum {
	WHOLE = 10000, /* the rate that is all CPUs */
	RANGE = 0x10   /* JOB_OBJECT_CPU_RATE_CONTROL_MIN_MAX_RATE, which is not
			* in mingw's headers: the rate's upper half is the
			* highest */
};

/* 0: no limit. */
static uint32_t highest_rate(const JOBOBJECT_CPU_RATE_CONTROL_INFORMATION *c)
{
	if (!(c->ControlFlags & JOB_OBJECT_CPU_RATE_CONTROL_ENABLE))
		return 0;
	if (c->ControlFlags & RANGE)
		return c->CpuRate >> 16;
	return c->ControlFlags & JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP
		       ? c->CpuRate
		       : 0;
}

uint32_t os_cpu_quota(const char *root)
{
	JOBOBJECT_CPU_RATE_CONTROL_INFORMATION c = { 0 };
	uint64_t                               rate, cpus;

	(void)root;
	if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation,
				       &c, sizeof(c), NULL))
		return UINT32_MAX;
	rate = highest_rate(&c);
	if (!rate)
		return UINT32_MAX;
	cpus = rate * GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
	return (uint32_t)((cpus + WHOLE - 1) / WHOLE);
}

uint32_t os_cpu_count(void)
{
	uint32_t quota = os_cpu_quota("");
	uint32_t cpus = (uint32_t)os_cpu_list(NULL, 0);

	return quota < cpus ? quota : cpus;
}

/* A job object limits processes, not threads. */
uint32_t os_thread_quota(const char *root)
{
	(void)root;
	return UINT32_MAX;
}

uint32_t os_thread_limit(void)
{
	return UINT32_MAX;
}
