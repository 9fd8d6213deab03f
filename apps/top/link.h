/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the connection to a live view. */
#ifndef TOP_LINK_H
#define TOP_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The longest line that is taken. */
#define LINK_LINE (1u << 21)

struct link {
	int    fd;
	char  *text; /* LINK_LINE bytes */
	size_t used; /* bytes that have come */
	size_t line; /* bytes of them that link_take() has handed out */
};

/* Why something failed, for people. */
struct fault {
	char text[256];
};

void fault_set(struct fault *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Connect to the live view of a process ("1234") or at a path. Returns false
 * with *f set on failure. */
bool link_open(struct link *l, const char *target, struct fault *f);
void link_close(struct link *l);

bool link_send(struct link *l, const char *request, struct fault *f);

/* Read what has come. Returns false at the end, or if a line is too long. */
bool link_read(struct link *l);

/* The next whole line, which is valid until the next call. NULL: none. */
char *link_take(struct link *l);

/* Write to `to` what comes until the end, without the lines taken. Returns
 * false with *f set if nothing comes, or it cannot be written. */
bool link_copy(struct link *l, int to, struct fault *f);

/* Wait for a line, for some seconds. NULL: none, with *f set. */
char *link_wait(struct link *l, struct fault *f);

#endif
