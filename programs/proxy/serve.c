/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a client's connection: passes each request to a server, and the
 * answer back. */
#include "proxy/proxy.h"

#include "http/log.h"
#include "http/target.h"
#include "http/tls.h"
#include "proxy/pass.h"

#include <errno.h>
#include <http_parser.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The status in the log if the client has gone before the answer began. */
#define GONE 499

/* How much of the answer to a request was passed on. */
enum outcome {
	ANSWERED,  /* all of it */
	CUT,       /* at least the head: the connection must be closed */
	NOT_BEGUN, /* nothing: `status` may be sent */
};

static int send_text(struct client *c, struct http_stream *to)
{
	struct iovec v = { c->text.bytes, c->text.size };

	return http_stream_send(to, &v, 1, false, c->proxy->send_patience);
}

/* --- the request -------------------------------------------------------- */

static int check_request(struct client *c)
{
	const struct http_text expected = c->head.known[HTTP_EXPECT];

	http_body_begin(&c->body, &c->head, &c->proxy->limits);
	if (c->body.status)
		return c->body.status;
	if (c->head.method == HTTP_CONNECT || c->head.method == HTTP_TRACE)
		return 405;
	return expected.at && !http_text_is(expected, "100-continue") ? 417 : 0;
}

/* The head is used again for the log, so a body is stored after it. */
static int take_request(struct client *c, long size)
{
	int status = http_reader_request(&c->in, &c->head, &c->proxy->limits,
					 size);

	return status ? status : check_request(c);
}

/* --- buffers ------------------------------------------------------------ */

/* Allocate a buffer for a message, unless too much is buffered for others. */
static bool take_buffer(struct client *c, size_t size)
{
	struct gateway *p = c->proxy;

	if (atomic_fetch_add(&p->buffered, size) + size <= p->buffers)
		c->buffer = malloc(size);
	if (c->buffer)
		c->buffer_size = size;
	else
		atomic_fetch_sub(&p->buffered, size);
	return c->buffer;
}

static void give_buffer(struct client *c)
{
	free(c->buffer);
	c->buffer = NULL;
	atomic_fetch_sub(&c->proxy->buffered, c->buffer_size);
	c->buffer_size = 0;
}

/* --- the request's body ------------------------------------------------- */

static int say_go_on(struct client *c)
{
	static char  go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec v = { go_on, sizeof(go_on) - 1 };

	if (c->head.known[HTTP_EXPECT].at && c->head.minor &&
	    c->in.from == c->in.to)
		return http_stream_send(&c->s, &v, 1, false,
					c->proxy->send_patience);
	return 0;
}

/* Return the status for a body that did not arrive. */
static int status_of(const struct client *c, int err)
{
	if (c->body.status)
		return c->body.status;
	return err == -ETIMEDOUT || atomic_load(&c->s.user->ended) ? 408 : 400;
}

static void begin_body(struct client *c, struct passing *p)
{
	*p = (struct passing){ .from = &c->in,
			       .body = &c->body,
			       .keep = c->head.size,
			       .to = &c->server,
			       .receive_patience = c->proxy->body_patience,
			       .send_patience = c->proxy->send_patience,
			       .least_rate = c->proxy->service.users.least_rate,
			       .from_client = true };
}

/* Ask for the body, and buffer its first part, which may be all of it. So a
 * client that sends it slowly does not occupy a connection to a server. Returns
 * 0 or a status code.
 */
static int keep_body(struct client *c, struct passing *p)
{
	uint64_t most = c->proxy->buffer;

	if (c->body.state == HTTP_BODY_DONE)
		return 0;
	if (say_go_on(c))
		return 400;
	if (c->head.has_length && c->head.length < most)
		most = c->head.length;
	if (!most || !take_buffer(c, (size_t)most + c->in.room))
		return 0;
	p->kept = c->buffer;
	p->kept_most = (size_t)most;
	return proxy_keep_body(p) == PASSED ? 0 : status_of(c, p->err);
}

/* A complete body is sent with a length, however it was received. */
static struct framing framing_of(const struct client  *c,
				 const struct passing *p)
{
	if (c->head.chunked && c->body.state == HTTP_BODY_DONE)
		return (struct framing){ false, true, p->kept_size };
	return (struct framing){ c->head.chunked, c->head.has_length,
				 c->head.length };
}

/* Send the head and the whole body. Returns 0 or a status code. A server that
 * stops reading may already have answered. */
static int send_request(struct client *c, struct passing *p)
{
	enum passed passed;

	p->first = &c->text;
	passed = proxy_pass_body(p);
	c->sent = passed == PASSED;
	return passed == SOURCE_FAILED ? status_of(c, p->err) : 0;
}

/* --- the answer --------------------------------------------------------- */

/* Print a message, once for each server, because the server may be at fault.
 * Does nothing if printing would block. */
static void complain(struct client *c, const char *what)
{
	struct pollfd error = { STDERR_FILENO, POLLOUT, 0 };

	if (atomic_exchange(&c->upstream->blamed, true) ||
	    poll(&error, 1, 0) <= 0 || !(error.revents & POLLOUT))
		return;
	fprintf(stderr, "sennit-proxy: %s: %s: 502 (reported once)\n",
		c->upstream->name, what);
}

/* Return the status for an answer whose head did not arrive, or is too long. */
static int status_without_head(struct client *c, long size)
{
	char text[100];
	int  err = c->answer_in.err;

	if (!size && err == -ECONNABORTED)
		return GONE;
	if (size == -408 || err == -ETIMEDOUT)
		return 504;
	snprintf(text, sizeof(text),
		 "an answer's head has more than %u fields or %zu bytes",
		 c->proxy->answer_limits.fields, c->proxy->answer_limits.head);
	if (size == -431)
		complain(c, text);
	return 502;
}

static uint64_t left_until(sennit_time deadline)
{
	const sennit_time now = sennit_now();

	return deadline > now ? deadline - now : 0;
}

/* Read one head. Returns 0 or a status code. */
static int take_head(struct client *c, sennit_time deadline)
{
	const struct http_limits *limits = &c->proxy->answer_limits;
	struct http_reader       *in = &c->answer_in;
	const uint64_t            left = left_until(deadline);
	long size = http_reader_head(in, limits, left, left);

	if (size <= 0)
		return status_without_head(c, size);
	http_reader_move_up(in);
	in->from = (size_t)size;
	return http_head_parse_response(&c->answer, in->bytes, (size_t)size,
					limits)
		       ? 502
		       : 0;
}

/* Read heads up to the final one, all within one patience. Returns 0 or a
 * status code. */
static int take_answer(struct client *c)
{
	const sennit_time deadline = sennit_after(c->proxy->answer_patience);

	for (int i = 0; i <= INTERIM_MAX; i++) {
		int status = take_head(c, deadline);

		if (status)
			return status;
		if (c->answer.status == 101)
			return 502;
		if (c->answer.status / 100 != 1)
			return 0;
	}
	complain(c, "too many 1xx answers");
	return 502;
}

static void begin_answer_body(struct client *c)
{
	const struct http_limits none = { .body = UINT64_MAX };
	const struct http_head  *h = &c->answer;

	http_body_begin(&c->answer_body, h, &none);
	if (c->head.method == HTTP_HEAD || h->status == 204 || h->status == 304)
		c->answer_body.state = HTTP_BODY_DONE;
	else if (!h->chunked && !h->has_length)
		c->answer_body.state = HTTP_BODY_CLOSE;
}

/* Release the server. If only half of a request was sent, the server would take
 * what follows for the rest, so the connection is not kept. */
static void leave_server(struct client *c, bool whole)
{
	const bool good = whole && c->sent && !c->linger &&
			  c->answer.keep_alive &&
			  c->answer_in.from == c->answer_in.to;

	upstream_release(&c->proxy->upstreams, c->s.user, c->upstream,
			 &c->server, good);
	c->upstream = NULL;
}

/* Buffer the whole body if it is short, so that a client that reads slowly does
 * not occupy the server. If the server fails, the body may be incomplete. */
static void keep_answer(struct client *c, struct passing *p)
{
	const struct http_reader *in = p->from;
	struct http_text          data;

	if (p->body->state != HTTP_BODY_LENGTH ||
	    p->body->left > c->proxy->buffer)
		return;
	p->kept_most = (size_t)p->body->left;
	if (p->kept_most <= in->to - in->from) { /* already in the buffer */
		(void)!http_reader_body(p->from, p->body, 0, 0, &data);
		p->kept = (char *)(uintptr_t)data.at;
		p->kept_size = data.size;
	} else if (take_buffer(c, p->kept_most + in->room)) {
		p->kept = c->buffer;
		(void)!proxy_keep_body(p);
	}
}

static enum outcome pass_answer(struct client *c)
{
	struct passing p = { .from = &c->answer_in,
			     .body = &c->answer_body,
			     .keep = 0,
			     .to = &c->s,
			     .receive_patience = c->proxy->answer_patience,
			     .send_patience = c->proxy->send_patience,
			     .least_rate = c->proxy->service.users.least_rate,
			     .first = &c->text };
	bool           open_end, to_end;
	enum passed    passed = PASSED;

	begin_answer_body(c);
	to_end = c->answer_body.state == HTTP_BODY_CLOSE;
	open_end = c->answer_body.state != HTTP_BODY_DONE &&
		   (c->answer.chunked || !c->answer.has_length);
	p.chunked = open_end && c->head.minor;
	c->keep = c->keep && !(open_end && !c->head.minor);
	if (proxy_make_answer(&c->text, &c->answer, p.chunked, c->keep,
			      c->head.minor)) {
		leave_server(c, false);
		return NOT_BEGUN;
	}
	keep_answer(c, &p);
	if (c->answer_body.state == HTTP_BODY_DONE)
		leave_server(c, true);
	else if (!p.kept_size && c->answer_in.from == c->answer_in.to) {
		p.first = NULL;
		passed = send_text(c, &c->s) ? SINK_FAILED : PASSED;
	}
	if (passed == PASSED)
		passed = proxy_pass_body(&p);
	give_buffer(c);
	if (c->upstream)
		leave_server(c, passed == PASSED && !to_end);
	if (passed == SOURCE_FAILED && p.first)
		return NOT_BEGUN;
	if (http_log_on())
		http_log_add(c->peer, &c->head, (int)c->answer.status, p.bytes);
	return passed == PASSED ? ANSWERED : CUT;
}

/* --- one exchange with a server ----------------------------------------- */

/* Report whether the request may be sent again. The server has ended the
 * connection before its answer began: it has closed a kept connection, stops,
 * or has crashed. Sending again must be harmless. */
static bool may_retry(const struct client *c)
{
	const unsigned m = c->head.method;

	return c->body.state == HTTP_BODY_DONE && !c->head.chunked &&
	       !c->head.length && !c->answer_in.to &&
	       (c->answer_in.err == -ENODATA ||
		c->answer_in.err == -ECONNRESET) &&
	       (m == HTTP_GET || m == HTTP_HEAD || m == HTTP_OPTIONS);
}

static int status_unconnected(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return 504;
	case -ECONNABORTED:
		return GONE;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -ENOBUFS:
		return 503;
	default:
		return 502;
	}
}

/* A client may have left after a wait of this length. */
#define WAITED (50 * SENNIT_MILLISECOND)

/* Report whether the client has gone, as in http_stream.asker. */
static bool is_gone(const struct client *c)
{
	struct pollfd end = { c->s.fd, POLLRDHUP, 0 };

	return poll(&end, 1, 0) > 0;
}

static int connect_server(struct client *c, bool fresh, bool *reused)
{
	struct gateway   *p = c->proxy;
	const sennit_time begun = sennit_now();
	int               err;

	c->server = (struct http_stream){ .stop = &p->service.stop,
					  .asker = &c->s };
	err = upstream_connect(&p->upstreams, c->s.user, &c->server, fresh,
			       reused, &c->upstream);
	if (err)
		return status_unconnected(err);
	if (sennit_now() - begun > WAITED && is_gone(c)) {
		upstream_release(&p->upstreams, c->s.user, c->upstream,
				 &c->server, true);
		return GONE;
	}
	c->answer_in.s = &c->server;
	c->answer_in.from = c->answer_in.to = 0;
	c->answer_in.err = 0;
	return 0;
}

static int ask_server(struct client *c, struct passing *body)
{
	int status = send_request(c, body);

	return status ? status : take_answer(c);
}

/* One by a kept connection that the server has closed, one to a server that has
 * crashed, and one to another server. */
#define ATTEMPTS 3

/* Returns 0 with the head of an answer, or a status code. */
static int attempt(struct client *c, struct passing *body)
{
	struct upstreams    *u = &c->proxy->upstreams;
	const struct framing f = framing_of(c, body);
	unsigned             left = ATTEMPTS;

	body->chunked = f.chunked;
	for (;;) {
		bool reused = false, retry;
		int  status = proxy_make_request(&c->text, c, &f);

		if (!status)
			status = connect_server(c, left < ATTEMPTS, &reused);
		if (status)
			return status;
		status = ask_server(c, body);
		if (!status) {
			upstream_answered(c->upstream);
			return 0;
		}
		retry = may_retry(c);
		if (status >= 500 && !(reused && retry))
			upstream_failed(u, c->upstream);
		leave_server(c, false);
		if (!--left || !retry)
			return status;
	}
}

static int exchange(struct client *c)
{
	struct passing body;
	int            status;

	begin_body(c, &body);
	status = keep_body(c, &body);
	if (!status)
		status = attempt(c, &body);
	give_buffer(c);
	return status;
}

/* --- a connection ------------------------------------------------------- */

static void answer_error(struct client *c, int status)
{
	c->keep = false;
	c->linger = status != GONE;
	proxy_make_error(&c->text, status, c->head.method != HTTP_HEAD);
	if (status != GONE)
		(void)!send_text(c, &c->s);
	if (http_log_on())
		http_log_add(c->peer, &c->head, status, 0);
}

/* The rest of a request that was answered early must not be taken for the next
 * request. */
static void check_rest(struct client *c)
{
	if (c->body.state != HTTP_BODY_DONE || c->body.status) {
		c->keep = false;
		c->linger = true;
	}
}

static bool may_keep(const struct client *c)
{
	const struct http_service *v = &c->proxy->service;

	return c->head.keep_alive && !http_service_ending(v) &&
	       atomic_load_explicit(&v->connections, memory_order_relaxed) <
		       v->max_connections;
}

/* Report whether the request is for the proxy itself. */
static bool is_status(const struct client *c)
{
	const char      *path = c->proxy->status_path;
	struct http_text target = c->head.target;

	if (!path ||
	    (c->head.method != HTTP_GET && c->head.method != HTTP_HEAD))
		return false;
	(void)http_target_authority(&target);
	return target.size == strlen(path) &&
	       !memcmp(target.at, path, target.size) &&
	       c->body.state == HTTP_BODY_DONE;
}

static bool answer_status(struct client *c)
{
	int status;

	c->keep = may_keep(c);
	status = proxy_make_status(&c->text, c->proxy, &c->head, c->keep);
	if (http_log_on())
		http_log_add(c->peer, &c->head, status, 0);
	return !send_text(c, &c->s) && c->keep;
}

/* Serve one request. Returns false if it was the last one. */
static bool serve_one(struct client *c)
{
	const struct gateway *p = c->proxy;
	long size = http_reader_head(&c->in, &p->limits, p->idle_patience,
				     p->head_patience);
	enum outcome outcome;
	int          status;

	if (!size)
		return false;
	status = take_request(c, size);
	if (!status && is_status(c))
		return answer_status(c);
	if (!status)
		status = exchange(c);
	if (status) {
		answer_error(c, status);
		return false;
	}
	c->keep = may_keep(c);
	check_rest(c);
	outcome = pass_answer(c);
	if (outcome == NOT_BEGUN)
		answer_error(c, 502);
	return outcome == ANSWERED && c->keep;
}

static struct client *make_client(struct gateway *p, struct http_stream *s,
				  const struct sockaddr *peer)
{
	const size_t   room = p->limits.head + HTTP_BODY_ROOM;
	const size_t   answer_room = p->answer_limits.head + HTTP_BODY_ROOM;
	struct client *c = calloc(1, sizeof(*c));

	if (c)
		c->bytes = malloc(room + answer_room);
	if (!c || !c->bytes) {
		free(c);
		return NULL;
	}
	c->s = *s;
	c->proxy = p;
	c->peer = peer;
	c->in = (struct http_reader){ .s = &c->s,
				      .bytes = c->bytes,
				      .room = room };
	c->answer_in = (struct http_reader){ .bytes = c->bytes + room,
					     .room = answer_room,
					     .owed = true };
	return c;
}

void proxy_serve(struct http_stream *s, const struct sockaddr *peer,
		 void *proxy)
{
	struct gateway *p = proxy;
	struct client  *c;

	if ((p->tls &&
	     http_tls_accept(s, p->tls, sennit_after(p->head_patience))) ||
	    !(c = make_client(p, s, peer))) {
		http_stream_close(s);
		return;
	}
	while (serve_one(c))
		;
	if (c->linger || c->in.from < c->in.to)
		http_stream_linger(&c->s);
	else
		http_stream_close(&c->s);
	free(c->bytes);
	free(c);
}
