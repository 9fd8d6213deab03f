/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - finds, checks and parses the head of an HTTP/1.x message.
 *
 *	http_head_find    more bytes ... until the head is complete
 *	http_head_parse   a complete head, which http_head_find has accepted
 *
 * A head is parsed only when it is complete, so the result does not depend on
 * how the bytes were split. libhttp-parser parses it. That library is lax where
 * two programs on one connection must agree. So these functions reject what it
 * accepts: a line end that is not CR LF; folded lines; blanks in or after a
 * name; blanks other than one space in the first line; several Host fields, or
 * one that names no host; a status that does not have three digits; a
 * Transfer-Encoding that is not "chunked", or that comes with a Content-Length.
 *
 * Texts point into the caller's buffer. Status codes are those that a server
 * sends.
 */
#ifndef APPS_HTTP_HEAD_H
#define APPS_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of the array of fields, and the maximum of limits.fields. */
#define HTTP_FIELDS_MAX 256

struct http_text {
	const char *at; /* NULL: absent */
	size_t      size;
};

struct http_field {
	struct http_text name, value;
};

/* Fields that are used often. They are found while the head is parsed. */
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
	size_t   head;   /* maximum number of bytes of a head */
	uint32_t fields; /* maximum number of fields in a head */
	uint64_t body;   /* maximum number of bytes of a body */
};

struct http_head {
	size_t            size;   /* bytes, including the empty line */
	unsigned          method; /* enum http_method of http_parser.h */
	unsigned          status; /* of a response */
	unsigned          minor;  /* HTTP/1.minor */
	bool              keep_alive;
	bool              chunked;
	bool              has_length;
	uint64_t          length;
	struct http_text  line;   /* the first line, without its end */
	struct http_text  target; /* of a request */
	struct http_text  known[HTTP_KNOWN];
	uint32_t          count;
	struct http_field fields[HTTP_FIELDS_MAX];
};

/* The progress of http_head_find. Zeroed for each head. */
struct http_scan {
	size_t   at;    /* bytes checked */
	size_t   line;  /* where the current line begins */
	uint32_t lines; /* complete lines */
};

/* Look for the end of the head that begins at bytes[0]. Returns its size, 0 if
 * it is not complete, or a negative status code: 400, 414, 431. */
long http_head_find(struct http_scan *scan, const char *bytes, size_t size,
		    const struct http_limits *limits);

/* Set *h to what is known of a request that begins with these bytes, if its
 * head cannot be parsed: for the log, and to decide whether the answer has a
 * body. */
void http_head_clear(struct http_head *h, const char *bytes, size_t size);

/* Parse the head of a request, or of a response. known[HTTP_HOST] of a request
 * for "http://host/path" is that host. Returns 0 or a status code: 400, 431,
 * 501, 505. */
int http_head_parse(struct http_head *h, const char *bytes, size_t size,
		    const struct http_limits *limits);
int http_head_parse_response(struct http_head *h, const char *bytes,
			     size_t size, const struct http_limits *limits);

/* Report whether the two are equal, ignoring the case of letters. */
bool http_text_is(struct http_text text, const char *other);

/* Report whether the comma-separated list has the member. */
bool http_text_lists(struct http_text list, const char *member);

#endif
