/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a stream's bytes in a buffer, out of which heads and bodies are
 * taken. Belongs to one fiber.
 */
#ifndef APPS_HTTP_READER_H
#define APPS_HTTP_READER_H

#include "http/body.h"
#include "http/stream.h"

/* Room for a body behind the largest head. */
#define HTTP_BODY_ROOM 8192

struct http_reader {
	struct http_stream *s;
	char               *bytes; /* `room` bytes, of the caller */
	size_t              room;  /* at least a head and HTTP_BODY_ROOM */
	size_t              from, to;
	bool                owed; /* the peer owes an answer, so a stop leaves
				   * it its time */
	int                 err;  /* how receiving failed; -ENODATA: the end */
	/* Called before each wait for bytes, unless NULL: the peer may wait for
	 * what was not sent yet. Returns 0 or a negative errno. */
	int (*before)(void *context);
	void *context;
};

/* Wait for the head of a message: for its first byte `idle` nanoseconds, for
 * the rest `patience`. Returns its size, and it begins at r->from; 0 at the
 * end, where r->err says why; or a negative status code: what
 * http_head_find says, and 408. */
long http_reader_head(struct http_reader *r, const struct http_limits *limits,
		      uint64_t idle, uint64_t patience);

/* Take the head of a request, for which http_reader_head has returned `size`.
 * With a body behind it, it is moved to the front, where there is room for
 * more. Returns 0 or the status code to refuse it with. */
int http_reader_request(struct http_reader *r, struct http_head *head,
			const struct http_limits *limits, long size);

/* Move what has not been taken to the front. */
void http_reader_move_up(struct http_reader *r);

/* Take data of a body; more is received to bytes[keep...], where keep is the
 * size of the head in front whose texts are still read. Returns 1, and *data,
 * which may be empty and stays valid until the next call; 0 if the body is
 * done, a negative errno, or at the end of the stream -ENODATA. If it is
 * refused, b->status says why and the return is -EPROTO. */
int http_reader_body(struct http_reader *r, struct http_body *b, size_t keep,
		     sennit_time deadline, struct http_text *data);

#endif
