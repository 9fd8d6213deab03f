/* SPDX-License-Identifier: Apache-2.0 */
#include "base/compiler.h"
#include "io/engine/perform.h"
#include "io/engine/request.h"
#include "io/simulated/network.h"
#include "sennit/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* --- memory ------------------------------------------------------------- */

static void *allocate(const sennit_allocator *a, size_t size)
{
	return a ? a->allocate(a->context, size, _Alignof(max_align_t))
		 : malloc(size);
}

static void give(const sennit_allocator *a, void *memory, size_t size)
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

/* A buffer is there only if it has something in it. */
static ptrdiff_t attempt_receive(const struct io_request *r)
{
	struct sennit_stream *s =
		container_of(r, const struct ready_receive, r)->s;
	ptrdiff_t n;

	s->held = allocate(s->memory, SENNIT_STREAM_BUFFER);
	if (!s->held)
		return -ENOMEM;
	n = recv(s->fd, s->held, SENNIT_STREAM_BUFFER, MSG_DONTWAIT);
	if (n < 0)
		n = -errno;
	if (n <= 0) {
		give(s->memory, s->held, SENNIT_STREAM_BUFFER);
		s->held = NULL;
	}
	return n;
}

static bool ends(ptrdiff_t result)
{
	return result <= 0 && result != -ETIMEDOUT && result != -ECANCELED &&
	       result != -ENOMEM;
}

/* The simulated network receives by its own calls. */
static ptrdiff_t receive_simulated(struct sennit_stream *s,
				   sennit_time           deadline)
{
	struct io_request r = { .kind = IO_RECV,
				.fd = s->fd,
				.events = POLLIN,
				.size = SENNIT_STREAM_BUFFER };
	ptrdiff_t         n;

	s->held = allocate(s->memory, SENNIT_STREAM_BUFFER);
	if (!s->held)
		return -ENOMEM;
	r.bytes = s->held;
	n = sn_io_do(&r, deadline);
	if (n <= 0) {
		give(s->memory, s->held, SENNIT_STREAM_BUFFER);
		s->held = NULL;
	}
	return n;
}

static ptrdiff_t receive_when_ready(struct sennit_stream *s,
				    sennit_time           deadline)
{
	/* The kernel cannot receive where there is no buffer yet. */
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

/* A number that was closed since may mean another connection. */
static ptrdiff_t receive_unless_over(struct sennit_stream *s,
				     sennit_time           deadline)
{
	return sn_io_closing_is_over(s->fd, s->begun)
		       ? -ECANCELED
		       : receive_when_ready(s, deadline);
}

static ptrdiff_t next_when_ready(struct sennit_stream *s, void **bytes,
				 sennit_time deadline)
{
	ptrdiff_t n = s->ended ? s->end : receive_unless_over(s, deadline);

	if (n > 0)
		*bytes = s->held;
	s->ended = ends(n);
	s->end = (int32_t)n;
	return n;
}

/* --- streams ------------------------------------------------------------ */

/* 0, or why fd has no stream. */
static int check(int fd)
{
	int       type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return -errno;
	return type == SOCK_STREAM ? 0 : -EPROTOTYPE;
}

/* Without buffers of the ring's the socket's readiness must do. */
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
		err = check(fd);
	if (err)
		return err;
	memory = b ? b->memory : NULL;
	s = allocate(memory, sizeof(*s));
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

void sennit_stream_release(sennit_stream *s)
{
	if (s->by_ring)
		s->backend->ops->stream->release(s);
	give(s->memory, s->held, SENNIT_STREAM_BUFFER);
	s->held = NULL;
}

ptrdiff_t sennit_stream_next(sennit_stream *s, void **bytes,
			     sennit_time deadline)
{
	ptrdiff_t n = -ENOBUFS;

	sennit_stream_release(s);
	if (s->by_ring)
		n = s->backend->ops->stream->next(s, bytes, deadline);
	if (n == -ENOBUFS)
		return next_when_ready(s, bytes, deadline);
	sn_io_let_others_run(s->backend);
	return n;
}

void sennit_stream_close(sennit_stream *s)
{
	sennit_stream_release(s);
	if (s->by_ring)
		s->backend->ops->stream->close(s);
	if (s->backend)
		s->backend->streams--;
	give(s->memory, s, sizeof(*s));
}
