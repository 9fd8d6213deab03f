/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.h - the proxy's configuration, and a connection.
 *
 *	main.c      options
 *	serve.c     a client's connection: requests in, answers out
 *	status.c    the JSON endpoint
 *	forward.c   heads as they are passed on
 *	pass.c      bodies as they are passed on
 *	tcp.c       bytes in both directions, without HTTP
 *	upstream.c  the backend servers
 */
#ifndef APPS_PROXY_PROXY_H
#define APPS_PROXY_PROXY_H

#include "http/wire.h"
#include "http/service.h"
#include "proxy/upstream.h"

struct gateway {
	struct http_service service;
	struct upstreams    upstreams;
	struct http_limits  limits;          /* of clients */
	struct http_limits  answer_limits;   /* of servers */
	uint64_t            idle_patience;   /* ns between requests */
	uint64_t            head_patience;   /* ns for a request's head */
	uint64_t            body_patience;   /* ns for each part of a body */
	uint64_t            answer_patience; /* ns for an answer's head */
	uint64_t            send_patience;   /* ns without progress */
	size_t              buffer;      /* maximum bytes of a message that are
					  * buffered */
	uint64_t            buffers;     /* maximum bytes of all that are
					  * buffered */
	atomic_ullong       buffered;    /* bytes buffered now */
	bool                has_share;   /* service.users.share was set by an
					  * option */
	bool                underscores; /* allow them in names of fields */
	bool                tcp;
	const char         *status_path; /* NULL: none */
	const char         *log, *certificates, *key;
	struct sennit_tls_context *tls; /* NULL: plain */
};

/* The maximum size of a head that is passed on. */
#define HEAD_MAX 20480

/* A head that is being built. */
struct head_text {
	size_t size; /* more than HEAD_MAX: it did not fit */
	char   bytes[HEAD_MAX];
};

/* A connection, of one fiber. */
struct client {
	struct http_stream     s;
	struct http_wire       in;
	struct gateway        *proxy;
	const struct sockaddr *peer;
	bool                   keep;
	bool                   linger;
	/* The server's side of one request: */
	struct http_stream server;
	struct http_wire   answer;
	struct upstream   *upstream;
	bool               sent;       /* the whole request is sent */
	int                answer_err; /* why no answer came */
	struct head_text   text;
	/* A message that is buffered before it is passed on, or NULL: */
	char  *buffer;
	size_t buffer_size;
};

/* The http_service.serve functions, with HTTP and without. */
void proxy_serve(struct http_stream *s, const struct sockaddr *peer,
		 void *proxy);
void proxy_serve_tcp(struct http_stream *s, const struct sockaddr *peer,
		     void *proxy);

/* How the body is delimited. */
struct framing {
	bool     chunked, has_length;
	uint64_t length;
};

/* Write the head to pass on: without the fields that belong to one connection,
 * with the framing of what will be sent. A field of a request whose name
 * contains anything but letters, digits and '-' is omitted, because some
 * servers treat '_' as '-' and would read it as another field. Returns 0 or a
 * status code. */
int proxy_make_request(struct head_text *t, const struct client *c,
		       const struct framing *f);
int proxy_make_answer(struct head_text *t, const sennit_http_head *answer,
		      bool chunked, bool keep, unsigned minor);

/* Write a complete answer of the proxy itself; after HEAD without its body. */
void proxy_make_error(struct head_text *t, int status, bool body);

/* Answer for the JSON endpoint. Returns its status: 503 once the proxy is
 * ending, else 200. */
int proxy_answer_status(struct client *c);

#endif
