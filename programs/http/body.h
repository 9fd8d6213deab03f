/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - reads the body of an HTTP/1.x message from a stream of bytes.
 *
 * Chunks are read here and not by libhttp-parser, because Debian's build of it
 * (HTTP_PARSER_STRICT=0) does not check the two bytes after a chunk.
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
	int                  status; /* not 0: the status code of the error */
	uint32_t             extra;  /* bytes of extensions and trailers */
	uint64_t             left;   /* bytes left of the body or the chunk */
	uint64_t             total;  /* bytes of data so far */
	uint64_t             limit;
};

/* Begin to read the body that h announces. For a body larger than limits->body,
 * body->status becomes 413. */
void http_body_begin(struct http_body *b, const struct http_head *h,
		     const struct http_limits *limits);

/* Read from bytes[0..size-1]. Returns the number of bytes read; those in *data
 * are data of the body. Reads at least one byte, unless the body is complete or
 * has an error, or size is 0. */
size_t http_body_take(struct http_body *b, const char *bytes, size_t size,
		      struct http_text *data);

#endif
