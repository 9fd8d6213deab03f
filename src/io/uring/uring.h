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
#ifndef SN_URING_H
#define SN_URING_H

#include "io/engine/closing.h"
#include "io/engine/request.h"
#include "sennit/base.h"

#include <errno.h>
#include <stdbool.h>

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

/* --- uring ring ----------------------------------------------------------- */

/* The io_uring of one worker: entries that are submitted, completions that are
 * taken.
 *
 * A completion that a fiber waits for carries the address of its
 * sennit_poller_op; a stream's carries that of the stream, and STREAM; others
 * carry NOBODY or WAKE.
 */

#ifdef SENNIT_HAVE_URING

#include <liburing.h>

/* Descriptors that are equal in this share a list. */
#define LISTS 256u

/* What completions carry that belong to no request of a fiber. */
#define NOBODY UINT64_C(0)
#define WAKE   UINT64_C(1)

/* Bits of those that belong to a stream, beside its address: of the request
 * that receives, and of the one that stops it. */
#define STREAM UINT64_C(2)
#define STOP   UINT64_C(1)

struct uring_backend {
	struct io_backend b; /* first */
	struct io_uring   ring;
	uint64_t          thread;  /* whose ring it is; 0: there is none */
	int               wake_fd; /* written to, never read */
	bool              watched; /* the ring polls wake_fd */
	bool              busy;    /* the last look found several */
	bool              slept;   /* in it, and has not flushed since */
	bool              hasty;   /* something is queued that shall not wait
				    * until the woken have run */
	struct refusal    refusal; /* of calls on the ring */
	uint32_t          woken;   /* who have not run since they were */
	uint32_t          peeks;
	uint32_t          waiting;      /* fibers */
	struct ring_wait *lists[LISTS]; /* requests, by descriptor */

	/* Of streams: what they share, and what becomes of a completion; set
	 * with the first. */
	struct uring_buffers *buffers;
	void (*came)(void *stream, const struct io_uring_cqe *c);
	bool (*is_awaited)(const void *stream); /* by a fiber */
};

/* Whether rings can be had here, with all that this needs. */
bool sn_io_ring_works(void);

/* What a call on the ring has returned. A kernel that has taken requests must
 * let us have their completions: aborts where it refuses. */
void sn_io_ring_check(struct uring_backend *u, int result);

/* The ring is the calling thread's from now on: a new one where it was
 * another's. 0 or a negative errno. */
int sn_io_ring_own(struct uring_backend *u);

void sn_io_ring_drop(struct uring_backend *u);

/* Take the completions that are there. */
void sn_io_ring_take(struct uring_backend *u);

/* Take those that no fiber waits for, up to the first of a fiber's. Whether
 * there is one of those. */
bool sn_io_ring_skip(struct uring_backend *u);

/* Whether the kernel has completions that are not in the ring. */
bool sn_io_ring_has_more(const struct uring_backend *u);

void sn_io_ring_submit_and_take(struct uring_backend *u);

/* Room for one more request; completions are taken if the kernel wants that
 * first. */
struct io_uring_sqe *sn_io_ring_next(struct uring_backend *u);

#endif

/* --- uring waits ---------------------------------------------------------- */

/* Which requests a worker's ring has, by descriptor, and how they are
 * cancelled: by whoever waits for one, or as the descriptor is closed.
 *
 * A lone request that the kernel has not seen when its descriptor is closed is
 * made nothing of, as the number may mean another descriptor by now.
 */

#ifdef SENNIT_HAVE_URING

void sn_io_ring_waits_add(struct uring_backend *u, struct ring_wait *n);
void sn_io_ring_waits_remove(struct uring_backend *u, struct ring_wait *n);

/* Have the kernel cancel the request of n, after it has tried it. The
 * completion comes in any case. */
void sn_io_ring_waits_cancel(struct uring_backend   *u,
			     const struct ring_wait *n);

/* End n as its descriptor is closed, with -ECANCELED or -EINTR. The completion
 * comes in any case. */
void sn_io_ring_waits_end(struct uring_backend *u, struct ring_wait *n,
			  int end);

/* End those on fd, which is about to be closed. Whether there are any. */
bool sn_io_ring_waits_forget(struct uring_backend *u, int fd);

/* End those whose descriptors others have closed. */
void sn_io_ring_waits_take_closed(struct uring_backend *u);

#endif

/* --- uring buffers -------------------------------------------------------- */

/* Buffers that the streams of one worker share, in a ring from which the kernel
 * takes one when bytes have come.
 *
 *	in the ring --completion--> lent --given back--> in the ring
 */

#ifdef SENNIT_HAVE_URING

#include <liburing.h>

/* The group of buffers, of which a ring has one. */
#define URING_BUFFERS_GROUP 0

struct uring_buffers;

/* Makes them, for this ring. Returns 0 or a negative errno: -EINVAL where the
 * kernel knows no such rings. */
int sn_io_buffers_make(struct uring_buffers **out, struct io_uring *ring,
		       const sennit_allocator *memory);

/* Frees them; NULL: nothing. The ring is gone. */
void sn_io_buffers_free(struct uring_buffers *b);

/* Whether the kernel finds one. */
bool sn_io_buffers_has(const struct uring_buffers *b);

/* The kernel has taken buffer `number`, for this many bytes. */
void sn_io_buffers_lend(struct uring_buffers *b, int32_t number, int32_t size);
void sn_io_buffers_give_back(struct uring_buffers *b, int32_t number);

/* Of a lent one. */
void   *sn_io_buffers_bytes(const struct uring_buffers *b, int32_t number);
int32_t sn_io_buffers_size(const struct uring_buffers *b, int32_t number);

/* The next of a list of lent ones, for its owner's use. */
int32_t *sn_io_buffers_next(struct uring_buffers *b, int32_t number);

#endif

/* --- uring stream --------------------------------------------------------- */

/* Streams by one request each that receives all that comes. */

#ifdef SENNIT_HAVE_URING

/* As request.h says of io_stream_ops. */
extern const struct io_stream_ops sn_io_uring_stream_ops;

#endif

#endif
