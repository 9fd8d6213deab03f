/* SPDX-License-Identifier: Apache-2.0 */
/* memory_libc.c - the allocator of libc. */
#include "base/memory.h"

#include <stdlib.h>

static void *libc_allocate(void *context, size_t size, size_t alignment)
{
	void *memory;

	(void)context;
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void libc_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

const sennit_allocator sn_memory_libc = { libc_allocate, libc_release, NULL };
