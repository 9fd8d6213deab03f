/* SPDX-License-Identifier: Apache-2.0 */
/* tls_stream.h - OpenSSL over a socket, for fibers: each call holds up a fiber,
 * never its worker.
 *
 *	TLS_FD      libssl reads and writes the socket itself, which has
 *	            O_NONBLOCK, and says what it waits for: sennit_poll. Less
 *	            code, and kernel TLS works.
 *	TLS_MEMORY  libssl reads and writes memory, and sennit_recv and
 *	            sennit_send move the bytes. For what is no socket, and fewer
 *	            system calls with io_uring.
 *
 * One fiber at a time uses a stream: an SSL cannot be read by one thread and
 * written by another at the same time. Ignore SIGPIPE with TLS_FD: libssl
 * writes by write().
 */
#ifndef TLS_STREAM_H
#define TLS_STREAM_H

#include <sennit.h>

#include <openssl/ssl.h>

enum tls_way { TLS_FD, TLS_MEMORY };

struct tls_stream {
	SSL *ssl;
	int  fd;        /* the caller's */
	BIO *from_peer; /* TLS_MEMORY, or NULL; both are the SSL's */
	BIO *to_peer;
};

/* Prepare *t for a handshake as a client that wants to reach `host`, or, where
 * host is NULL, as a server. Returns 0 or -ENOMEM. */
int tls_open(struct tls_stream *t, SSL_CTX *context, int fd, enum tls_way way,
	     const char *host);

/* Shake hands. As the calls below it returns a negative errno: -EPROTO for what
 * TLS forbids, a peer that is not trusted included, which it prints;
 * -ECONNABORTED when the peer has ended the connection without a close_notify,
 * so that what came may be cut off; that of the system; -ETIMEDOUT and
 * -ECANCELED. After an error the stream is good for tls_free only. */
int tls_handshake(struct tls_stream *t, sennit_time deadline);

/* Read up to `size` bytes, at least one. 0: the peer has sent close_notify. */
ptrdiff_t tls_read(struct tls_stream *t, void *to, size_t size,
		   sennit_time deadline);

/* Write all bytes. Returns 0 or a negative errno. */
int tls_write(struct tls_stream *t, const void *from, size_t size,
	      sennit_time deadline);

/* Send close_notify and await the peer's; what comes before it is dropped. */
int tls_close(struct tls_stream *t, sennit_time deadline);

void tls_free(struct tls_stream *t);

#endif
