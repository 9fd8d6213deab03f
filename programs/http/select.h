/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - evaluates conditions and ranges of a request (RFC 9110, sections
 * 13 and 14). */
#ifndef APPS_HTTP_SELECT_H
#define APPS_HTTP_SELECT_H

#include <sennit/http.h>

#include <time.h>

/* The representation from which a request selects. */
struct http_variant {
	uint64_t    size;
	time_t      modified;
	const char *tag; /* strong, with quotes */
};

struct http_range {
	uint64_t first, count;
};

/* Return the status of the answer: 200, 304, 412, 416, or 206 with *range. A
 * request for several ranges is answered with the whole, which is permitted. */
int http_select(const sennit_http_head *h, const struct http_variant *v,
		struct http_range *range);

#endif
