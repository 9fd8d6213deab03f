/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - the body of an HTTP/1.x message, taken out of a stream of bytes.
 *
 * Chunks are read here and not by libhttp-parser, which as Debian builds it
 * (HTTP_PARSER_STRICT=0) skips the two bytes behind a chunk unseen.
 */
#ifndef APPS_HTTP_BODY_H
#define APPS_HTTP_BODY_H

#include "http/head.h"

enum http_body_state {
	HTTP_BODY_DONE = 0,
	HTTP_BODY_LENGTH, /* `left` bytes */
	HTTP_BODY_CLOSE,  /* up to the end of the connection */
	HTTP_CHUNK_FIRST, /* the first digit of a chunk's size */
	HTTP_CHUNK_SIZE,
	HTTP_CHUNK_EXTENSION,
	HTTP_CHUNK_LF,
	HTTP_CHUNK_DATA,
	HTTP_CHUNK_DATA_CR,
	HTTP_CHUNK_DATA_LF,
	HTTP_TRAILER_FIRST, /* the first byte of a line */
	HTTP_TRAILER_NAME,
	HTTP_TRAILER_VALUE,
	HTTP_TRAILER_LF,
	HTTP_TRAILER_END_LF
};

struct http_body {
	enum http_body_state state;
	int                  status; /* not 0: why it is refused */
	uint32_t             extra;  /* bytes of extensions and trailers */
	uint64_t             left;   /* of the body or the chunk */
	uint64_t             total;  /* bytes of data so far */
	uint64_t             limit;
};

/* Begin to take the body that h announces. A body beyond limits->body is
 * refused: body->status becomes 413. */
void http_body_begin(struct http_body *b, const struct http_head *h,
		     const struct http_limits *limits);

/* Take from bytes[0..size-1]: returns how many bytes were taken, of which those
 * in *data are data of the body. Takes something, unless the body is done, is
 * refused, or size is 0. */
size_t http_body_take(struct http_body *b, const char *bytes, size_t size,
		      struct http_text *data);

#endif
