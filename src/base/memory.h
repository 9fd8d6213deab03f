/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the allocator a scheduler was given. */
#ifndef SN_MEMORY_H
#define SN_MEMORY_H

#include "base/compiler.h"
#include "sennit/base.h"

/* libc's, for a config without an allocator. */
extern const sennit_allocator sn_memory_libc;

/* size bytes at a multiple of alignment, zeroed; NULL when there are none. */
void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment);
void  sn_memory_give(const sennit_allocator *a, void *memory, size_t size);

#endif
