/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - buffers the bytes of a stream and reads heads and bodies from it.
 * Owned by one fiber.
 */
#ifndef APPS_HTTP_READER_H
#define APPS_HTTP_READER_H

#include "http/body.h"
#include "http/stream.h"

/* Room for a body after the largest head. */
#define HTTP_BODY_ROOM 8192

struct http_reader {
	struct http_stream *s;
	char               *bytes; /* `room` bytes, owned by the caller */
	size_t              room;  /* at least a head and HTTP_BODY_ROOM */
	size_t              from, to;
	bool                owed; /* the peer owes an answer, so a stop does not
				   * shorten the wait */
	int                 err;  /* error of receiving; -ENODATA: the end */
	/* Called before each wait for bytes, unless NULL: sends what the peer
	 * may wait for. Returns 0 or a negative errno value. */
	int (*before)(void *context);
	void *context;
};

/* Wait for the head of a message: `idle` nanoseconds for its first byte,
 * `patience` for the rest. Returns its size, and the head begins at r->from; 0
 * at the end, where r->err has the reason; or a negative status code: that of
 * http_head_find, or 408. */
long http_reader_head(struct http_reader *r, const struct http_limits *limits,
		      uint64_t idle, uint64_t patience);

/* Parse the head of a request for which http_reader_head has returned `size`.
 * If it has a body, it is moved to the front, where there is room for more.
 * Returns 0 or the status code of the error. */
int http_reader_request(struct http_reader *r, struct http_head *head,
			const struct http_limits *limits, long size);

/* Move the bytes that have not been read to the front. */
void http_reader_move_up(struct http_reader *r);

/* Read data of a body. More is received to bytes[keep...]; keep is the size of
 * the head at the front whose texts are still used. Returns 1 and *data, which
 * may be empty and is valid until the next call; 0 if the body is complete; or
 * a negative errno value: -ENODATA at the end of the stream, -EPROTO if the
 * body has an error, whose status code is in b->status. */
int http_reader_body(struct http_reader *r, struct http_body *b, size_t keep,
		     sennit_time deadline, struct http_text *data);

#endif
