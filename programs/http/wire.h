/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the messages of libsennit-http over a stream: the next head, its
 * body in parts, and what is known of the two. Owned by one fiber.
 */
#ifndef APPS_HTTP_WIRE_H
#define APPS_HTTP_WIRE_H

#include "http/stream.h"

#include <sennit/http.h>

/* The room for a body after the largest head: what a part may be larger than
 * the limit of a head. */
#define HTTP_BODY_ROOM 8192

/* The maximum number of fields in a head. */
#define HTTP_FIELDS_MAX 256

struct http_limits {
	size_t   head;   /* maximum number of bytes of a head */
	uint32_t fields; /* maximum number of fields in a head */
	uint64_t body;   /* maximum number of bytes of a body; not 0 */
};

struct http_wire {
	struct http_stream     *s;
	sennit_http            *http;
	const sennit_http_head *head;     /* of the message; NULL: none */
	uint64_t                taken;    /* bytes of its body */
	bool                    done;     /* its body is complete */
	bool                    owed;     /* the peer owes an answer, so a stop
					   * does not shorten the wait */
	bool                    between;  /* private: waits for a head */
	uint64_t                patience; /* ns for each step of sending */
};

/* Make *w messages over the stream s. flags: SENNIT_HTTP_CLIENT or 0. A request
 * has `idle` nanoseconds until its first byte, and `patience` for the rest of
 * its head; a client has neither. The caller has set w->owed and w->patience.
 * Returns 0 or a negative errno value. */
int  http_wire_open(struct http_wire *w, struct http_stream *s, uint32_t flags,
		    const struct http_limits *limits, const char *name,
		    uint64_t idle, uint64_t patience);
void http_wire_close(struct http_wire *w);

/* Wait for the next head, w->head. Returns what sennit_http_next() does. */
int http_wire_next(struct http_wire *w, sennit_time deadline);

/* Wait for a part of the body. Returns what sennit_http_read() does. */
ptrdiff_t http_wire_read(struct http_wire *w, sennit_http_text *part,
			 sennit_time deadline);

#endif
