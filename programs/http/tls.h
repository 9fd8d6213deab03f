/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS with libsennit-tls, for stream.h. In a build without it, opening
 * fails. */
#ifndef APPS_HTTP_TLS_H
#define APPS_HTTP_TLS_H

#include "http/stream.h"

struct sennit_tls_context;

/* Read the certificate chain and the key from PEM files. Returns NULL after a
 * message. */
struct sennit_tls_context *http_tls_open(const char *certificates,
					 const char *key);
void                       http_tls_close(struct sennit_tls_context *context);

/* Perform the handshake as the server. Returns 0. */
int http_tls_accept(struct http_stream *s, struct sennit_tls_context *context,
		    sennit_time deadline);

/* Like those of stream.h. */
ptrdiff_t http_tls_recv(struct http_stream *s, void *to, size_t size, bool idle,
			sennit_time deadline);
ptrdiff_t http_tls_send_some(struct http_stream *s, const void *from,
			     size_t size, sennit_time deadline);
int       http_tls_send(struct http_stream *s, const struct iovec *v, int count,
			sennit_time deadline);

/* Close the TLS session, if the connection uses TLS; it is plain from then
 * on. */
void http_tls_end(struct http_stream *s);

#endif
