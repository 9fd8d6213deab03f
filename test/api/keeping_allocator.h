/* SPDX-License-Identifier: Apache-2.0 */
/* keeping_allocator.h - an allocator that counts, and keeps freed memory: the
 * library must detect an access to an ended object, not a tool. */
#ifndef SN_TEST_KEEPING_ALLOCATOR_H
#define SN_TEST_KEEPING_ALLOCATOR_H

#include "with_workers.h"

struct keeping_allocator {
	atomic_uint taken, given;
	atomic_uint wrong_size;
	size_t      size; /* of the most recent block */
	bool        empty;
	max_align_t room[64];
};

static inline void *keeping_take(void *context, size_t size, size_t alignment)
{
	struct keeping_allocator *kept = context;
	const unsigned            n = atomic_load(&kept->taken);

	if (kept->empty || n == 8 || size > 8 * sizeof(max_align_t) ||
	    alignment > _Alignof(max_align_t))
		return NULL;
	atomic_store(&kept->taken, n + 1);
	kept->size = size;
	return &kept->room[8 * n];
}

static inline void keeping_give(void *context, void *memory, size_t size)
{
	struct keeping_allocator *kept = context;

	(void)memory;
	if (size != kept->size)
		atomic_fetch_add(&kept->wrong_size, 1);
	atomic_fetch_add(&kept->given, 1);
}

static inline sennit_allocator keeping(struct keeping_allocator *kept)
{
	return (sennit_allocator){ keeping_take, keeping_give, kept };
}

static inline bool is_given_back(struct keeping_allocator *kept, unsigned n)
{
	return atomic_load(&kept->taken) == n &&
	       atomic_load(&kept->given) == n &&
	       atomic_load(&kept->wrong_size) == 0;
}

#endif
