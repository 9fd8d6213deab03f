/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a client's connection: passes each request to a server, and the
 * answer back. */
#include "proxy/proxy.h"

#include "http/log.h"
#include "http/method.h"
#include "http/target.h"
#include "http/tls.h"
#include "proxy/pass.h"

#include <errno.h>
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

static bool has_method(const struct client *c, const char *method)
{
	return sennit_http_text_is(c->in.head->method, method);
}

static int check_request(const struct client *c)
{
	if (!http_method_is_known(c->in.head->method))
		return 501;
	return has_method(c, "CONNECT") || has_method(c, "TRACE") ? 405 : 0;
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

/* Return the status for a body that did not arrive. */
static int status_of(const struct client *c, int err)
{
	if (sennit_http_refused(c->in.http, NULL))
		return (int)sennit_http_refused(c->in.http, NULL);
	return err == -ETIMEDOUT || atomic_load(&c->s.user->ended) ? 408 : 400;
}

static void begin_body(struct client *c, struct passing *p)
{
	*p = (struct passing){ .from = &c->in,
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

	if (c->in.done)
		return 0;
	if (c->in.head->length < most)
		most = c->in.head->length;
	if (!most || !take_buffer(c, (size_t)most + c->proxy->limits.head +
					     HTTP_BODY_ROOM))
		return 0;
	p->kept = c->buffer;
	p->kept_most = (size_t)most;
	return proxy_keep_body(p) == PASSED ? 0 : status_of(c, p->err);
}

/* A complete body is sent with a length, however it was received. */
static struct framing framing_of(const struct client  *c,
				 const struct passing *p)
{
	const sennit_http_head *h = c->in.head;
	const bool              chunked = h->flags & SENNIT_HTTP_CHUNKED;

	if (chunked && c->in.done)
		return (struct framing){ false, true, p->kept_size };
	return (struct framing){ chunked,
				 sennit_http_find(h, "content-length").at,
				 h->length };
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

/* Return the status for an answer whose head did not arrive, or is refused. */
static int status_without_head(struct client *c, int err)
{
	const sennit_http_head *head = NULL;
	const uint32_t refused = sennit_http_refused(c->answer.http, &head);
	char           text[100];

	if (err == -ECONNABORTED)
		return GONE;
	if (err == -ETIMEDOUT)
		return 504;
	snprintf(text, sizeof(text),
		 "an answer's head has more than %u fields or %zu bytes",
		 c->proxy->answer_limits.fields, c->proxy->answer_limits.head);
	if (refused == 431)
		complain(c, text);
	else if (refused == 502 && head->status != 101)
		complain(c, "too many 1xx answers");
	return 502;
}

/* Read heads up to the final one, all within one patience. Returns 0 or a
 * status code. */
static int take_answer(struct client *c)
{
	int result = http_wire_next(&c->answer,
				    sennit_after(c->proxy->answer_patience));

	c->answer_err = result ? result : -ENODATA;
	return result > 0 ? 0 : status_without_head(c, result);
}

/* Report whether the answer has no body, whatever its head says. */
static bool has_no_body(const struct client *c)
{
	const uint32_t status = c->answer.head->status;

	return has_method(c, "HEAD") || status == 204 || status == 304;
}

/* Release the server. If only half of a request was sent, the server would take
 * what follows for the rest, so the connection is not kept. */
static void leave_server(struct client *c, bool whole)
{
	const bool good = whole && c->sent && !c->linger && c->answer.head &&
			  (c->answer.head->flags & SENNIT_HTTP_KEPT) &&
			  !sennit_http_ahead(c->answer.http);

	upstream_release(&c->proxy->upstreams, c->s.user, c->upstream,
			 &c->server, good);
	c->upstream = NULL;
}

/* Buffer the whole body if it is short, so that a client that reads slowly does
 * not occupy the server. If the server fails, the body may be incomplete. */
static void keep_answer(struct client *c, struct passing *p)
{
	const uint64_t   length = c->answer.head->length;
	sennit_http_text data;

	if (c->answer.done || length > c->proxy->buffer)
		return;
	p->kept_most = (size_t)length;
	if (length <= sennit_http_ahead(c->answer.http)) { /* already here */
		(void)!http_wire_read(p->from, &data, 0);
		p->kept = (char *)(uintptr_t)data.at;
		p->kept_size = data.size;
	} else if (take_buffer(c, p->kept_most + c->proxy->answer_limits.head +
					  HTTP_BODY_ROOM)) {
		p->kept = c->buffer;
		(void)!proxy_keep_body(p);
	}
}

static enum outcome pass_answer(struct client *c)
{
	const sennit_http_head *h = c->answer.head;
	const struct gateway   *g = c->proxy;
	struct passing          p = { .from = &c->answer,
				      .to = &c->s,
				      .receive_patience = g->answer_patience,
				      .send_patience = g->send_patience,
				      .least_rate = g->service.users.least_rate,
				      .first = &c->text };
	bool                    open_end, to_end;
	enum passed             passed = PASSED;

	c->answer.done = c->answer.done || has_no_body(c);
	open_end = !c->answer.done && h->length == SENNIT_HTTP_UNKNOWN;
	to_end = open_end && !(h->flags & SENNIT_HTTP_CHUNKED);
	p.chunked = open_end && c->in.head->minor;
	p.none = c->answer.done;
	c->keep = c->keep && !(open_end && !c->in.head->minor);
	if (proxy_make_answer(&c->text, h, p.chunked, c->keep,
			      c->in.head->minor)) {
		leave_server(c, false);
		return NOT_BEGUN;
	}
	keep_answer(c, &p);
	if (c->answer.done)
		leave_server(c, true);
	else if (!p.kept_size && !sennit_http_ahead(c->answer.http)) {
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
		http_log_add(c->peer, c->in.head, (int)h->status, p.bytes);
	return passed == PASSED ? ANSWERED : CUT;
}

/* --- one exchange with a server ----------------------------------------- */

/* Report whether the request may be sent again. The server has ended the
 * connection before its answer began: it has closed a kept connection, stops,
 * or has crashed. Sending again must be harmless. */
static bool may_retry(const struct client *c)
{
	return c->in.done && !c->in.head->length &&
	       !sennit_http_ahead(c->answer.http) &&
	       (c->answer_err == -ENODATA || c->answer_err == -ECONNRESET) &&
	       (has_method(c, "GET") || has_method(c, "HEAD") ||
		has_method(c, "OPTIONS"));
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
	http_wire_close(&c->answer);
	c->answer_err = 0;
	if (!http_wire_open(&c->answer, &c->server, SENNIT_HTTP_CLIENT,
			    &p->answer_limits, NULL, 0, 0))
		return 0;
	upstream_release(&p->upstreams, c->s.user, c->upstream, &c->server,
			 false);
	return 503;
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

/* The library has refused the request, and answered. */
static void log_refusal(struct client *c)
{
	const uint32_t status = sennit_http_refused(c->in.http, &c->in.head);

	c->keep = false;
	c->linger = true;
	if (http_log_on())
		http_log_add(c->peer, c->in.head, (int)status, 0);
}

static void answer_error(struct client *c, int status)
{
	if (sennit_http_refused(c->in.http, NULL)) {
		log_refusal(c);
		return;
	}
	c->keep = false;
	c->linger = status != GONE;
	proxy_make_error(&c->text, status, !has_method(c, "HEAD"));
	if (status != GONE)
		(void)!send_text(c, &c->s);
	if (http_log_on())
		http_log_add(c->peer, c->in.head, status, 0);
}

/* The rest of a request that was answered early must not be taken for the next
 * request. */
static void check_rest(struct client *c)
{
	if (!c->in.done) {
		c->keep = false;
		c->linger = true;
	}
}

static bool may_keep(const struct client *c)
{
	const struct http_service *v = &c->proxy->service;

	return (c->in.head->flags & SENNIT_HTTP_KEPT) &&
	       !http_service_ending(v) &&
	       atomic_load_explicit(&v->connections, memory_order_relaxed) <
		       v->max_connections;
}

/* Report whether the request is for the proxy itself. */
static bool is_status(const struct client *c)
{
	const char      *path = c->proxy->status_path;
	sennit_http_text target = c->in.head->target;

	if (!path || (!has_method(c, "GET") && !has_method(c, "HEAD")))
		return false;
	(void)http_target_authority(&target);
	return target.size == strlen(path) &&
	       !memcmp(target.at, path, target.size) && c->in.done;
}

static bool answer_status(struct client *c)
{
	int status;

	c->keep = may_keep(c);
	status = proxy_answer_status(c);
	if (http_log_on())
		http_log_add(c->peer, c->in.head, status, 0);
	return c->keep;
}

/* Pass on the request and the answer. Returns false if it was the last
 * request. */
static bool pass_one(struct client *c)
{
	enum outcome outcome;
	int          status = check_request(c);

	if (!status)
		status = exchange(c);
	/* From here on all answers are the proxy's. */
	if (!sennit_http_refused(c->in.http, NULL) &&
	    sennit_http_answer(c->in.http, 0, NULL, 0, SENNIT_NEVER))
		return false;
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

/* Serve one request. Returns false if it was the last one. */
static bool serve_one(struct client *c)
{
	int result = http_wire_next(&c->in, SENNIT_NEVER);

	if (result > 0)
		return is_status(c) ? answer_status(c) : pass_one(c);
	if (sennit_http_refused(c->in.http, NULL))
		log_refusal(c);
	return false;
}

static struct client *make_client(struct gateway *p, struct http_stream *s,
				  const struct sockaddr *peer)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = *s;
	c->proxy = p;
	c->peer = peer;
	c->in.patience = p->send_patience;
	c->answer.owed = true;
	c->answer.patience = p->send_patience;
	if (!http_wire_open(&c->in, &c->s, 0, &p->limits, "sennit-proxy",
			    p->idle_patience, p->head_patience))
		return c;
	free(c);
	return NULL;
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
	(void)!sennit_http_flush(c->in.http, SENNIT_NEVER);
	if (c->linger || sennit_http_ahead(c->in.http))
		http_stream_linger(&c->s);
	else
		http_stream_close(&c->s);
	http_wire_close(&c->answer);
	http_wire_close(&c->in);
	free(c);
}
