/* SPDX-License-Identifier: Apache-2.0 */
/* live_text.h - JSON in a buffer that does not grow. */
#ifndef SN_LIVE_TEXT_H
#define SN_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct live_text {
	char  *at;
	size_t size; /* not 0 */
	size_t used;
	bool   cut; /* something did not fit: the text is no JSON */
};

/* Append what the format says. */
void sn_live_text_add(struct live_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Append a string in quotes. Its control characters and what is not UTF-8
 * become \n, \t or \xNN, as in reports, before JSON escapes the backslashes: so
 * who prints the decoded string harms no terminal. */
void sn_live_text_quote(struct live_text *t, const char *string);

#endif
