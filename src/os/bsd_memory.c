/* SPDX-License-Identifier: Apache-2.0 */
/* bsd_memory.c - os.h on macOS and FreeBSD: memory mappings and guard pages of
 * stacks, by mmap(2), mprotect(2), madvise(2). Not tested on either. */
#include "os/os.h"

#include "base/check.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t os_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Both systems promise more memory than there is. MAP_STACK of FreeBSD grows on
 * demand and has a guard of its own, so it is not wanted here. */
static void *map(void *at, size_t size, int flags)
{
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANON | flags, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *os_map(size_t size)
{
	return map(NULL, size, 0);
}

void os_unmap(void *memory, size_t size)
{
	munmap(memory, size);
}

/* msync() fails if part of the range is not mapped. */
static bool has_hole(void *memory, size_t size)
{
	return msync(memory, size, MS_ASYNC) && errno == ENOMEM;
}

bool os_map_anew(void *memory, size_t size)
{
	if (map(memory, size, MAP_FIXED))
		return true;
	CHECK(!has_hole(memory, size),
	      "the system unmapped idle stacks and cannot map them again");
	return false;
}

/* The system may take such a page when it needs memory, and then gives zeros.
 * It counts as used until then. */
void os_discard(void *memory, size_t size)
{
	uintptr_t page = os_page_size();
	uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
	int       saved = errno;

	if (first < end)
		madvise((void *)first, end - first, MADV_FREE);
	errno = saved;
}

enum os_guard os_guard_kind(void)
{
	return OS_GUARD_MAPPING;
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	(void)kind;
	for (size_t i = 0; i < count; i++)
		if (mprotect((char *)low + i * pitch, size, PROT_NONE))
			return -errno;
	return 0;
}

/* No limit on mappings is known. */
size_t os_mapping_limit(void)
{
	return SIZE_MAX;
}
