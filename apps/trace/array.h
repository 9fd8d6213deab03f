/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays that grow. Without memory the program ends with a message
 * and status 1. */
#ifndef APPS_TRACE_ARRAY_H
#define APPS_TRACE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Returns `array` with room for one element more than the `count` of `size`
 * bytes that it has. The room follows from count, so elements are only ever
 * added one by one, from none on. */
void *array_grow(void *array, uint32_t count, size_t size);

/* Returns count elements, all zero; one of them at least. */
void *array_zeros(size_t count, size_t size);

/* The index of a new element at the end of a[0..n-1], which is all zero. */
#define ARRAY_ADD(a, n) ((a) = array_grow((a), (n), sizeof(*(a))), (n)++)

#endif
