/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - receiving from a connection without a buffer while nothing comes.
 *
 *	open --next, next, ...--> 0 or an error --> close
 *
 * A fiber that waits in sennit_recv keeps the buffer that it has passed. One
 * that waits in sennit_stream_next has none: the bytes come in a buffer of its
 * worker's, once there are some. For servers with many idle connections.
 *
 * Where the worker waits by io_uring, one request receives all that ever comes
 * (multishot), into buffers that the worker's streams share. A stream that is
 * not asked for what has come keeps at most SENNIT_STREAM_AHEAD of them and
 * then leaves the rest to the system, which slows down the sender. When all are
 * in use, or the kernel has no such requests, and with epoll, the system is
 * asked for the bytes when there are some, with a buffer of the allocator's.
 *
 * In libsennit-io. All that io.h says of deadlines and cancelling holds. No
 * byte is lost: what a call that ends with -ETIMEDOUT or -ECANCELED did not
 * return, the next one does.
 *
 * A stream belongs to the fiber or thread that has opened it, which alone uses
 * it, and closes it before it ends or unbinds, and before it closes fd. To
 * leave one open while its worker ends is misuse. Meanwhile nobody else
 * receives from fd; anybody may send.
 */
#ifndef SENNIT_STREAM_H
#define SENNIT_STREAM_H

#include "sennit/base.h"

SENNIT_BEGIN

/* Bytes that sennit_stream_next returns at most. */
#define SENNIT_STREAM_BUFFER 4096

/* Buffers that come before they are asked for, at most; a few more when they
 * come at once. */
#define SENNIT_STREAM_AHEAD 8

typedef struct sennit_stream sennit_stream;

/* Open a stream of what comes from fd, a socket of type SOCK_STREAM, which
 * stays the caller's. *out is the caller's until it closes it.
 * Returns 0, -EBADF, -ENOTSOCK, -EPROTOTYPE for another type of socket, -ENOMEM
 * or what io.h says.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_stream_open(sennit_stream **out, int fd);

/* Wait for bytes. *bytes becomes the address of some, which the caller may read
 * and write until its next call with this stream: that takes the buffer back.
 * Returns how many there are, 0 at the end, or a negative errno: -ETIMEDOUT or
 * -ECANCELED, after which the stream goes on; -ENOMEM, likewise; or what the
 * connection ended with. After the end, and after an error of the connection,
 * it returns the same again.
 *
 * From: fiber, thread, the opener.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_stream_next(sennit_stream *stream,
							void         **bytes,
							sennit_time deadline);

/* Give back the buffer of the last sennit_stream_next, if there is one: before
 * the caller waits for something else for long.
 *
 * From: fiber, thread, the opener.  Blocks: no.  */
SENNIT_API void sennit_stream_release(sennit_stream *stream);

/* Close the stream: *stream is gone, and its buffers are given back. Bytes that
 * have come and were not asked for are lost. fd stays open.
 *
 * From: fiber, thread, the opener.  Blocks: until the kernel has let go.  */
SENNIT_API void sennit_stream_close(sennit_stream *stream);

SENNIT_END

#endif
