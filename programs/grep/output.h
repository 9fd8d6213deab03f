/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - standard output, written by one search after the other.
 *
 * A search keeps its output until its turn comes. The output is then added to
 * one buffer, which is written when it is full, and on a terminal at once.
 */
#ifndef GREP_OUTPUT_H
#define GREP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Bytes to print. All bytes zero: none. */
struct text {
	char  *bytes;
	size_t size, room;
};

/* Returns 0 or -ENOMEM. */
int  text_add(struct text *t, const char *bytes, size_t size);
void text_free(struct text *t);

/* Owned by the search whose turn it is. */
struct output {
	struct text text;
	bool        is_terminal;
	bool        is_file; /* writing does not block */
	struct stat st;
};

void output_init(struct output *o);

/* Add bytes, or write everything that was added. Return 0 or a negative errno
 * value.
 */
int output_add(struct output *o, const struct text *t);
int output_flush(struct output *o);

/* Report whether the file is the one that is written to. */
bool output_is(const struct output *o, int fd);

#endif
