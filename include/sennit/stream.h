/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - receive from a connection, with no buffer while it is idle.
 *
 *	open --next, next, ...--> 0 or an error --> close
 *
 * A fiber that waits in sennit_recv occupies the buffer that it has passed. A
 * fiber that waits in sennit_stream_next has no buffer: when bytes come, they
 * come in a buffer of its worker. Use it in servers with many idle connections.
 *
 * Where the worker waits by io_uring, one request receives everything
 * (multishot), into buffers that the worker's streams share. A stream that
 * nobody reads keeps at most SENNIT_STREAM_AHEAD of them and leaves the other
 * bytes to the system, which slows down the sender. If all buffers are in use,
 * if the kernel has no such requests, and with epoll, the stream waits until
 * bytes are there and receives them into a buffer of the allocator.
 *
 * In libsennit-io. Everything that io.h says about deadlines and cancelling
 * holds. No byte is lost: the call after one that ended with -ETIMEDOUT or
 * -ECANCELED returns it.
 *
 * A stream belongs to the fiber or thread that opened it. No other may use it.
 * The owner closes it before it ends or unbinds, and before it closes fd. It is
 * misuse if a stream is open when its worker ends. While it is open nobody else
 * may receive from fd; anybody may send.
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

/* Open a stream that receives from fd, a socket of type SOCK_STREAM, and store
 * it in *out. The caller keeps fd, and owns *out until it closes it.
 * Returns 0, -EBADF, -ENOTSOCK, -EPROTOTYPE for another type of socket, -ENOMEM
 * or what io.h says.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_stream_open(sennit_stream **out, int fd);

/* Wait for bytes, and store their address in *bytes. The caller may read and
 * write them until its next call with this stream, which takes the buffer back.
 * Returns how many there are, 0 at the end, or a negative errno: -ETIMEDOUT or
 * -ECANCELED, after which the stream continues; -ENOMEM, likewise; or what the
 * connection ended with. After the end, and after an error of the connection,
 * it returns the same again.
 *
 * From: fiber, thread, the opener.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_stream_next(sennit_stream *stream,
							void         **bytes,
							sennit_time deadline);

/* Give back the buffer of the last sennit_stream_next, if there is one. Call it
 * before a long wait for something else.
 *
 * From: fiber, thread, the opener.  Blocks: no.  */
SENNIT_API void sennit_stream_release(sennit_stream *stream);

/* Close and free *stream, and give back its buffers. Bytes that were received
 * and not read are lost. fd stays open.
 *
 * From: fiber, thread, the opener.  Blocks: until the kernel has let go.  */
SENNIT_API void sennit_stream_close(sennit_stream *stream);

SENNIT_END

#endif
