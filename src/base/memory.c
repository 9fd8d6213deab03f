/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

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

void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment)
{
	void *memory = a->allocate(a->context, size, alignment);

	MISUSE((uintptr_t)memory & (alignment - 1), "sennit_config.allocator",
	       "it returned memory without the requested alignment");
	return memory ? memset(memory, 0, size) : NULL;
}

void sn_memory_clear(void *memory, size_t size)
{
	memset(memory, 0, size);
}

void sn_memory_give(const sennit_allocator *a, void *memory, size_t size)
{
	if (memory)
		a->release(a->context, memory, size);
}
