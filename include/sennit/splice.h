/* SPDX-License-Identifier: Apache-2.0 */
/* splice.h - moving bytes between descriptors without a buffer of the
 * program's, by calls that hold up a fiber, never its worker.
 *
 * In libsennit-io. All that io.h says of its calls holds for these: what they
 * return has left the source and is in the destination, and a call that ends
 * with -ETIMEDOUT or -ECANCELED has moved nothing.
 *
 * A socket gets O_NONBLOCK if it lacks it, as the system has no other way not
 * to wait for it. Where one end is neither a pipe nor a socket, the bytes are
 * moved by a blocking call (blocking.h) once the other end is ready.
 */
#ifndef SENNIT_SPLICE_H
#define SENNIT_SPLICE_H

#include "sennit/base.h"

#include <sys/types.h>

SENNIT_BEGIN

/* Move up to `size` bytes from one descriptor to another, of which one must be
 * a pipe; at least one byte, unless size is 0 or the source has ended. *from_at
 * and *to_at are places in files, and advance; NULL: a file's own position.
 * flags: those of splice(); with SPLICE_F_NONBLOCK it does not wait, and
 * returns -EAGAIN instead. May raise SIGPIPE, as write() does.
 * Returns how many bytes were moved; 0: the source has ended.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_splice(int from, off_t *from_at,
						   int to, off_t *to_at,
						   size_t size, unsigned flags,
						   sennit_time deadline);

/* Send up to `size` bytes of the file `from` to the descriptor `to`: at least
 * one, unless size is 0 or the file ends. *at is the place in the file, and
 * advances; NULL: the file's own position. What the page cache has, at most 256
 * KiB a call, goes to a socket or pipe in place. May raise SIGPIPE.
 * Returns how many bytes were sent; 0: the file has ended.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_sendfile(int to, int from,
						     off_t *at, size_t size,
						     sennit_time deadline);

SENNIT_END

#endif
