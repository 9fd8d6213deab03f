/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a connection: reads requests and has them answered. */
#include "httpd/httpd.h"

#include "http/log.h"
#include "http/target.h"
#include "http/tls.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

/* --- bodies ------------------------------------------------------------- */

static void add_to_sum(struct client *c, struct http_text data)
{
	for (size_t i = 0; i < data.size; i++)
		c->sum = (c->sum ^ (unsigned char)data.at[i]) * 1099511628211u;
}

/* Read the whole body. Returns 0 or a status code. The head stays at the front
 * of the buffer, because its texts are used when the body is complete. */
static int take_body(struct client *c)
{
	sennit_time deadline = sennit_after(c->server->body_patience);
	int         n;

	do {
		struct http_text data;

		n = http_reader_body(&c->in, &c->body, c->head.size, deadline,
				     &data);
		add_to_sum(c, data);
	} while (n > 0);
	if (c->body.status)
		return c->body.status;
	return n == -ETIMEDOUT ? 408 : n ? 400 : 0;
}

/* --- requests ----------------------------------------------------------- */

static bool is_status(const struct client *c)
{
	const char      *path = c->server->status_path;
	const size_t     size = strlen(path);
	struct http_text target = c->head.target;

	(void)http_target_authority(&target);
	return size && target.size >= size && !memcmp(target.at, path, size) &&
	       (target.size == size || target.at[size] == '?');
}

/* Report whether the target supports the method. If not, the body is not
 * needed. */
static bool is_allowed(const struct client *c)
{
	switch (c->head.method) {
	case HTTP_GET:
	case HTTP_HEAD:
	case HTTP_OPTIONS:
		return true;
	case HTTP_POST:
		return is_status(c);
	default:
		return false;
	}
}

/* The answer is final, and the rest of the request is ignored. */
static void refuse(struct client *c, int status)
{
	c->keep = false;
	c->linger = true;
	httpd_answer(c, status);
}

static void answer(struct client *c)
{
	char path[HTTP_PATH_MAX];
	int  status;

	if (!is_allowed(c)) {
		httpd_answer(c, 405);
	} else if (c->head.method == HTTP_OPTIONS) {
		httpd_answer(c, 200);
	} else if (is_status(c)) {
		httpd_answer_status(c);
	} else {
		status = http_target_path(path, c->head.target);
		if (status)
			httpd_answer(c, status);
		else
			httpd_answer_file(c, path);
	}
}

/* Answer an "Expect", and prepare for the body. Returns 0 or a status code. */
static int begin_body(struct client *c)
{
	static const char      go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const struct http_text expected = c->head.known[HTTP_EXPECT];

	http_body_begin(&c->body, &c->head, &c->server->limits);
	c->sum = 14695981039346656037u;
	if (c->body.status)
		return c->body.status;
	if (expected.at && !http_text_is(expected, "100-continue"))
		return 417;
	if (c->body.state == HTTP_BODY_DONE)
		return 0;
	if (!is_allowed(c))
		return 405;
	if (expected.at && c->head.minor && c->in.from == c->in.to)
		httpd_add(c, go_on, sizeof(go_on) - 1);
	return take_body(c);
}

static bool may_keep(const struct client *c)
{
	const struct http_service *v = &c->server->service;

	return c->head.keep_alive && !http_service_ending(v) &&
	       atomic_load_explicit(&v->connections, memory_order_relaxed) <
		       v->max_connections;
}

/* Take a request; `size` is the result of http_reader_head. Returns 0 or a
 * status code. */
static int take_request(struct client *c, long size)
{
	int status = http_reader_request(&c->in, &c->head, &c->server->limits,
					 size);

	return status ? status : begin_body(c);
}

/* Serve one request. Returns false if it was the last one. */
static bool serve_one(struct client *c)
{
	const struct httpd *d = c->server;
	long size = http_reader_head(&c->in, &d->limits, d->idle_patience,
				     d->head_patience);
	int  status;

	if (!size)
		return false;
	c->requests++;
	status = take_request(c, size);
	if (status) {
		refuse(c, status);
		return false;
	}
	c->keep = may_keep(c);
	answer(c);
	return c->keep && !c->err;
}

static void serve_all(struct client *c)
{
	while (serve_one(c))
		;
	httpd_flush(c, false);
	atomic_fetch_add(&c->server->requests, c->requests);
}

/* --- connections -------------------------------------------------------- */

/* The client may wait for what is collected, so send it. */
static int send_collected(void *client)
{
	struct client *c = client;

	httpd_flush(c, false);
	return c->err;
}

void httpd_serve(struct http_stream *s, const struct sockaddr *peer,
		 void *httpd)
{
	struct httpd  *d = httpd;
	size_t         room = d->limits.head + HTTP_BODY_ROOM;
	struct client *c = malloc(sizeof(*c) + room);

	if (!c || (d->tls && http_tls_accept(s, d->tls,
					     sennit_after(d->head_patience)))) {
		free(c);
		http_stream_close(s);
		return;
	}
	memset(c, 0, offsetof(struct client, out));
	c->s = *s;
	c->server = d;
	c->in = (struct http_reader){ .s = &c->s,
				      .bytes = c->bytes,
				      .room = room,
				      .before = send_collected,
				      .context = c };
	c->peer = peer;
	serve_all(c);
	if (c->linger || c->in.from < c->in.to)
		http_stream_linger(&c->s);
	else
		http_stream_close(&c->s);
	free(c);
}
