/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - a connection's bytes, plain or by TLS, with deadlines, up to the
 * end of a graceful stop.
 *
 * The fibers of connections are members of one group. A stop cancels that
 * group, so that each fiber that waits learns of it. It waits on then, outside
 * of the group, with the deadlines of the stop; no byte is lost by that.
 *
 * All calls return a negative errno on failure: -ETIMEDOUT at the deadline.
 */
#ifndef APPS_HTTP_STREAM_H
#define APPS_HTTP_STREAM_H

#include <sennit.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>

struct http_stop {
	atomic_bool begun;
	/* Fixed once it has begun: */
	sennit_time until;
	uint64_t    idle_grace; /* ns that a connection waits for one more
				 * request, from when it is idle */
};

struct http_stream {
	int                     fd;
	const struct http_stop *stop;
	struct sennit_tls      *tls; /* NULL: plain */
	/* Whose peer waits for what comes and goes here; NULL: nobody. When it
	 * has gone, receiving and sending end with -ECONNABORTED, unless they
	 * can go on at once. Who ends its own direction counts as gone: the two
	 * look the same. */
	const struct http_stream *asker;
};

/* Whether a stop has begun. */
bool http_stop_begun(const struct http_stop *stop);

/* Receive up to `size` bytes. 0: the peer has ended. idle: nothing of a request
 * has come yet. */
ptrdiff_t http_stream_recv(struct http_stream *s, void *to, size_t size,
			   bool idle, sennit_time deadline);

/* Send all, each step within `patience` nanoseconds; with TLS there is one.
 * Changes the vector. more: more follows at once. Returns 0. */
int http_stream_send(struct http_stream *s, struct iovec *v, int count,
		     bool more, uint64_t patience);

/* Send `size` bytes of a file from byte `at` on. Each step may take `patience`
 * nanoseconds, and all of them end by the deadline. Returns 0; -EPIPE if the
 * file has become shorter. */
int http_stream_send_file(struct http_stream *s, int file, uint64_t at,
			  uint64_t size, uint64_t patience,
			  sennit_time deadline);

/* Make a call with the TLS of the connection. Returns what it returns. */
typedef ptrdiff_t http_tls_call(struct sennit_tls *tls, void *bytes,
				size_t size, sennit_time deadline);
ptrdiff_t         http_stream_by_tls(struct http_stream *s, http_tls_call *call,
				     void *bytes, size_t size, bool idle,
				     sennit_time deadline);

/* Connect a socket, within the deadline and the stop's. */
int http_stream_connect(struct http_stream *s, const void *address, size_t size,
			sennit_time deadline);

/* Say that nothing more will be sent, drop what the peer still sends, for a
 * second and up to 16 MiB, and close. Without that a refused peer could lose
 * the answer, as bytes that nobody has read reset a connection. */
void http_stream_linger(struct http_stream *s);

/* Close at once. */
void http_stream_close(struct http_stream *s);

#endif
