/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the calls of sennit/stream.h, and the streams that receive without
 * a ring. */
#include "base/compiler.h"
#include "engine/perform.h"
#include "engine/request.h"
#include "simulated/network.h"
#include "sennit/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* --- memory ------------------------------------------------------------- */

static void *allocate_for_stream(const sennit_allocator *a, size_t size)
{
	return a ? a->allocate(a->context, size, _Alignof(max_align_t))
		 : malloc(size);
}

static void free_for_stream(const sennit_allocator *a, void *memory,
			    size_t size)
{
	if (a && memory)
		a->release(a->context, memory, size);
	else
		free(memory);
}

/* --- receiving when the socket is ready --------------------------------- */

struct ready_receive {
	struct io_request     r;
	struct sennit_stream *s;
};

/* Receive into a new buffer, which is freed if nothing was received. */
static ptrdiff_t attempt_receive(const struct io_request *r)
{
	struct sennit_stream *s =
		container_of(r, const struct ready_receive, r)->s;
	ptrdiff_t n;

	s->held = allocate_for_stream(s->memory, SENNIT_STREAM_BUFFER);
	if (!s->held)
		return -ENOMEM;
	n = recv(s->fd, s->held, SENNIT_STREAM_BUFFER, MSG_DONTWAIT);
	if (n < 0)
		n = -errno;
	if (n <= 0) {
		free_for_stream(s->memory, s->held, SENNIT_STREAM_BUFFER);
		s->held = NULL;
	}
	return n;
}

static bool is_end_of_stream(ptrdiff_t result)
{
	return result <= 0 && result != -ETIMEDOUT && result != -ECANCELED &&
	       result != -ENOMEM;
}

/* The simulated network supports only its own receive calls. */
static ptrdiff_t receive_simulated(struct sennit_stream *s,
				   sennit_time           deadline)
{
	struct io_request r = { .kind = IO_RECV,
				.fd = s->fd,
				.events = POLLIN,
				.size = SENNIT_STREAM_BUFFER };
	ptrdiff_t         n;

	s->held = allocate_for_stream(s->memory, SENNIT_STREAM_BUFFER);
	if (!s->held)
		return -ENOMEM;
	r.bytes = s->held;
	n = sn_io_do(&r, deadline);
	if (n <= 0) {
		free_for_stream(s->memory, s->held, SENNIT_STREAM_BUFFER);
		s->held = NULL;
	}
	return n;
}

static ptrdiff_t receive_when_ready(struct sennit_stream *s,
				    sennit_time           deadline)
{
	/* The ring cannot receive: there is no buffer during the wait. */
	const bool by_kernel = s->backend && s->backend->ops->perform;
	const struct ready_receive w = {
		.r = { .attempt = attempt_receive,
		       .kind = by_kernel ? IO_POLLED : IO_RECV,
		       .fd = s->fd,
		       .events = POLLIN,
		       .size = SENNIT_STREAM_BUFFER },
		.s = s,
	};

	return IO_SIMULATED ? receive_simulated(s, deadline)
			    : sn_io_do(&w.r, deadline);
}

/* If fd was closed, its number may belong to another connection. */
static ptrdiff_t receive_unless_closed(struct sennit_stream *s,
				       sennit_time           deadline)
{
	return sn_io_closing_is_over(s->fd, s->begun)
		       ? -ECANCELED
		       : receive_when_ready(s, deadline);
}

static ptrdiff_t next_when_ready(struct sennit_stream *s, void **bytes,
				 sennit_time deadline)
{
	ptrdiff_t n = s->ended ? s->end : receive_unless_closed(s, deadline);

	if (n > 0)
		*bytes = s->held;
	s->ended = is_end_of_stream(n);
	s->end = (int32_t)n;
	return n;
}

/* --- streams ------------------------------------------------------------ */

/* Returns 0, or a negative errno if fd cannot have a stream. */
static int check_stream_socket(int fd)
{
	int       type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return -errno;
	return type == SOCK_STREAM ? 0 : -EPROTOTYPE;
}

/* If the ring has no buffers, the stream waits until the socket is ready. */
static bool open_by_ring(struct sennit_stream *s)
{
	return s->backend && s->backend->ops->stream &&
	       !s->backend->ops->stream->open(s);
}

int sennit_stream_open(sennit_stream **out, int fd)
{
	struct io_backend      *b;
	const sennit_allocator *memory;
	struct sennit_stream   *s;
	int                     err = sn_io_backend_here(&b);

	if (!err)
		err = check_stream_socket(fd);
	if (err)
		return err;
	memory = b ? b->memory : NULL;
	s = allocate_for_stream(memory, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct sennit_stream){
		.memory = memory,
		.backend = b,
		.fd = fd,
		.begun = sn_io_closing_now(),
		.first = STREAM_NONE,
		.held_number = STREAM_NONE,
	};
	if (b)
		b->streams++;
	s->by_ring = open_by_ring(s);
	*out = s;
	return 0;
}

void sennit_stream_give_back(sennit_stream *s)
{
	if (s->by_ring)
		s->backend->ops->stream->release(s);
	free_for_stream(s->memory, s->held, SENNIT_STREAM_BUFFER);
	s->held = NULL;
}

ptrdiff_t sennit_stream_next(sennit_stream *s, void **bytes,
			     sennit_time deadline)
{
	ptrdiff_t n = -ENOBUFS;

	sennit_stream_give_back(s);
	if (s->by_ring)
		n = s->backend->ops->stream->next(s, bytes, deadline);
	if (n == -ENOBUFS)
		return next_when_ready(s, bytes, deadline);
	sn_io_let_others_run(s->backend);
	return n;
}

void sennit_stream_close(sennit_stream *s)
{
	sennit_stream_give_back(s);
	if (s->by_ring)
		s->backend->ops->stream->close(s);
	if (s->backend)
		s->backend->streams--;
	free_for_stream(s->memory, s, sizeof(*s));
}
