/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - transfers a connection's bytes, plain or with TLS, with deadlines,
 * until the end of a graceful stop.
 *
 * The fibers of connections are members of one group. A stop cancels that
 * group, which wakes each fiber that waits. The fiber then continues to wait
 * outside the group, with the deadlines of the stop. No byte is lost.
 *
 * All calls return a negative errno value on failure; -ETIMEDOUT at the
 * deadline.
 */
#ifndef APPS_HTTP_STREAM_H
#define APPS_HTTP_STREAM_H

#include "http/supply.h"

#include <sennit.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>

struct http_stop {
	atomic_bool begun;
	/* Fixed after the stop has begun: */
	sennit_time until;
	uint64_t    idle_grace; /* ns that an idle connection waits for one more
				 * request, from when it is idle */
};

struct http_stream {
	int                     fd;
	const struct http_stop *stop;
	struct sennit_tls      *tls; /* NULL: plain */
	/* The stream whose peer waits for this one; NULL: none. If that peer
	 * has gone, receiving and sending end with -ECONNABORTED, unless they
	 * can complete at once. A peer that has shut down sending counts as
	 * gone, because the two look the same. */
	const struct http_stream *asker;
	struct http_user         *user; /* the client; NULL for servers */
};

/* Report whether a stop has begun. */
bool http_stop_begun(const struct http_stop *stop);

/* Receive up to `size` bytes. 0: the peer has shut down sending. idle: no byte
 * of a request has arrived yet. */
ptrdiff_t http_stream_recv(struct http_stream *s, void *to, size_t size,
			   bool idle, sennit_time deadline);

/* Send all bytes, each step within `patience` nanoseconds; with TLS there is
 * one step. Changes the vector. more: more follows at once. Returns 0. */
int http_stream_send(struct http_stream *s, struct iovec *v, int count,
		     bool more, uint64_t patience);

/* Send some of the bytes by the deadline. Returns their number. */
ptrdiff_t http_stream_send_some(struct http_stream *s, const struct iovec *v,
				int count, bool more, sennit_time deadline);

/* Send `size` bytes of a file from byte `at` on. Each step may take `patience`
 * nanoseconds, and all must end by the deadline. Returns 0; -EPIPE if the file
 * has been truncated. */
int http_stream_send_file(struct http_stream *s, int file, uint64_t at,
			  uint64_t size, uint64_t patience,
			  sennit_time deadline);

/* Call `call` with the TLS of the connection. Returns its result. */
typedef ptrdiff_t http_tls_call(struct sennit_tls *tls, void *bytes,
				size_t size, sennit_time deadline);
ptrdiff_t         http_stream_by_tls(struct http_stream *s, http_tls_call *call,
				     void *bytes, size_t size, bool idle,
				     sennit_time deadline);

/* Connect a socket, by the deadline and that of the stop. */
int http_stream_connect(struct http_stream *s, const void *address, size_t size,
			sennit_time deadline);

/* Shut down sending, read and drop what the peer still sends, for up to a
 * second and 16 MiB, and close. Otherwise unread bytes would reset the
 * connection, and a peer that gets an error could lose the answer. */
void http_stream_linger(struct http_stream *s);

/* Close at once. */
void http_stream_close(struct http_stream *s);

#endif
