/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - what both backends of a worker's poller offer to operations.
 *
 *	epoll   tells when a descriptor is ready; the operation is then tried
 *	uring   does that too, and hands whole operations to the kernel
 *
 * A backend belongs to one worker, and only that worker's fibers call it.
 */
#ifndef SN_IO_BACKEND_H
#define SN_IO_BACKEND_H

#include "io/closing.h"
#include "io/watches.h"
#include "sennit/poller.h"

#include <stdbool.h>
#include <stddef.h>

struct io_request;
struct io_several;
struct sennit_stream;

/* Streams with buffers of the backend's own (stream.h). */
struct io_stream_ops {
	/* 0, or a negative errno: it has no buffers. */
	int (*open)(struct sennit_stream *s);

	/* As sennit_stream_next, or -ENOBUFS: all are in use. */
	ptrdiff_t (*next)(struct sennit_stream *s, void **bytes,
			  sennit_time deadline);
	void (*release)(struct sennit_stream *s);
	void (*close)(struct sennit_stream *s);
};

/* Operations of one worker that end at once, one after the other, before the
 * fiber lets others run. */
#define IO_AT_ONCE 64u

/* Sockets whose numbers are equal in this share a guess. */
#define IO_GUESSES 256u

struct io_backend {
	sennit_poller           p; /* first */
	const sennit_allocator *memory;
	struct io_closing       closing;
	struct io_several      *several; /* calls that wait on several */
	struct watches          watches; /* of epoll; with io_uring: none */
	uint32_t                at_once; /* operations left before a yield */
	uint32_t                streams; /* that are open */
	bool drained[IO_GUESSES]; /* the last receive got less than it had room
				   * for: the next would find nothing. A guess,
				   * for sockets that are not watched */
	const struct io_backend_ops {
		sennit_poller_ops poller; /* first: p.ops */
		const char       *name;

		/* Wait until one of the events of poll() is there on fd.
		 * Returns 0, -ETIMEDOUT, -ECANCELED (also: fd was closed),
		 * -EPERM for a descriptor that cannot be waited for, as it is a
		 * file, or another negative errno value. May return 0 though
		 * nothing is there. `tried`: the caller has just tried in vain;
		 * else what is there already must end the wait, too. `begun`:
		 * closings when the caller's request began; see closing.h. */
		int (*wait_ready)(struct io_backend *b, int fd, short events,
				  bool tried, uint64_t begun,
				  sennit_time deadline);

		/* Have the kernel do the request. Returns what it returned,
		 * -EAGAIN for a descriptor with O_NONBLOCK, -EINTR to try
		 * again, or -ENOSYS for a request that this backend does not
		 * know. NULL: it knows none. */
		ptrdiff_t (*perform)(struct io_backend       *b,
				     const struct io_request *r, uint64_t begun,
				     sennit_time deadline);

		/* End the waits of the worker's fibers on fd. */
		void (*forget)(struct io_backend *b, int fd);

		const struct io_stream_ops *stream; /* NULL: it has none */
	} * ops;
};

#endif
