/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_page.h - text on its way to a file descriptor, in pieces. */
#ifndef SN_STACKS_PAGE_H
#define SN_STACKS_PAGE_H

#include <stddef.h>

struct stacks_page {
	int    fd;
	int    error; /* the first one, negative; nothing is written after it */
	size_t used;
	char   text[8192];
};

__attribute__((format(printf, 2, 3))) void sn_stacks_page_add(
	struct stacks_page *p, const char *format, ...);

/* Add a name that the program chose, escaped. */
void sn_stacks_page_add_name(struct stacks_page *p, const char *name);

/* Add text that is escaped already, as a string of JSON. */
void sn_stacks_page_add_quoted(struct stacks_page *p, const char *text);

/* Add a name that the program chose, escaped, as a string of JSON; NULL: the
 * word null. */
void sn_stacks_page_add_string(struct stacks_page *p, const char *name);

/* Write what is left. Returns 0 or the error. */
int sn_stacks_page_end(struct stacks_page *p);

#endif
