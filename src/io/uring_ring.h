/* SPDX-License-Identifier: Apache-2.0 */
/* uring_ring.h - the io_uring of one worker: entries that are submitted,
 * completions that are taken.
 *
 * A completion that a fiber waits for carries the address of its
 * sennit_poller_op; a stream's carries that of the stream, and STREAM; others
 * carry NOBODY or WAKE.
 */
#ifndef SN_IO_URING_RING_H
#define SN_IO_URING_RING_H

#include "io/backend.h"
#include "io/refusal.h"
#include "io/ring_wait.h"

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
#endif
