/* SPDX-License-Identifier: Apache-2.0 */
/* uring.h - the backend that passes whole requests to the kernel. Each worker
 * has an io_uring of its own.
 *
 *	queued --turn, flush, sleep--> in the kernel --completion--> complete
 *	                                  |    ^
 *	        deadline, cancelling:     v    | the fiber submits a cancel
 *	                               ended   | request and waits again
 *
 * The record of a request is in its fiber's frame, and the kernel may write to
 * it and to the buffers until the request completes. So the fiber continues
 * only after the completion. A deadline or a cancelled group ends the fiber's
 * wait. It then submits a cancel request, which is repeated until it has an
 * effect, and waits for the completion without a deadline. If the completion
 * has a result after all, the call returns that.
 *
 * Needs Linux 6.1 (IORING_SETUP_DEFER_TASKRUN), and liburing at build time.
 * Without these, or if the kernel or a filter denies io_uring, the epoll
 * backend is used.
 *
 * A ring belongs to the thread that made it. When a worker loses its thread and
 * gets another, it makes a new ring there.
 */
#ifndef SN_URING_H
#define SN_URING_H

#include "base/list.h"
#include "engine/closing.h"
#include "engine/request.h"
#include "sennit/base.h"

#include <errno.h>
#include <stdbool.h>

#ifdef SENNIT_HAVE_URING

/* Whether rings work here, with all features that this backend needs. */
bool sn_io_uring_works(void);

/* The `turn` of an io_uring poller, which identifies it. */
void sn_io_uring_turn(sennit_poller *p);

/* Make an io_uring backend. Returns 0 or a negative errno. */
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

/* The io_uring of one worker: submits entries and handles completions.
 *
 * The user_data of a completion is the address of a sennit_poller_op, if a
 * fiber waits for it; the address of a stream plus STREAM; or NOBODY or WAKE.
 */

#ifdef SENNIT_HAVE_URING

#include <liburing.h>

/* user_data of completions that belong to no fiber's request. */
#define NOBODY UINT64_C(0)
#define WAKE   UINT64_C(1)

/* Bits of the user_data for a stream: STREAM for both its requests, and STOP
 * for the one that cancels the receive. */
#define STREAM UINT64_C(2)
#define STOP   UINT64_C(1)

struct uring_backend {
	struct io_backend b; /* first */
	struct io_uring   ring;
	uint64_t          thread;  /* number of the ring's thread; 0: no ring */
	int               wake_fd; /* eventfd; written, never read */
	bool              watched; /* the ring polls wake_fd */
	bool              busy;    /* the last batch had several completions */
	bool              slept;   /* in the ring, and has not flushed since */
	bool              hasty;   /* an entry is queued that must not wait
				    * until the woken fibers have run */
	struct refusal    refusal; /* of calls on the ring */
	uint32_t          woken;   /* fibers that have not run since their
				    * requests completed */
	uint32_t          peeks;
	uint32_t          waiting;   /* fibers that wait */
	struct by_fds     waits;     /* requests in flight */
	struct link      *cancelled; /* the waits among them for which a cancel
				      * request was submitted */
	sennit_time       again;     /* when that is repeated */
	sennit_time       pause;     /* between the last two */

	/* For streams: their buffers, and the functions that handle their
	 * completions. Set when the first stream opens. */
	struct uring_buffers *buffers;
	void (*came)(void *stream, const struct io_uring_cqe *c);
	bool (*is_awaited)(const void *stream); /* whether its fiber waits */
};

/* Whether rings work here, with all features that this backend needs. */
bool sn_io_ring_works(void);

/* Check the result of a call on the ring. The completions of submitted requests
 * can be had only from the ring, so abort if its calls fail permanently. */
void sn_io_ring_check(struct uring_backend *u, int result);

/* Whether there is a ring, which belongs to the calling thread. */
bool sn_io_ring_is_own(const struct uring_backend *u);

/* Make the ring belong to the calling thread: a new one, if it belongs to
 * another thread. Returns 0 or a negative errno. */
int sn_io_ring_own(struct uring_backend *u);

void sn_io_ring_drop(struct uring_backend *u);

/* Handle the completions that are there. */
void sn_io_ring_take(struct uring_backend *u);

/* Handle completions that no fiber waits for, up to the first that one does.
 * Returns whether there is such a completion. */
bool sn_io_ring_skip(struct uring_backend *u);

/* Whether the kernel has completions that are not in the ring yet. */
bool sn_io_ring_has_more(const struct uring_backend *u);

void sn_io_ring_submit_and_take(struct uring_backend *u);

/* The next free entry. Handles completions if the kernel needs that first. */
struct io_uring_sqe *sn_io_ring_next(struct uring_backend *u);

#endif

/* --- uring waits ---------------------------------------------------------- */

/* The requests in a worker's ring, by descriptor, and how they are cancelled:
 * by the fiber that waits for one, or because the descriptor is closed.
 *
 * If a descriptor is closed before the kernel has seen a single request on it,
 * the entry is turned into a no-op, because the number may be reused.
 */

#ifdef SENNIT_HAVE_URING

void sn_io_ring_waits_add(struct uring_backend *u, struct ring_wait *n);
void sn_io_ring_waits_remove(struct uring_backend *u, struct ring_wait *n);

/* Submit a cancel request for n. The kernel first tries n. The completion comes
 * in any case.
 *
 * The kernel may lose a cancel request: one that comes after a kernel thread
 * has taken the request and before that thread blocks has no effect (seen on
 * 6.18: receive, connect). So cancel requests are repeated until n completes:
 * all that wait for their completion together, 1 ms after the first one, then
 * after 2 ms, and so on up to 64 ms. */
void sn_io_ring_waits_cancel(struct uring_backend *u, struct ring_wait *n);

/* Whether it is time to repeat the cancel requests. */
bool sn_io_ring_waits_is_due(const struct uring_backend *u);

/* Repeat them if it is. Not from the poller's `sleep`: the submission may
 * complete requests. */
void sn_io_ring_waits_cancel_again(struct uring_backend *u);

/* End n with -ECANCELED or -EINTR, because its descriptor is closed. The
 * completion comes in any case. */
void sn_io_ring_waits_end(struct uring_backend *u, struct ring_wait *n,
			  int end);

/* End the requests on fd, which is about to be closed. Returns whether there
 * were any. */
bool sn_io_ring_waits_forget(struct uring_backend *u, int fd);

/* End the requests whose descriptors other threads have closed. */
void sn_io_ring_waits_take_closed(struct uring_backend *u);

#endif

/* --- uring buffers -------------------------------------------------------- */

/* Buffers that the streams of one worker share, in a ring from which the kernel
 * takes one when data arrives.
 *
 *	in the ring --completion--> lent --given back--> in the ring
 */

#ifdef SENNIT_HAVE_URING

#include <liburing.h>

/* The buffer group. A ring has only this one. */
#define URING_BUFFERS_GROUP 0

struct uring_buffers;

/* Make the buffers for this ring. Returns 0 or a negative errno: -EINVAL if the
 * kernel does not support buffer rings. */
int sn_io_buffers_make(struct uring_buffers **out, struct io_uring *ring,
		       const sennit_allocator *memory);

/* Free them. NULL: do nothing. The ring is already closed. */
void sn_io_buffers_free(struct uring_buffers *b);

/* Whether the ring has a buffer for the kernel. */
bool sn_io_buffers_has(const struct uring_buffers *b);

/* The kernel has taken buffer `number` and put this many bytes into it. */
void sn_io_buffers_lend(struct uring_buffers *b, int32_t number, int32_t size);
void sn_io_buffers_give_back(struct uring_buffers *b, int32_t number);

/* The bytes of a lent buffer, and their number. */
void   *sn_io_buffers_bytes(const struct uring_buffers *b, int32_t number);
int32_t sn_io_buffers_size(const struct uring_buffers *b, int32_t number);

/* The link of a lent buffer, for a list of its owner. */
int32_t *sn_io_buffers_next(struct uring_buffers *b, int32_t number);

#endif

/* --- uring stream --------------------------------------------------------- */

/* Streams that receive with one multishot request each. */

#ifdef SENNIT_HAVE_URING

/* As request.h says of io_stream_ops. */
extern const struct io_stream_ops sn_io_uring_stream_ops;

#endif

#endif
