/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_topology.c - os.h on Linux: which CPUs share caches and memory.
 *
 *	/sys/devices/system/cpu/cpu5/cache/index2/level		"2"
 *	                                  /shared_cpu_list	"4-5"
 *	                        /node1				a link
 *
 * The first CPU that shares a cache serves as the number of that cache.
 */
#include "os/os.h"

#include <dirent.h>
#include <stdio.h>

#define CACHES_MAX 16

/* Read the number at the start of a file in a cache directory of the CPU. */
static bool read_cache_number(const char *root, uint32_t cpu, unsigned index,
			      const char *name, uint32_t *out)
{
	char  path[512];
	FILE *f;
	bool  ok;

	snprintf(path, sizeof(path),
		 "%s/sys/devices/system/cpu/cpu%u/cache/index%u/%s", root, cpu,
		 index, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fscanf(f, "%u", out) == 1;
	fclose(f);
	return ok;
}

/* Find the numbers of the CPU's level 2 cache and of its last-level cache. */
static bool find_caches(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	uint32_t last = 1;
	uint32_t level, first;

	for (unsigned i = 0; i < CACHES_MAX; i++) {
		if (!read_cache_number(root, cpu, i, "level", &level) ||
		    !read_cache_number(root, cpu, i, "shared_cpu_list", &first))
			break;
		if (level == 2)
			out->core = first;
		if (level > last) {
			last = level;
			out->cache = first;
		}
	}
	return last > 1;
}

static bool find_node(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	char           path[512];
	DIR           *d;
	struct dirent *e;
	bool           found = false;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u", root,
		 cpu);
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d)))
		found = sscanf(e->d_name, "node%u", &out->node) == 1;
	closedir(d);
	return found;
}

bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out)
{
	sennit_cpu_place p = { .core = cpu };
	bool             found = find_caches(root, cpu, &p);

	if (!find_node(root, cpu, &p) && !found)
		return false;
	*out = p;
	return true;
}
