/* SPDX-License-Identifier: Apache-2.0 */
/* memory_libc.c - the allocator of libc. */
#include "base/memory.h"

#include "base/race.h"

#include <stdlib.h>

static void *libc_allocate(void *context, size_t size, size_t alignment)
{
	void *memory;
	int   err;

	(void)context;
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	sn_race_hide(); /* see race.h: nor is it an access of the program */
	err = posix_memalign(&memory, alignment, size);
	sn_race_show();
	return err ? NULL : memory;
}

static void libc_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	sn_race_hide();
	free(memory);
	sn_race_show();
}

const sennit_allocator sn_memory_libc = { libc_allocate, libc_release, NULL };
