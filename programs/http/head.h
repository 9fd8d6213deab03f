/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - the head of an HTTP/1.x message: found, checked, parsed.
 *
 *	http_head_find    more bytes ... until the head is whole
 *	http_head_parse   a whole head, which http_head_find has passed
 *
 * A head is parsed only when it is whole, so the result does not depend on how
 * the bytes were split. libhttp-parser parses it. That library is lax where two
 * programs on one connection must agree, so these functions refuse what it lets
 * pass: a line end that is not CR LF, folded lines, blanks in or behind a name,
 * other blanks than one space in the first line, more than one Host or one that
 * names no host, a status that has not three digits, a Transfer-Encoding that
 * is not "chunked", or stands beside a Content-Length.
 *
 * Texts point into the caller's buffer. Status codes are what a server answers.
 */
#ifndef APPS_HTTP_HEAD_H
#define APPS_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an array for fields has room for; limits.fields is at most this. */
#define HTTP_FIELDS_MAX 128

struct http_text {
	const char *at; /* NULL: not there */
	size_t      size;
};

struct http_field {
	struct http_text name, value;
};

/* Fields that are looked up often: found while the head is parsed. */
enum http_known {
	HTTP_HOST,
	HTTP_RANGE,
	HTTP_IF_RANGE,
	HTTP_IF_MATCH,
	HTTP_IF_NONE_MATCH,
	HTTP_IF_MODIFIED_SINCE,
	HTTP_IF_UNMODIFIED_SINCE,
	HTTP_EXPECT,
	HTTP_REFERER,
	HTTP_USER_AGENT,
	HTTP_CONNECTION,
	HTTP_TRANSFER_ENCODING,
	HTTP_CONTENT_LENGTH,
	HTTP_UPGRADE,
	HTTP_KNOWN
};

struct http_limits {
	size_t   head;   /* bytes of a head */
	uint32_t fields; /* in a head */
	uint64_t body;   /* bytes of a body */
};

struct http_head {
	size_t            size;   /* bytes, the empty line included */
	unsigned          method; /* enum http_method of http_parser.h */
	unsigned          status; /* of a response */
	unsigned          minor;  /* HTTP/1.minor */
	bool              keep_alive;
	bool              chunked;
	bool              has_length;
	uint64_t          length;
	struct http_text  line;   /* the first, without its end */
	struct http_text  target; /* of a request */
	struct http_text  known[HTTP_KNOWN];
	uint32_t          count;
	struct http_field fields[HTTP_FIELDS_MAX];
};

/* How far http_head_find has looked. Zeroed for each head. */
struct http_scan {
	size_t   at;    /* bytes that are looked at */
	size_t   line;  /* where the last line begins */
	uint32_t lines; /* whole ones */
};

/* Look for the end of the head that begins at bytes[0]. Returns its size, 0 if
 * it is not there yet, or a negative status code: 400, 414, 431. */
long http_head_find(struct http_scan *scan, const char *bytes, size_t size,
		    const struct http_limits *limits);

/* What is known of a request that begins with these bytes, if its head cannot
 * be parsed: for the log, and whether the answer has a body. */
void http_head_clear(struct http_head *h, const char *bytes, size_t size);

/* Parse the head of a request, or of a response. known[HTTP_HOST] of a request
 * for "http://host/path" is that host. Returns 0 or a status code: 400, 431,
 * 501, 505. */
int http_head_parse(struct http_head *h, const char *bytes, size_t size,
		    const struct http_limits *limits);
int http_head_parse_response(struct http_head *h, const char *bytes,
			     size_t size, const struct http_limits *limits);

/* Whether the two are the same, letters of either case being equal. */
bool http_text_is(struct http_text text, const char *other);

/* Whether the comma-separated list has the member. */
bool http_text_lists(struct http_text list, const char *member);

#endif
