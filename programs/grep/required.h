/* SPDX-License-Identifier: Apache-2.0 */
/* required.h - a string that every line contains which matches an expression.
 */
#ifndef GREP_REQUIRED_H
#define GREP_REQUIRED_H

#include <stddef.h>

/* Copies the longest such string that is easily seen to `out`, which has room
 * for the expression. Returns its size; 0 if none is seen. */
size_t required_find(const char *expression, char *out);

#endif
