/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the allocator that the program gave. */
#ifndef SN_MEMORY_H
#define SN_MEMORY_H

#include "base/compiler.h"
#include "sennit/base.h"

#include <stdbool.h>

/* libc's, for a config without an allocator. */
extern const sennit_allocator sn_memory_libc;

/* Whether the program may have meant it: NULL for libc's, or both functions. */
static inline bool sn_memory_is_valid(const sennit_allocator *a)
{
	return !a || (a->allocate && a->release);
}

/* size bytes at a multiple of alignment, zeroed; NULL when there are none. */
void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment);
void  sn_memory_give(const sennit_allocator *a, void *memory, size_t size);

#endif
