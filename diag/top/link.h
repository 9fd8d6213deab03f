/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the connection to a live view. */
#ifndef TOP_LINK_H
#define TOP_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The maximum length of a line. */
#define LINK_LINE (1u << 21)

struct link {
	int    fd;
	char  *text; /* LINK_LINE bytes */
	size_t used; /* bytes received */
	size_t line; /* bytes of them that link_take() has returned */
};

/* A message about a failure. */
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

/* Read what has arrived. Returns false at the end, or if a line is too long. */
bool link_read(struct link *l);

/* Return the next complete line, which is valid until the next call. NULL:
 * none. */
char *link_take(struct link *l);

/* Copy to `to` what arrives until the end, without the lines already returned.
 * Returns false with *f set if nothing arrives, or it cannot be written. */
bool link_copy(struct link *l, int to, struct fault *f);

/* Wait some seconds for a line. Returns NULL with *f set if none arrives. */
char *link_wait(struct link *l, struct fault *f);

#endif
