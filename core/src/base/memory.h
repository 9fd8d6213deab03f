/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - memory from the program's allocator (sennit_allocator). */
#ifndef SN_MEMORY_H
#define SN_MEMORY_H

#include "base/compiler.h"
#include "sennit/base.h"

#include <stdbool.h>

#ifdef SN_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef SENNIT_HAVE_VALGRIND
#include <valgrind/memcheck.h>
#endif

/* The allocator of libc: malloc and free. A config without an allocator uses
 * it. */
extern const sennit_allocator sn_memory_libc;

/* Whether *a is a usable allocator: NULL, which selects libc's, or one with
 * both functions. */
static inline bool sn_memory_is_valid(const sennit_allocator *a)
{
	return !a || (a->allocate && a->release);
}

/* Allocate `size` zeroed bytes, aligned to `alignment`. Returns NULL when the
 * allocator has no memory. sn_memory_give releases it; `size` must be the
 * same. */
void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment);
void  sn_memory_give(const sennit_allocator *a, void *memory, size_t size);

/* Zero some hundreds of bytes or more. libc's memset is faster there than what
 * compilers write for it, a string instruction. */
void sn_memory_clear(void *memory, size_t size);

/* Mark memory that is kept but must not be accessed: until sn_memory_show,
 * AddressSanitizer and Valgrind report each access. Its contents stay. */
static inline void sn_memory_hide(void *memory, size_t size)
{
#ifdef SN_ASAN
	__asan_poison_memory_region(memory, size);
#endif
#ifdef SENNIT_HAVE_VALGRIND
	(void)VALGRIND_MAKE_MEM_NOACCESS(memory, size);
#endif
	(void)memory;
	(void)size;
}

static inline void sn_memory_show(void *memory, size_t size)
{
#ifdef SN_ASAN
	__asan_unpoison_memory_region(memory, size);
#endif
#ifdef SENNIT_HAVE_VALGRIND
	(void)VALGRIND_MAKE_MEM_DEFINED(memory, size);
#endif
	(void)memory;
	(void)size;
}

#endif
