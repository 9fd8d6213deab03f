/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy.h"

#include "http/log.h"
#include "http/target.h"
#include "http/tls.h"
#include "proxy/pass.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

/* As a status in the log: the client went before the answer began. */
#define GONE 499

/* What of the answer to a request was passed on. */
enum outcome {
	ANSWERED,  /* all of it */
	CUT,       /* the head, at least: the client must see the end */
	NOT_BEGUN, /* nothing: `status` may be answered */
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

/* As a head is read again for the log, a body goes behind it. */
static int take_request(struct client *c, long size)
{
	int status = http_reader_request(&c->in, &c->head, &c->proxy->limits,
					 size);

	return status ? status : check_request(c);
}

/* Ask for the body, and pass it on. Returns 0 or a status code. A server that
 * takes no more of it may have answered. */
static int send_body(struct client *c)
{
	static char    go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec   v = { go_on, sizeof(go_on) - 1 };
	struct passing p = { .from = &c->in,
			     .body = &c->body,
			     .keep = c->head.size,
			     .to = &c->server,
			     .chunked = c->head.chunked,
			     .receive_patience = c->proxy->body_patience,
			     .send_patience = c->proxy->send_patience };
	enum passed    passed;

	c->sent = c->body.state == HTTP_BODY_DONE;
	if (c->sent)
		return 0;
	if (c->head.known[HTTP_EXPECT].at && c->head.minor &&
	    c->in.from == c->in.to &&
	    http_stream_send(&c->s, &v, 1, false, c->proxy->send_patience))
		return 400;
	passed = proxy_pass_body(&p);
	c->sent = passed == PASSED;
	if (passed == SOURCE_FAILED)
		return c->body.status        ? c->body.status
		       : p.err == -ETIMEDOUT ? 408
					     : 400;
	return 0;
}

/* --- the answer --------------------------------------------------------- */

/* A head that is final. Returns 0 or a status code. */
static int take_answer(struct client *c)
{
	const struct gateway *p = c->proxy;
	struct http_reader   *in = &c->answer_in;
	int                   status;

	do {
		long size = http_reader_head(in, &p->answer_limits,
					     p->answer_patience,
					     p->answer_patience);

		if (!size && in->err == -ECONNABORTED)
			return GONE;
		if (size <= 0)
			return size == -408 || in->err == -ETIMEDOUT ? 504
								     : 502;
		http_reader_move_up(in);
		status = http_head_parse_response(
			&c->answer, in->bytes, (size_t)size, &p->answer_limits);
		in->from = (size_t)size;
	} while (!status && c->answer.status / 100 == 1 &&
		 c->answer.status != 101);
	return status || c->answer.status == 101 ? 502 : 0;
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

static enum outcome pass_answer(struct client *c, bool *reusable)
{
	struct passing p = { .from = &c->answer_in,
			     .body = &c->answer_body,
			     .keep = 0,
			     .to = &c->s,
			     .receive_patience = c->proxy->answer_patience,
			     .send_patience = c->proxy->send_patience,
			     .first = &c->text };
	bool           open_end, to_end;
	enum passed    passed;

	begin_answer_body(c);
	to_end = c->answer_body.state == HTTP_BODY_CLOSE;
	open_end = c->answer_body.state != HTTP_BODY_DONE &&
		   (c->answer.chunked || !c->answer.has_length);
	p.chunked = open_end && c->head.minor;
	c->keep = c->keep && !(open_end && !c->head.minor);
	if (proxy_make_answer(&c->text, &c->answer, p.chunked, c->keep,
			      c->head.minor))
		return NOT_BEGUN;
	if (c->answer_in.from == c->answer_in.to) {
		p.first = NULL;
		if (send_text(c, &c->s))
			return CUT;
	}
	passed = proxy_pass_body(&p);
	if (http_log_on())
		http_log_add(c->peer, &c->head, (int)c->answer.status, p.bytes);
	/* The server takes what follows half a request for its rest. */
	*reusable = c->sent && passed == PASSED && c->answer.keep_alive &&
		    !to_end && c->answer_in.from == c->answer_in.to;
	return passed == PASSED ? ANSWERED : CUT;
}

/* --- one exchange with a server ----------------------------------------- */

/* The server has ended the connection before its answer began: it had just
 * closed a kept one, it stops, or it has died. The request is sent again only
 * if that does no harm. */
static bool may_retry(const struct client *c)
{
	const unsigned m = c->head.method;

	return c->body.state == HTTP_BODY_DONE && !c->head.chunked &&
	       !c->head.length && !c->answer_in.to &&
	       (c->answer_in.err == -ENODATA ||
		c->answer_in.err == -ECONNRESET) &&
	       (m == HTTP_GET || m == HTTP_HEAD || m == HTTP_OPTIONS);
}

static int connect_server(struct client *c, bool fresh, bool *reused)
{
	struct gateway *p = c->proxy;
	int             err;

	c->server = (struct http_stream){ .stop = &p->service.stop,
					  .asker = &c->s };
	err = upstream_connect(&p->upstreams, &c->server, fresh, reused,
			       &c->upstream);
	if (err)
		return err == -ETIMEDOUT ? 504 : 502;
	c->answer_in.s = &c->server;
	c->answer_in.from = c->answer_in.to = 0;
	c->answer_in.err = 0;
	return 0;
}

static int ask_server(struct client *c)
{
	int status = 0;

	c->sent = false;
	if (!send_text(c, &c->server))
		status = send_body(c);
	if (!status)
		status = take_answer(c);
	return status;
}

/* By a kept connection, to a server that dies, and to another. */
#define ATTEMPTS 3

/* Returns 0, with an answer's head taken, or a status code. */
static int exchange(struct client *c)
{
	struct upstreams *u = &c->proxy->upstreams;
	unsigned          left = ATTEMPTS;

	for (;;) {
		bool reused = false, retry;
		int  status = proxy_make_request(&c->text, &c->head, c->peer,
						 c->s.tls != NULL);

		if (!status)
			status = connect_server(c, left < ATTEMPTS, &reused);
		if (status)
			return status;
		status = ask_server(c);
		if (!status) {
			upstream_answered(c->upstream);
			return 0;
		}
		retry = may_retry(c);
		if (status >= 500 && !(reused && retry))
			upstream_failed(u, c->upstream);
		upstream_release(u, c->upstream, &c->server, false);
		if (!--left || !retry)
			return status;
	}
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

/* The rest of a request that was answered early is no next request. */
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

/* Whether the request is for the proxy itself. */
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

/* One request. False: it was the last. */
static bool serve_one(struct client *c)
{
	const struct gateway *p = c->proxy;
	long size = http_reader_head(&c->in, &p->limits, p->idle_patience,
				     p->head_patience);
	bool reusable = false;
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
	outcome = pass_answer(c, &reusable);
	upstream_release(&c->proxy->upstreams, c->upstream, &c->server,
			 reusable && !c->linger);
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
