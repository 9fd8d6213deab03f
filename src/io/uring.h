/* SPDX-License-Identifier: Apache-2.0 */
/* uring.h - the backend that hands requests to the kernel, by an io_uring of
 * the worker's own.
 *
 *	queued --turn, flush, sleep--> in the kernel --completion--> complete
 *	                                  |    ^
 *	        deadline, cancelling:     v    | the fiber asks the kernel to
 *	                               given up  cancel, and waits again
 *
 * The record of a request lies in its fiber's frame, as do the buffers, and the
 * kernel may write to them until the request's completion. So the fiber goes on
 * after that alone. A deadline or a cancelled group ends the wait; the fiber
 * then has the kernel cancel the request, and waits for its completion without
 * a deadline. If the completion brings a result after all, that is what the
 * call returns.
 *
 * Needs Linux 6.1 (IORING_SETUP_DEFER_TASKRUN), and liburing when it is built:
 * without, or where the kernel or a filter refuses it, there is epoll.
 *
 * A ring belongs to the thread that has made it. A worker that lost its thread
 * and has another makes a new ring on that.
 */
#ifndef SN_IO_URING_H
#define SN_IO_URING_H

#include "io/backend.h"

#include <errno.h>

#ifdef SENNIT_HAVE_URING

/* Whether rings can be had here, with all that this needs. */
bool sn_io_uring_works(void);

/* The turn of such a poller, by which it is known. */
void sn_io_uring_turn(sennit_poller *p);

/* Makes one. 0 or a negative errno. */
int sn_io_uring_make(struct io_backend **out, const sennit_allocator *memory);

#else

#define sn_io_uring_turn ((void (*)(sennit_poller *))NULL)

static inline bool sn_io_uring_works(void)
{
	return false;
}

static inline int sn_io_uring_make(struct io_backend     **out,
				   const sennit_allocator *memory)
{
	(void)out;
	(void)memory;
	return -ENOSYS;
}

#endif
#endif
