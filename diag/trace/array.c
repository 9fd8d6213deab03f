/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *require(void *memory)
{
	if (memory)
		return memory;
	fputs("sennit-trace: not enough memory for this trace\n", stderr);
	exit(1);
}

void *array_grow(void *array, uint32_t count, size_t size)
{
	size_t room = count ? 2 * (size_t)count : 1;

	if (count == UINT32_MAX)
		require(NULL);
	if (!(count & (count - 1)))
		array = require(realloc(array, room * size));
	memset((char *)array + count * size, 0, size);
	return array;
}

void *array_zeros(size_t count, size_t size)
{
	return require(calloc(count ? count : 1, size));
}
