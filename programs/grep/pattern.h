/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - finds lines that match.
 *
 * A pattern without special characters is searched for by its rarest byte. If
 * every match contains a string, only lines that contain it are matched. Any
 * other pattern is matched by PCRE2's JIT code against many lines at once,
 * because a call for each line costs more, if that finds the same lines as
 * matching one by one.
 */
#ifndef GREP_PATTERN_H
#define GREP_PATTERN_H

#include "grep/options.h"

#include <stddef.h>

struct pattern;
struct matcher; /* the memory for one search */

/* Compile the pattern of *o. Prints errors. Returns NULL on error. */
struct pattern *pattern_new(const struct options *o);
void            pattern_free(struct pattern *p);

/* Returns NULL without memory. */
struct matcher *matcher_new(const struct pattern *p);
void            matcher_free(struct matcher *m);

/* A line, without its newline. */
struct line {
	const char *begin, *end;
};

/* Find the first line in [begin, end) that matches. `begin` is the beginning of
 * a line, and a newline or the end of the file precedes `end`. Returns 1 and
 * the line, 0 if there is none, or -1 if the pattern takes too many steps. */
int pattern_find(const struct pattern *p, struct matcher *m, const char *begin,
		 const char *end, struct line *line);

#endif
