/* SPDX-License-Identifier: Apache-2.0 */
/* emscripten_memory.c - os.h with emscripten: memory of stacks. WebAssembly has
 * one memory, in which every address can be read and written. So there are no
 * guards, and a stack gets words that show an overflow (core/canary.h). */
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The unit of a stack's size. WebAssembly's own, 64 KiB, says only by how much
 * the memory grows. */
#define PAGE ((size_t)4096)

size_t os_page_size(void)
{
	return PAGE;
}

void *os_map(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, PAGE, size))
		return NULL;
	return memset(memory, 0, size);
}

void os_unmap(void *memory, size_t size)
{
	(void)size;
	free(memory);
}

bool os_map_anew(void *memory, size_t size)
{
	memset(memory, 0, size);
	return true;
}

/* A memory never shrinks. */
void os_discard(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

enum os_guard os_guard_kind(void)
{
	return OS_GUARD_NONE;
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	(void)kind;
	(void)low;
	(void)pitch;
	(void)count;
	(void)size;
	return -ENOSYS;
}

size_t os_mapping_limit(void)
{
	return SIZE_MAX;
}
