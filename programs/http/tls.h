/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS by OpenSSL, for stream.h. Built without OpenSSL, opening fails.
 *
 * OpenSSL keeps a queue of errors per thread. So no fiber waits inside a call
 * of OpenSSL: descriptors do not block there, and the waits are between calls.
 */
#ifndef APPS_HTTP_TLS_H
#define APPS_HTTP_TLS_H

#include "http/stream.h"

/* Read the certificate chain and the key from PEM files. Returns an SSL_CTX,
 * or NULL after a message. */
void *http_tls_open(const char *certificates, const char *key);
void  http_tls_close(void *context);

/* Shake hands as the server. Returns 0. */
int http_tls_accept(struct http_stream *s, void *context, sennit_time deadline);

/* As those of stream.h. */
ptrdiff_t http_tls_recv(struct http_stream *s, void *to, size_t size, bool idle,
			sennit_time deadline);
int       http_tls_send(struct http_stream *s, const struct iovec *v, int count,
			sennit_time deadline);

/* Say that this is the end, if the connection is by TLS; plain from then on. */
void http_tls_end(struct http_stream *s);

#endif
