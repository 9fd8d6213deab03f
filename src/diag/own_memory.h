/* SPDX-License-Identifier: Apache-2.0 */
/* own_memory.h - reads memory of this process that may be unmapped, or written
 * by other threads, at any moment.
 *
 * The kernel copies. So an address that is not mapped is an error, not a fault,
 * and sanitizers see no access: what was read is checked afterwards.
 */
#ifndef SN_OWN_MEMORY_H
#define SN_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy at most `size` bytes from `from`. Returns the number of bytes copied,
 * less than `size` where memory ends; 0: nothing could be read.
 * Async-signal-safe. */
size_t sn_own_memory_copy(void *to, uintptr_t from, size_t size);

/* Copy all `size` bytes. Returns false if that is not possible. */
static inline bool sn_own_memory_read(void *to, uintptr_t from, size_t size)
{
	return sn_own_memory_copy(to, from, size) == size;
}

/* Whether this process may read its memory in this way. Chooses how: to be
 * called before the other functions, by one thread at a time. */
bool sn_own_memory_is_readable(void);

/* What other threads stored before something that an earlier read has seen is
 * seen by later reads. */
void sn_own_memory_barrier(void);

#endif
