/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - finds lines that match.
 *
 * A pattern without special characters is found by its rarest byte. If every
 * match contains a string, only lines that contain it are matched. Any other
 * pattern is run by PCRE2's JIT compiler over many lines at once where that
 * gives the same lines as one by one, since a call for each line costs more.
 */
#ifndef GREP_PATTERN_H
#define GREP_PATTERN_H

#include "grep/options.h"

#include <stddef.h>

struct pattern;
struct matcher; /* the memory that one search needs */

/* Compiles the pattern of *o. Prints what is wrong. Returns NULL on error. */
struct pattern *pattern_new(const struct options *o);
void            pattern_free(struct pattern *p);

/* Returns NULL without memory. */
struct matcher *matcher_new(const struct pattern *p);
void            matcher_free(struct matcher *m);

/* A line, without its newline. */
struct line {
	const char *begin, *end;
};

/* Looks for the first line in [begin, end) that matches. `begin` is the
 * beginning of a line, and a newline or the end of the file precedes `end`.
 * Returns 1 and the line, 0 if there is none, or -1 if the pattern takes too
 * many steps. */
int pattern_find(const struct pattern *p, struct matcher *m, const char *begin,
		 const char *end, struct line *line);

#endif
