/* SPDX-License-Identifier: Apache-2.0 */
/* shelf.h - an allocator that counts, and keeps freed memory: the library must
 * detect an access to an ended object, not a tool. */
#ifndef SN_TEST_SHELF_H
#define SN_TEST_SHELF_H

#include "with_workers.h"

struct shelf {
	atomic_uint taken, given;
	atomic_uint wrong_size;
	size_t      size; /* of the most recent block */
	bool        empty;
	max_align_t room[64];
};

static inline void *shelf_take(void *context, size_t size, size_t alignment)
{
	struct shelf  *shelf = context;
	const unsigned n = atomic_load(&shelf->taken);

	if (shelf->empty || n == 8 || size > 8 * sizeof(max_align_t) ||
	    alignment > _Alignof(max_align_t))
		return NULL;
	atomic_store(&shelf->taken, n + 1);
	shelf->size = size;
	return &shelf->room[8 * n];
}

static inline void shelf_give(void *context, void *memory, size_t size)
{
	struct shelf *shelf = context;

	(void)memory;
	if (size != shelf->size)
		atomic_fetch_add(&shelf->wrong_size, 1);
	atomic_fetch_add(&shelf->given, 1);
}

static inline sennit_allocator of_shelf(struct shelf *shelf)
{
	return (sennit_allocator){ shelf_take, shelf_give, shelf };
}

static inline bool is_given_back(struct shelf *shelf, unsigned n)
{
	return atomic_load(&shelf->taken) == n &&
	       atomic_load(&shelf->given) == n &&
	       atomic_load(&shelf->wrong_size) == 0;
}

#endif
