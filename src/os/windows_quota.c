/* SPDX-License-Identifier: Apache-2.0 */
/* windows_quota.c - quota.h on Windows: the job object of this process. There
 * are no files, so the root of the calls has no meaning. */
#include "os/os.h"
#include "os/quota.h"

#include <windows.h>

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
