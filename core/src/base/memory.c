/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/race.h"

#include "base/compiler.h"

#include <string.h>

void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment)
{
	void *memory = a->allocate(a->context, size, alignment);

	MISUSE((uintptr_t)memory & (alignment - 1), "sennit_config.allocator",
	       "it returned memory without the requested alignment");
	if (memory)
		sn_race_release(memory);
	return memory ? memset(memory, 0, size) : NULL;
}

void sn_memory_clear(void *memory, size_t size)
{
	memset(memory, 0, size);
}

void sn_memory_give(const sennit_allocator *a, void *memory, size_t size)
{
	if (!memory)
		return;
	/* The program's own functions are instrumented. */
	if (a->release != sn_memory_libc.release)
		sn_race_acquire(memory);
	a->release(a->context, memory, size);
}
