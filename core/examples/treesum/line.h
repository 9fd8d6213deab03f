/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - a result as sha256sum prints it.
 *
 *	DIGEST  NAME		or, where the name holds \, newline or return:
 *	\DIGEST  ESCAPED
 */
#ifndef TREESUM_LINE_H
#define TREESUM_LINE_H

#include "entries.h"

/* A line. All bytes zero is an empty line. The next format reuses its
 * memory. */
struct line {
	char  *text; /* ends with a newline and a zero byte */
	size_t length;
	size_t room;
	size_t name; /* where the two spaces before the name are */
};

/* Make *l the line of *e. Returns 0 or -ENOMEM. */
int  line_format(struct line *l, const struct entry *e);
void line_free(struct line *l);

#endif
