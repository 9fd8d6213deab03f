/* SPDX-License-Identifier: Apache-2.0 */
/* splice.h - move bytes between descriptors without a buffer in the program.
 * The calls suspend the fiber and never block its worker.
 *
 * In libsennit-io, on Linux only. What io.h says about its calls applies to
 * these, too. The result counts the bytes that have left the source and are in
 * the destination. A call that ends with -ETIMEDOUT or -ECANCELED has moved
 * nothing.
 *
 * O_NONBLOCK is set on a socket that lacks it, because the system has no other
 * way to avoid waiting. If one end is a file or a device, a blocking call
 * (blocking.h) moves the bytes once the other end is ready.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_SPLICE_H
#define SENNIT_SPLICE_H

#include "sennit/io.h"

SENNIT_BEGIN

/* Move up to `size` bytes from one descriptor to another. At least one byte is
 * moved unless size is 0 or the source has ended. One of the two must be a
 * pipe. *from_at and *to_at are offsets in files, in bytes; the call advances
 * them. NULL: the file's own position. flags: those of splice(). With
 * SPLICE_F_NONBLOCK the call does not wait, and returns -EAGAIN instead. May
 * raise SIGPIPE, as write() does.
 * Returns the number of bytes moved, 0 if the source has ended, or a negative
 * errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_splice(int from, int64_t *from_at,
						   int to, int64_t *to_at,
						   size_t size, unsigned flags,
						   sennit_time deadline);

/* Send up to `size` bytes of the file `from` to the descriptor `to`. At least
 * one byte is sent unless size is 0 or the file has ended. *at is the offset in
 * the file, in bytes; the call advances it. NULL: the file's own position. Data
 * in the page cache is sent to a socket or pipe in place, at most 256 KiB a
 * call. May raise SIGPIPE.
 * Returns the number of bytes sent, 0 if the file has ended, or a negative
 * errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_sendfile(int to, int from,
						     int64_t *at, size_t size,
						     sennit_time deadline);

SENNIT_END

#endif
