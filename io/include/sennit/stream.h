/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - receive from a connection, with no buffer while it is idle.
 *
 *	open --next, next, ...--> 0 or an error --> close
 *
 * A fiber that waits in sennit_recv occupies the buffer that it passed. A fiber
 * that waits in sennit_stream_next has no buffer. When bytes arrive, the call
 * returns them in a buffer of its worker. Use streams in servers with many idle
 * connections.
 *
 * If the worker waits by io_uring, one multishot request receives all data of a
 * stream, into buffers that the worker's streams share. A stream that is not
 * read holds about SENNIT_STREAM_AHEAD of these buffers. Further bytes stay in
 * the socket, and flow control slows down the sender. If all buffers are in
 * use, if the kernel does not have such requests, or if the worker waits by
 * epoll, the stream waits until bytes have arrived and receives them into a
 * buffer from the allocator.
 *
 * In libsennit-io. What io.h says about deadlines and cancelling applies. No
 * byte is lost: if a call ends with -ETIMEDOUT or -ECANCELED, the next call
 * returns the bytes.
 *
 * A stream belongs to the fiber or thread that opened it. No other may use it.
 * The owner closes it before it ends or unbinds, and before it closes fd. It is
 * misuse if a stream is open when its worker ends. While a stream is open,
 * nothing else may receive from fd. Any fiber or thread may send.
 */
#ifndef SENNIT_STREAM_H
#define SENNIT_STREAM_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The most bytes that one call of sennit_stream_next returns. */
#define SENNIT_STREAM_BUFFER 4096

/* The number of buffers that a stream receives ahead of its reader. It may be
 * exceeded by a few buffers that arrive at the same time. */
#define SENNIT_STREAM_AHEAD 8

typedef struct sennit_stream sennit_stream;

/* Open a stream that receives from fd, a socket of type SOCK_STREAM, and store
 * it in *out. The caller keeps fd, and owns *out until it closes it.
 * Returns 0, -EBADF, -ENOTSOCK, -EPROTOTYPE for another type of socket,
 * -ENOMEM, or an error that io.h describes.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_stream_open(sennit_stream **out, int fd);

/* Wait for bytes, and store their address in *bytes. The caller may read and
 * change the bytes until its next call with this stream, which releases the
 * buffer.
 * Returns the number of bytes, 0 at the end, or a negative errno: -ETIMEDOUT,
 * -ECANCELED or -ENOMEM, after which the stream can be used as before; or the
 * error that ended the connection. After the end, and after an error of the
 * connection, each call returns the same result again.
 *
 * From: fiber, thread, the opener.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_stream_next(sennit_stream *stream,
							void         **bytes,
							sennit_time deadline);

/* Release the buffer that the last sennit_stream_next returned, if there is
 * one. Call it before a long wait for something else.
 *
 * From: fiber, thread, the opener.  Blocks: no.  */
SENNIT_API void sennit_stream_give_back(sennit_stream *stream);

/* Close and free *stream, and release its buffers. Bytes that were received and
 * not read are lost. fd stays open.
 *
 * From: fiber, thread, the opener.
 * Blocks: until the kernel has ended the stream's requests.  */
SENNIT_API void sennit_stream_close(sennit_stream *stream);

SENNIT_END

#endif
