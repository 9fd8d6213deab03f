/* SPDX-License-Identifier: Apache-2.0 */
/* memory_libc.c - the allocator of the C library of Windows, whose free() does
 * not release aligned memory. */
#include "base/memory.h"

#include <malloc.h>

static void *libc_allocate(void *context, size_t size, size_t alignment)
{
	(void)context;
	return _aligned_malloc(size, alignment);
}

static void libc_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	_aligned_free(memory);
}

const sennit_allocator sn_memory_libc = { libc_allocate, libc_release, NULL };
