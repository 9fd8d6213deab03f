/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h - passes on a body in parts as they arrive. Each part is sent before
 * the next is received, so a slow reader slows down the writer. */
#ifndef APPS_PROXY_PASS_H
#define APPS_PROXY_PASS_H

#include "proxy/proxy.h"

enum passed { PASSED = 0, SOURCE_FAILED, SINK_FAILED };

struct passing {
	struct http_wire   *from;
	struct http_stream *to;
	bool                none;                            /* no body */
	bool                chunked;                         /* as it is sent */
	uint64_t            receive_patience, send_patience; /* for each part */
	struct head_text   *first; /* sent first, unless NULL */
	uint64_t            bytes; /* bytes passed on */
	int                 err;   /* the error */
	/* Bytes a second that the client must send or receive, beyond a
	 * patience; 0: no minimum. waited: ns for which it was waited for. */
	uint64_t least_rate, waited;
	bool     from_client; /* the body comes from the client; else it goes to
			       * it */
	/* The part that was read before it is passed on. There is room for
	 * kept_most bytes, followed by all of `from`. */
	char  *kept;
	size_t kept_size, kept_most;
};

/* Read the body into `kept`, until it has kept_most bytes. */
enum passed proxy_keep_body(struct passing *p);

/* Pass on `kept`, and then the rest of the body. On failure p->err is the
 * error.
 */
enum passed proxy_pass_body(struct passing *p);

#endif
