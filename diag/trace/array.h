/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays that grow. If there is no memory the program ends with a
 * message and status 1. */
#ifndef APPS_TRACE_ARRAY_H
#define APPS_TRACE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Return `array` with room for one more than its `count` elements of `size`
 * bytes. The room is computed from count, so elements must be added one by one,
 * starting from none. */
void *array_grow(void *array, uint32_t count, size_t size);

/* Return `count` zeroed elements, at least one. */
void *array_zeros(size_t count, size_t size);

/* Append a zeroed element to a[0..n-1] and return its index. */
#define ARRAY_ADD(a, n) ((a) = array_grow((a), (n), sizeof(*(a))), (n)++)

#endif
