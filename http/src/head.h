/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - finds, checks and parses the head of a message.
 *
 *	sn_http_head_find   more bytes ... until the head is complete
 *	sn_http_head_parse  a complete head, as it was found
 *
 * A head is parsed only when it is complete, so the result does not depend on
 * how the bytes were split. What two programs on one connection might read in
 * two ways is refused: a line end that is not CR LF; folded lines; blanks in or
 * after a name; blanks other than one space in the first line; several Host
 * fields, or one that names no host; a status that does not have three digits;
 * a Transfer-Encoding that is not "chunked", or that comes with a
 * Content-Length; a zero or another control character.
 *
 * Status codes are those that a server sends.
 */
#ifndef SN_HTTP_HEAD_H
#define SN_HTTP_HEAD_H

#include "sennit/http.h"

struct limits {
	size_t   head;   /* maximum number of bytes of a head */
	uint32_t fields; /* maximum number of fields in a head */
};

struct head {
	sennit_http_head   out; /* its texts point into the caller's bytes */
	sennit_http_text   expect;
	size_t             size;      /* bytes, including the empty line */
	bool               is_answer; /* set by the caller */
	sennit_http_field *fields;    /* set by the caller: room for all */
};

/* The progress of sn_http_head_find. Zeroed for each head. */
struct scan {
	size_t   at;    /* bytes checked */
	size_t   line;  /* where the current line begins */
	uint32_t lines; /* complete lines */
};

/* Look for the end of the head that begins at bytes[0]. Returns its size, 0 if
 * it is not complete, or a negative status code: 400, 414, 431. */
long sn_http_head_find(struct scan *scan, const char *bytes, size_t size,
		       const struct limits *limits);

/* Set *h to what is known of a request that begins with these bytes, if its
 * head cannot be parsed: to decide whether the answer has a body. */
void sn_http_head_clear(struct head *h, const char *bytes, size_t size);

/* Parse a head. Returns 0 or a status code: 400, 501, 505. The length of an
 * answer without one is SENNIT_HTTP_UNKNOWN, whatever its status. */
uint32_t sn_http_head_parse(struct head *h, const char *bytes, size_t size);

/* The bytes of the head have moved `by` bytes towards the front. */
void sn_http_head_move(struct head *h, size_t by);

/* Report whether the text is a token, such as a name or a method. */
bool sn_http_is_token(const char *text, size_t size);

#endif
