/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/pass.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Return the rest of a timeout. That for the client grows with the bytes that
 * the client has transferred, and shrinks by the time that it took. So the
 * client must keep to an average rate. Waits for the server do not count.
 */
static uint64_t left(const struct passing *p, uint64_t patience, bool of_client)
{
	uint64_t all;

	if (!of_client || !p->least_rate)
		return patience;
	all = patience + (uint64_t)((double)(p->bytes + p->kept_size) /
				    (double)p->least_rate * 1e9);
	if (p->waited >= all)
		return 0;
	return all - p->waited < patience ? all - p->waited : patience;
}

static void count_time(struct passing *p, sennit_time begun, bool of_client)
{
	if (of_client)
		p->waited += sennit_now() - begun;
}

static ptrdiff_t receive_part(struct passing *p, sennit_http_text *data)
{
	const sennit_time now = sennit_now();
	const uint64_t    most = left(p, p->receive_patience, p->from_client);
	ptrdiff_t         n = 0;

	if (!p->none)
		n = http_wire_read(p->from, data, sennit_after(most));
	count_time(p, now, p->from_client);
	return n;
}

/* Send a part together with its framing and the head before it. */
static int send_part(struct passing *p, sennit_http_text data)
{
	const sennit_time now = sennit_now();
	char              size[24];
	struct iovec      v[4] = { { NULL, 0 } };
	int               n = 0, err;

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
	err = http_stream_send(p->to, v, n, false,
			       left(p, p->send_patience, !p->from_client));
	count_time(p, now, !p->from_client);
	return err;
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

static void keep_part(struct passing *p, sennit_http_text data)
{
	memcpy(p->kept + p->kept_size, data.at, data.size);
	p->kept_size += data.size;
}

enum passed proxy_keep_body(struct passing *p)
{
	while (p->kept_size < p->kept_most) {
		sennit_http_text data;
		ptrdiff_t        n = receive_part(p, &data);

		if (!n)
			break;
		p->err = n < 0 ? (int)n : 0;
		if (n < 0)
			return SOURCE_FAILED;
		keep_part(p, data);
	}
	return PASSED;
}

static int send_kept(struct passing *p)
{
	const sennit_http_text data = { p->kept, p->kept_size };

	p->kept_size = 0;
	return data.size ? send_part(p, data) : 0;
}

enum passed proxy_pass_body(struct passing *p)
{
	p->err = send_kept(p);
	while (!p->err) {
		sennit_http_text data;
		ptrdiff_t        n = receive_part(p, &data);

		if (!n) {
			p->err = send_end(p);
			break;
		}
		p->err = n < 0 ? (int)n : 0;
		if (n < 0)
			return SOURCE_FAILED;
		p->err = send_part(p, data);
	}
	return p->err ? SINK_FAILED : PASSED;
}
