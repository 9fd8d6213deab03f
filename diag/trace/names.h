/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - maps strings to numbers: equal strings have equal numbers. Strings
 * are stored escaped, and cut after 1,024 bytes. */
#ifndef APPS_TRACE_NAMES_H
#define APPS_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names {
	char   **names;
	uint32_t count;
	void    *tree; /* of tsearch(), by the text */
};

/* Return the number of a text of `length` bytes, or up to a zero byte. */
uint32_t names_add(struct names *n, const char *text, size_t length);

/* The same for a text that is already escaped. */
uint32_t names_put(struct names *n, const char *escaped);

/* Free the index, but not n->names. */
void names_free_index(struct names *n);

#endif
