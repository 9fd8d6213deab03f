/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a connection: reads requests and has them answered. */
#include "httpd/httpd.h"

#include "http/log.h"
#include "http/method.h"
#include "http/target.h"
#include "http/tls.h"

#include <errno.h>
#include <string.h>

/* --- bodies ------------------------------------------------------------- */

static void add_to_sum(struct client *c, sennit_http_text data)
{
	for (size_t i = 0; i < data.size; i++)
		c->sum = (c->sum ^ (unsigned char)data.at[i]) * 1099511628211u;
}

/* Read the whole body. Returns 0, a status code, or -1 if the library has
 * refused it. */
static int take_body(struct client *c)
{
	sennit_time      deadline = sennit_after(c->server->body_patience);
	sennit_http_text part;
	ptrdiff_t        n;

	while ((n = http_wire_read(&c->in, &part, deadline)) > 0)
		add_to_sum(c, part);
	if (n && sennit_http_refused(c->in.http, NULL))
		return -1;
	return n == -ETIMEDOUT ? 408 : n ? 400 : 0;
}

/* --- requests ----------------------------------------------------------- */

static bool is_status(const struct client *c)
{
	const char      *path = c->server->status_path;
	const size_t     size = strlen(path);
	sennit_http_text target = c->in.head->target;

	(void)http_target_authority(&target);
	return size && target.size >= size && !memcmp(target.at, path, size) &&
	       (target.size == size || target.at[size] == '?');
}

static bool has_method(const struct client *c, const char *method)
{
	return sennit_http_text_is(c->in.head->method, method);
}

/* Report whether the target supports the method. If not, the body is not
 * needed. */
static bool is_allowed(const struct client *c)
{
	return has_method(c, "GET") || has_method(c, "HEAD") ||
	       has_method(c, "OPTIONS") ||
	       (has_method(c, "POST") && is_status(c));
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
	} else if (has_method(c, "OPTIONS")) {
		httpd_answer(c, 200);
	} else if (is_status(c)) {
		httpd_answer_status(c);
	} else {
		status = http_target_path(path, c->in.head->target);
		if (status)
			httpd_answer(c, status);
		else
			httpd_answer_file(c, path);
	}
}

/* Take the body. Returns 0, a status code, or -1 if the library has refused
 * it. */
static int take_request(struct client *c)
{
	c->sum = 14695981039346656037u;
	if (!http_method_is_known(c->in.head->method))
		return 501;
	if (c->in.done)
		return 0;
	return is_allowed(c) ? take_body(c) : 405;
}

static bool may_keep(const struct client *c)
{
	const struct http_service *v = &c->server->service;

	return (c->in.head->flags & SENNIT_HTTP_KEPT) &&
	       !http_service_ending(v) &&
	       atomic_load_explicit(&v->connections, memory_order_relaxed) <
		       v->max_connections;
}

/* The library has refused the request, and answered. */
static void log_refusal(struct client *c)
{
	const uint32_t status = sennit_http_refused(c->in.http, &c->in.head);

	c->linger = true;
	httpd_log(c, (int)status, 0);
}

/* Serve one request. Returns false if it was the last one. */
static bool serve_one(struct client *c)
{
	int status, result = http_wire_next(&c->in, SENNIT_NEVER);

	if (result <= 0) {
		if (sennit_http_refused(c->in.http, NULL)) {
			c->requests++;
			log_refusal(c);
		}
		return false;
	}
	c->requests++;
	status = take_request(c);
	if (status < 0) {
		log_refusal(c);
		return false;
	}
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
	if (!c->err)
		(void)!sennit_http_flush(c->in.http, SENNIT_NEVER);
	atomic_fetch_add(&c->server->requests, c->requests);
}

/* --- connections -------------------------------------------------------- */

/* Make the messages of the connection. */
static int open_wire(struct client *c)
{
	const struct httpd *d = c->server;

	c->in.patience = d->send_patience;
	return http_wire_open(&c->in, &c->s, 0, &d->limits, "sennit-httpd",
			      d->idle_patience, d->head_patience);
}

void httpd_serve(struct http_stream *s, const struct sockaddr *peer,
		 void *httpd)
{
	struct httpd *d = httpd;
	struct client c = { .server = d, .peer = peer };

	if (d->tls &&
	    http_tls_accept(s, d->tls, sennit_after(d->head_patience))) {
		http_stream_close(s);
		return;
	}
	c.s = *s;
	if (open_wire(&c)) {
		http_stream_close(s);
		return;
	}
	serve_all(&c);
	if (c.linger || sennit_http_ahead(c.in.http))
		http_stream_linger(&c.s);
	else
		http_stream_close(&c.s);
	http_wire_close(&c.in);
}
