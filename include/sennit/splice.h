/* SPDX-License-Identifier: Apache-2.0 */
/* splice.h - move bytes between descriptors without a buffer in the program.
 * The calls suspend the fiber and never block its worker.
 *
 * In libsennit-io. Everything that io.h says about its calls holds for these.
 * The bytes that a call counts have left the source and are in the destination.
 * A call that ends with -ETIMEDOUT or -ECANCELED has moved nothing.
 *
 * A socket gets O_NONBLOCK if it lacks it, because the system has no other way
 * to avoid waiting. If one end is neither a pipe nor a socket, a blocking call
 * (blocking.h) moves the bytes once the other end is ready.
 */
#ifndef SENNIT_SPLICE_H
#define SENNIT_SPLICE_H

#include "sennit/base.h"

#include <sys/types.h>

SENNIT_BEGIN

/* Move up to `size` bytes from one descriptor to another; at least one byte,
 * unless size is 0 or the source has ended. One of the two must be a pipe.
 * *from_at and *to_at are positions in files, which the call advances; NULL:
 * the file's own position. flags: those of splice(); with SPLICE_F_NONBLOCK the
 * call does not wait, and returns -EAGAIN instead. May raise SIGPIPE, as
 * write() does.
 * Returns how many bytes were moved; 0: the source has ended.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_splice(int from, off_t *from_at,
						   int to, off_t *to_at,
						   size_t size, unsigned flags,
						   sennit_time deadline);

/* Send up to `size` bytes of the file `from` to the descriptor `to`: at least
 * one, unless size is 0 or the file ends. *at is the position in the file,
 * which the call advances; NULL: the file's own position. Bytes in the page
 * cache, at most 256 KiB a call, are sent to a socket or pipe in place. May
 * raise SIGPIPE.
 * Returns how many bytes were sent; 0: the file has ended.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_sendfile(int to, int from,
						     off_t *at, size_t size,
						     sennit_time deadline);

SENNIT_END

#endif
