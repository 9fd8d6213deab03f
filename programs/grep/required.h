/* SPDX-License-Identifier: Apache-2.0 */
/* required.h - finds a string that is in every line that matches an expression.
 */
#ifndef GREP_REQUIRED_H
#define GREP_REQUIRED_H

#include <stddef.h>

/* Copy the longest such string that is easy to find to `out`, which has room
 * for the expression. Returns its size; 0 if none was found. */
size_t required_find(const char *expression, char *out);

#endif
