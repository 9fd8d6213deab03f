/* SPDX-License-Identifier: Apache-2.0 */
/* httpd.h - the server's configuration, and a connection.
 *
 *	main.c     options
 *	serve.c    a connection: requests in, answers out
 *	answer.c   the head of an answer, and what is sent after it
 *	static.c   files
 *	status.c   the JSON endpoint
 *	files.c    the files and their cache
 */
#ifndef APPS_HTTPD_HTTPD_H
#define APPS_HTTPD_HTTPD_H

#include "http/wire.h"
#include "http/service.h"
#include "httpd/files.h"

struct httpd {
	struct http_service        service;
	struct files_config        files;
	struct http_limits         limits;
	uint64_t                   idle_patience;  /* ns between requests */
	uint64_t                   head_patience;  /* ns for a head to arrive */
	uint64_t                   body_patience;  /* ns for a body to arrive */
	uint64_t                   send_patience;  /* ns without progress */
	uint64_t                   total_patience; /* ns to send an answer */
	const char                *status_path;    /* "" : none */
	const char                *log;            /* NULL: none */
	const char                *certificates, *key;
	struct sennit_tls_context *tls; /* NULL: plain */
	sennit_time                started;
	atomic_ullong              requests; /* of connections that have
					      * ended */
};

/* A connection, of one fiber. */
struct client {
	struct http_stream     s;
	struct http_wire       in;
	struct httpd          *server;
	const struct sockaddr *peer;
	int                    err;    /* error of sending */
	bool                   keep;   /* keep the connection open after this
				        * request */
	bool                   linger; /* the rest of the request has not
				        * arrived */
	uint64_t               requests;
	uint64_t               sum; /* checksum of the body */
};

/* --- serve.c ------------------------------------------------------------ */

/* Serve a connection; http_service.serve. */
void httpd_serve(struct http_stream *s, const struct sockaddr *peer,
		 void *httpd);

/* --- answer.c ----------------------------------------------------------- */

/* Add a field to the answer. */
void httpd_field(struct client *c, const char *name, const char *form, ...)
	__attribute__((format(printf, 3, 4)));

/* Answer with the head and a body, which is omitted after HEAD, and log it.
 * body: NULL if it follows. */
void httpd_answer_with(struct client *c, int status, const char *body,
		       uint64_t size);

/* Send a complete answer with one line of text. */
void httpd_answer(struct client *c, int status);

/* Log an answer with so many bytes of a body. */
void httpd_log(const struct client *c, int status, uint64_t size);

/* --- static.c, status.c ------------------------------------------------- */

/* Answer with a file. */
void httpd_answer_file(struct client *c, const char *path);

/* Answer for the JSON endpoint. GET: the state of the server, with 503 once it
 * is ending. POST: the number of bytes of the body and their FNV-1a
 * checksum. */
void httpd_answer_status(struct client *c);

#endif
