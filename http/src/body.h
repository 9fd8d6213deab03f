/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - reads the body of a message from a stream of bytes. */
#ifndef SN_HTTP_BODY_H
#define SN_HTTP_BODY_H

#include "sennit/http.h"

enum body_state {
	BODY_DONE = 0,
	BODY_LENGTH, /* `left` bytes */
	BODY_CLOSE,  /* up to the end of the connection */
	CHUNK_FIRST, /* the first digit of a chunk's size */
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	TRAILER_FIRST, /* the first byte of a line */
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	TRAILER_END_LF
};

struct body {
	enum body_state state;
	uint32_t        status; /* not 0: the status code of the error */
	uint32_t        extra;  /* bytes of extensions and trailers */
	uint64_t        left;   /* bytes left of the body or the chunk */
	uint64_t        total;  /* bytes of data so far */
	uint64_t        limit;
};

/* Begin to read the body that h announces. For a body that is known to be
 * larger than the limit, body->status becomes 413. */
void sn_http_body_begin(struct body *b, const sennit_http_head *h,
			uint64_t limit);

/* Read from bytes[0..size-1]. Returns the number of bytes read; those in *data
 * are data of the body. Reads at least one byte, unless the body is complete or
 * has an error, or size is 0. */
size_t sn_http_body_take(struct body *b, const char *bytes, size_t size,
			 sennit_http_text *data);

#endif
