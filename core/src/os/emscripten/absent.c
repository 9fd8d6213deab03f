/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c - os.h and quota.h for a system that does not have or does not
 * report these: a barrier on other threads, places of CPUs, quotas, other
 * threads. */
#include "os/os.h"
#include "os/quota.h"

#include <errno.h>

/* So the fast paths have fences of their own. */
bool os_process_barrier_init(void)
{
	return false;
}

void os_process_barrier(void)
{
}

bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	(void)root;
	(void)cpu;
	(void)out;
	return false;
}

uint32_t os_cpu_quota(const char *root)
{
	(void)root;
	return UINT32_MAX;
}

uint32_t os_cpu_count(void)
{
	return (uint32_t)os_cpu_list(NULL, 0);
}

uint32_t os_thread_quota(const char *root)
{
	(void)root;
	return UINT32_MAX;
}

uint32_t os_thread_count(bool (*counts)(const char *name))
{
	(void)counts;
	return 0;
}

void os_load_beside(const char *file)
{
	(void)file;
}

bool os_is_loaded(void)
{
	return false;
}

int os_death_watch(const struct sennit_debug_death *d)
{
	(void)d;
	return -ENOTSUP;
}

uintptr_t os_fault_code(void)
{
	return 0;
}
