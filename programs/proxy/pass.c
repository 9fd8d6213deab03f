/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/pass.h"

#include <errno.h>
#include <stdio.h>

/* One send for a part, with its framing and what goes in front. */
static int send_part(struct passing *p, struct http_text data)
{
	char         size[24];
	struct iovec v[4] = { { NULL, 0 } };
	int          n = 0;

	if (p->first)
		v[n++] = (struct iovec){ p->first->bytes, p->first->size };
	if (p->chunked)
		v[n++] = (struct iovec){ size, (size_t)snprintf(
						       size, sizeof(size),
						       "%zx\r\n", data.size) };
	v[n++] = (struct iovec){ (void *)(uintptr_t)data.at, data.size };
	if (p->chunked)
		v[n++] = (struct iovec){ (void *)(uintptr_t) "\r\n", 2 };
	p->first = NULL;
	p->bytes += data.size;
	return http_stream_send(p->to, v, n, false, p->send_patience);
}

static int send_end(struct passing *p)
{
	struct iovec v[2] = { { NULL, 0 } };

	if (p->first)
		v[0] = (struct iovec){ p->first->bytes, p->first->size };
	if (p->chunked)
		v[1] = (struct iovec){ (void *)(uintptr_t) "0\r\n\r\n", 5 };
	return http_stream_send(p->to, v, 2, false, p->send_patience);
}

/* The end of a connection ends a body that has no other end. */
static bool is_end(const struct passing *p, int n)
{
	return !n || (n == -ENODATA && p->body->state == HTTP_BODY_CLOSE);
}

enum passed proxy_pass_body(struct passing *p)
{
	for (;;) {
		const sennit_time deadline = sennit_after(p->receive_patience);
		struct http_text  data;
		int n = http_reader_body(p->from, p->body, p->keep, deadline,
					 &data);

		if (is_end(p, n))
			break;
		p->err = n;
		if (n < 0)
			return SOURCE_FAILED;
		p->err = data.size ? send_part(p, data) : 0;
		if (p->err)
			return SINK_FAILED;
	}
	p->err = send_end(p);
	return p->err ? SINK_FAILED : PASSED;
}
