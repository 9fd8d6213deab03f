/* SPDX-License-Identifier: Apache-2.0 */
/* stream_record.h - the record of a stream.
 *
 *	resting --armed by next--> armed --last completion--> resting
 *	                             |  ^ each completion brings a buffer
 *	        asked to stop, once  v  |
 *	                          stopping
 *
 * The record is the kernel's as long as `armed` or `stopping` is set: a
 * completion of either request names it. So close waits for both. A completion
 * without IORING_CQE_F_MORE is the last one of the receiving request.
 *
 * Where the ring has no buffer, and on other backends, next receives when the
 * socket is ready, into a buffer of the allocator's.
 */
#ifndef SN_IO_STREAM_RECORD_H
#define SN_IO_STREAM_RECORD_H

#include "base/compiler.h"
#include "io/backend.h"
#include "io/ring_wait.h"

#include "sennit/stream.h"

#include <stdio.h>
#include <stdlib.h>

/* In place of a number of a buffer: none. */
#define STREAM_NONE (-1)

struct sennit_stream {
	sennit_poller_op        op;      /* its fiber waits by this */
	const sennit_allocator *memory;  /* fixed; NULL: libc's */
	struct io_backend      *backend; /* fixed; NULL: of a thread */
	int                     fd;      /* fixed */
	uint64_t                begun;   /* fixed: closings when it was
					  * opened; see closing.h */
	struct ring_wait        wait;    /* of its receiving request */
	bool                    by_ring; /* fixed: has buffers of a ring */
	bool                    armed, stopping; /* the kernel has a request */
	bool                    asked;   /* to stop, since it was armed */
	bool                    awaited; /* its fiber waits by `op` */
	bool                    dry;     /* the ring had no buffer */
	bool                    ended;   /* with this result: */
	int32_t                 end;
	uint32_t                queued;      /* buffers that have come */
	int32_t                 first, last; /* their numbers; STREAM_NONE */
	int32_t held_number; /* of the ring's buffer that the caller has, or
				* STREAM_NONE */
	void   *held;        /* the allocator's that the caller has, or NULL */
};

/* The worker of *b ends: its streams must be closed. */
static inline void sn_stream_check_closed(const struct io_backend *b)
{
	if (likely(!b->streams))
		return;
	fprintf(stderr, "sennit: misuse of sennit_stream_open: a stream was "
			"left open when its worker's thread ended\n");
	abort();
}

#endif
