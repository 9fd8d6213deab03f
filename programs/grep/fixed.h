/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.h - finds a string of bytes. */
#ifndef GREP_FIXED_H
#define GREP_FIXED_H

#include <stddef.h>

struct fixed {
	const char *bytes;
	size_t      size;
	size_t      rare; /* index of the byte that is rarest in typical
			   * texts */
};

void fixed_init(struct fixed *f, const char *bytes, size_t size);

/* Return the first match in [begin, end), or NULL. */
const char *fixed_find(const struct fixed *f, const char *begin,
		       const char *end);

#endif
