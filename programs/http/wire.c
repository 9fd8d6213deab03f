/* SPDX-License-Identifier: Apache-2.0 */
#include "http/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A request has begun when a byte of it has arrived. A client that the monitor
 * has ended counts as one that was too slow. */
static ptrdiff_t receive(void *wire, void *to, size_t size,
			 sennit_time deadline)
{
	struct http_wire *w = wire;
	const bool idle = w->between && !w->owed && !sennit_http_ahead(w->http);
	ptrdiff_t  n = http_stream_recv(w->s, to, size, idle, deadline);

	if (!n && w->s->user && !w->between && atomic_load(&w->s->user->ended))
		return -ETIMEDOUT;
	return n;
}

static ptrdiff_t send_some(void *wire, const struct iovec *pieces, int count,
			   int flags, sennit_time deadline)
{
	struct http_wire *w = wire;
	const sennit_time own = sennit_after(w->patience);

	return http_stream_send_some(w->s, pieces, count, flags & MSG_MORE,
				     own < deadline ? own : deadline);
}

int http_wire_open(struct http_wire *w, struct http_stream *s, uint32_t flags,
		   const struct http_limits *limits, const char *name,
		   uint64_t idle, uint64_t patience)
{
	const sennit_http_link link = { receive, send_some, w };

	w->s = s;
	w->head = NULL;
	/* 0 would be the default. Parts of bodies have deadlines. */
	return sennit_http_create(
		&w->http, &link, flags,
		SENNIT_HTTP_CONFIG(.head = limits->head, .body = limits->body,
				   .idle = idle ? idle : 1,
				   .wait = patience ? patience : 1,
				   .step = SENNIT_HTTP_UNKNOWN,
				   .fields = limits->fields, .name = name));
}

void http_wire_close(struct http_wire *w)
{
	sennit_http_destroy(w->http);
	w->http = NULL;
}

int http_wire_next(struct http_wire *w, sennit_time deadline)
{
	int result;

	w->head = NULL;
	w->between = true;
	result = sennit_http_next(w->http, &w->head, deadline);
	w->between = false;
	w->taken = 0;
	w->done = result > 0 && !w->head->length;
	return result;
}

ptrdiff_t http_wire_read(struct http_wire *w, sennit_http_text *part,
			 sennit_time deadline)
{
	ptrdiff_t n = sennit_http_read(w->http, part, deadline);

	w->taken += n > 0 ? (uint64_t)n : 0;
	w->done = !n || w->taken == w->head->length;
	return n;
}
