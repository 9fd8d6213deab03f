/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - os.h on Windows: memory mappings and guard pages of
 * stacks. */
#include "base/compiler.h"
#include "os/os.h"

#include <errno.h>
#include <windows.h>

/* Pages at the upper end of a guard that the system hands out at the first
 * touch: on them the exception is dispatched. arch/x86_64_windows/frame.h names
 * these and the page below them. */
#define TOUCHED_PAGES 2

size_t os_page_size(void)
{
	SYSTEM_INFO info;

	GetSystemInfo(&info);
	return info.dwPageSize;
}

/* Windows has no memory that is promised but not counted: all of it counts
 * towards the limit of the system (commit charge), touched or not. */
void *os_map(size_t size)
{
	return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT,
			    PAGE_READWRITE);
}

/* Only whole mappings can be released. */
void os_unmap(void *memory, size_t size)
{
	(void)size;
	VirtualFree(memory, 0, MEM_RELEASE);
}

bool os_map_anew(void *memory, size_t size)
{
	if (!VirtualFree(memory, size, MEM_DECOMMIT))
		return false;
	CHECK(VirtualAlloc(memory, size, MEM_COMMIT, PAGE_READWRITE),
	      "the system took the memory of idle stacks and gives none back");
	return true;
}

/* MEM_RESET keeps the pages readable for threads that look late, and makes
 * their contents worthless. VirtualUnlock of pages that are not locked fails,
 * and takes them out of the process's working set. */
bool os_discard(void *memory, size_t size)
{
	uintptr_t page = os_page_size();
	uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
	DWORD     error = GetLastError();
	bool      done;

	done = first >= end || VirtualAlloc((void *)first, end - first,
					    MEM_RESET, PAGE_READWRITE);
	if (done && first < end)
		VirtualUnlock((void *)first, end - first);
	SetLastError(error);
	return done;
}

/* The protection of a page needs no mapping of its own. */
enum os_guard os_guard_kind(void)
{
	return OS_GUARD_CHEAP;
}

/* The lower part is given back to the system. An access faults, and it does not
 * count as memory in use. */
static bool guard(char *low, size_t size)
{
	size_t touched = TOUCHED_PAGES * os_page_size();
	DWORD  before;

	if (touched > size)
		touched = size;
	if (size > touched && !VirtualFree(low, size - touched, MEM_DECOMMIT))
		return false;
	return VirtualProtect(low + size - touched, touched,
			      PAGE_READWRITE | PAGE_GUARD, &before);
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	(void)kind;
	for (size_t i = 0; i < count; i++)
		if (!guard((char *)low + i * pitch, size))
			return -ENOMEM;
	return 0;
}

void os_populate(void *low, size_t pitch, size_t count, size_t size)
{
	(void)low;
	(void)pitch;
	(void)count;
	(void)size;
}

/* There is no limit on mappings. */
size_t os_mapping_limit(void)
{
	return SIZE_MAX;
}
