/* SPDX-License-Identifier: Apache-2.0 */
/* uring_stream.c - streams that receive by the ring, and their buffers. */
#include "uring/uring.h"

#ifdef SENNIT_HAVE_URING

#include "base/torture.h"
#include "engine/request.h"

#include <errno.h>
#include <poll.h>

/* The kernel counts up to this many unhandled events of a request
 * (IO_POLL_REF_BIAS in io_uring/poll.c). Each event has at least one byte, and
 * most bytes have arrived when it is reported. So check after half as many
 * bytes. */
#define EVENTS_COUNTED 128u
#define MANY_BYTES     TORTURED(1u, EVENTS_COUNTED / 2)

static struct uring_backend *ring_of(const struct sennit_stream *s)
{
	return (struct uring_backend *)s->backend;
}

/* --- received buffers --------------------------------------------------- */

static void queue(struct sennit_stream *s, int32_t number, int32_t size)
{
	struct uring_buffers *b = ring_of(s)->buffers;

	sn_io_buffers_lend(b, number, size);
	s->uncounted += size > 0 ? (uint32_t)size : 0;
	if (size <= 0) { /* no bytes: the kernel took a buffer too early */
		sn_io_buffers_give_back(b, number);
		return;
	}
	*sn_io_buffers_next(b, number) = STREAM_NONE;
	if (s->queued++)
		*sn_io_buffers_next(b, s->last) = number;
	else
		s->first = number;
	s->last = number;
}

static int32_t take_chunk(struct sennit_stream *s)
{
	int32_t number = s->first;

	s->first = *sn_io_buffers_next(ring_of(s)->buffers, number);
	s->queued--;
	return number;
}

/* --- completions: handled in the poller's functions, sleep among them --- */

static void wake_stream_reader(struct sennit_stream *s)
{
	if (!s->awaited)
		return;
	s->awaited = false;
	sennit_poller_complete(&s->op, 0);
}

/* The last completion of the receive request. A result that says nothing about
 * the connection comes from this code, and next arms the stream again. */
static void end_receive(struct sennit_stream *s, int32_t result)
{
	if (s->wait.withdrawn)
		result = -ECANCELED;
	s->armed = false;
	sn_io_ring_waits_remove(ring_of(s), &s->wait);
	s->dry = result == -ENOBUFS;
	if (result > 0 || s->dry || result == -EINTR || result == -EAGAIN ||
	    (result == -ECANCELED && (s->asked || s->wait.end == -EINTR)))
		return;
	s->ended = true;
	s->end = result;
}

static void fill_stop(struct sennit_stream *s, struct io_uring_sqe *e)
{
	io_uring_prep_cancel64(e, (uintptr_t)s | STREAM, 0);
	io_uring_sqe_set_data64(e, (uintptr_t)s | STREAM | STOP);
	s->stopping = true;
	s->asked = true;
}

/* Enough unread data is buffered; stop receiving, so that the rest stays in the
 * kernel. If the submission queue is full, do it at the next completion. */
static void stop_if_enough(struct sennit_stream *s)
{
	struct io_uring_sqe *e;

	if (s->queued < SENNIT_STREAM_AHEAD || !s->armed || s->stopping)
		return;
	e = io_uring_get_sqe(&ring_of(s)->ring);
	if (e)
		fill_stop(s, e);
}

static void came(void *stream, const struct io_uring_cqe *c)
{
	struct sennit_stream *s = stream;

	if (c->user_data & STOP) {
		s->stopping = false;
		wake_stream_reader(s);
		return;
	}
	if (c->flags & IORING_CQE_F_BUFFER)
		queue(s, (int32_t)(c->flags >> IORING_CQE_BUFFER_SHIFT),
		      c->res);
	if (!(c->flags & IORING_CQE_F_MORE))
		end_receive(s, c->res);
	stop_if_enough(s);
	wake_stream_reader(s);
}

static bool is_awaited(const void *stream)
{
	return ((const struct sennit_stream *)stream)->awaited;
}

/* --- the stream's fiber ------------------------------------------------- */

static int await_chunk(struct sennit_stream *s, sennit_time deadline)
{
	int err;

	s->op = (sennit_poller_op){ .done = false };
	s->awaited = true;
	if (!sn_io_ring_has_more(ring_of(s)))
		s->uncounted = 0;
	ring_of(s)->waiting++;
	err = sennit_poller_wait(&s->op, s->fd, deadline);
	ring_of(s)->waiting--;
	s->awaited = false;
	return err;
}

static void fill_receive(struct sennit_stream *s, struct io_uring_sqe *e)
{
	io_uring_prep_recv_multishot(e, s->fd, NULL, 0, 0);
	e->flags |= IOSQE_BUFFER_SELECT;
	e->buf_group = URING_BUFFERS_GROUP;
	io_uring_sqe_set_data64(e, (uintptr_t)s | STREAM);
}

/* Arm the stream, unless the number may have been reused. */
static void arm(struct sennit_stream *s)
{
	struct uring_backend *u = ring_of(s);

	s->wait = (struct ring_wait){ .fd = s->fd,
				      .data = (uintptr_t)s | STREAM,
				      .closings = s->begun };
	sn_io_ring_waits_add(u, &s->wait);
	if (sn_io_closing_is_over(s->fd, s->begun)) {
		sn_io_ring_waits_remove(u, &s->wait);
		s->ended = true;
		s->end = -ECANCELED;
		return;
	}
	fill_receive(s, sn_io_ring_next(u));
	s->armed = true;
	s->asked = false;
	s->dry = false;
}

static bool has_come(const struct sennit_stream *s)
{
	return s->queued || s->ended;
}

/* An event beyond the counted ones, while the kernel receives, sets a flag that
 * the kernel does not check after the receive (seen on Linux 6.18): the request
 * then sleeps until the next event, which may never come. So check whether
 * there is unread data, and restart the request if there is. */
static void restart_if_lost(struct sennit_stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	sn_io_ring_submit_and_take(ring_of(s));
	if (has_come(s))
		return;
	s->uncounted = 0;
	if (s->armed && !s->stopping && poll(&p, 1, 0) > 0)
		fill_stop(s, sn_io_ring_next(ring_of(s)));
}

/* Wait until there is data or an end. Returns 0, -ENOBUFS if the ring has no
 * buffer for the data, or the negative errno that ended the wait. */
static int await_any(struct sennit_stream *s, sennit_time deadline)
{
	struct uring_backend *u = ring_of(s);
	int                   err = 0;

	while (!has_come(s) && !err) {
		/* A cancel request may still be on its way to the receive
		 * request. */
		if (!s->armed && !s->stopping) {
			if (s->dry && !sn_io_buffers_has(u->buffers))
				return -ENOBUFS;
			arm(s);
			if (s->ended)
				break;
		} else if (s->uncounted >= MANY_BYTES) {
			restart_if_lost(s);
			continue;
		}
		err = deadline ? await_chunk(s, deadline) : -ETIMEDOUT;
		if (err)
			sn_io_ring_submit_and_take(u); /* data beats the
						        * deadline */
		if (err && !s->armed && !s->stopping)
			err = 0; /* it was not armed yet: arm it and try */
	}
	return has_come(s) ? 0 : err;
}

static void release(struct sennit_stream *s)
{
	if (s->held_number == STREAM_NONE)
		return;
	sn_io_buffers_give_back(ring_of(s)->buffers, s->held_number);
	s->held_number = STREAM_NONE;
}

static ptrdiff_t next(struct sennit_stream *s, void **bytes,
		      sennit_time deadline)
{
	struct uring_buffers *b = ring_of(s)->buffers;
	int                   err = await_any(s, deadline);

	if (err)
		return err;
	if (!s->queued)
		return s->end;
	s->held_number = take_chunk(s);
	*bytes = sn_io_buffers_bytes(b, s->held_number);
	return sn_io_buffers_size(b, s->held_number);
}

static int open_stream(struct sennit_stream *s)
{
	struct uring_backend *u = ring_of(s);
	int                   err = sn_io_ring_own(u);

	if (!err && !u->buffers)
		err = sn_io_buffers_make(&u->buffers, &u->ring, u->b.memory);
	if (err)
		return err;
	u->came = came;
	u->is_awaited = is_awaited;
	return 0;
}

/* A cancel request that does not find the receive request, because the kernel
 * is just working on it, is repeated. */
static void close_stream(struct sennit_stream *s)
{
	release(s);
	while (s->armed || s->stopping) {
		if (!s->stopping)
			fill_stop(s, sn_io_ring_next(ring_of(s)));
		(void)!await_chunk(s, SENNIT_UNCANCELLED);
	}
	while (s->queued)
		sn_io_buffers_give_back(ring_of(s)->buffers, take_chunk(s));
}

const struct io_stream_ops sn_io_uring_stream_ops = {
	.open = open_stream,
	.next = next,
	.release = release,
	.close = close_stream,
};

#endif

/* --- uring buffers -------------------------------------------------------- */

#ifdef SENNIT_HAVE_URING

#include "sennit/stream.h"

#include <errno.h>
#include <string.h>

/* A power of two. The memory is not touched before the kernel uses it. */
#define MOST_BUFFERS 256
#define BUFFERS      TORTURED(4, MOST_BUFFERS)

#define PAGE 4096u

struct uring_buffers {
	const sennit_allocator   *memory;
	struct io_uring_buf_ring *ring;
	char                     *bytes; /* of all buffers */
	int32_t                   lent;
	int32_t                   size[MOST_BUFFERS];
	int32_t                   next[MOST_BUFFERS];
};

#define RING_SIZE  (BUFFERS * sizeof(struct io_uring_buf))
#define BYTES_SIZE ((size_t)BUFFERS * SENNIT_STREAM_BUFFER)

static void put(struct uring_buffers *b, int32_t number)
{
	io_uring_buf_ring_add(b->ring, sn_io_buffers_bytes(b, number),
			      SENNIT_STREAM_BUFFER, (unsigned short)number,
			      io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(b->ring, 1);
}

static int fill(struct uring_buffers *b, struct io_uring *ring)
{
	const sennit_allocator *a = b->memory;
	struct io_uring_buf_reg r;
	int                     err;

	b->ring = a->allocate(a->context, RING_SIZE, PAGE);
	b->bytes = a->allocate(a->context, BYTES_SIZE, PAGE);
	if (!b->ring || !b->bytes)
		return -ENOMEM;
	memset(b->ring, 0, RING_SIZE);
	memset(&r, 0, sizeof(r));
	r.ring_addr = (uintptr_t)b->ring;
	r.ring_entries = BUFFERS;
	r.bgid = URING_BUFFERS_GROUP;
	err = io_uring_register_buf_ring(ring, &r, 0);
	if (err)
		return err;
	for (int32_t i = 0; i < BUFFERS; i++)
		put(b, i);
	return 0;
}

int sn_io_buffers_make(struct uring_buffers **out, struct io_uring *ring,
		       const sennit_allocator *memory)
{
	struct uring_buffers *b = memory->allocate(memory->context, sizeof(*b),
						   _Alignof(void *));
	int                   err;

	if (!b)
		return -ENOMEM;
	memset(b, 0, sizeof(*b));
	b->memory = memory;
	err = fill(b, ring);
	if (err)
		sn_io_buffers_free(b);
	else
		*out = b;
	return err;
}

void sn_io_buffers_free(struct uring_buffers *b)
{
	const sennit_allocator *a;

	if (!b)
		return;
	a = b->memory;
	if (b->ring)
		a->release(a->context, b->ring, RING_SIZE);
	if (b->bytes)
		a->release(a->context, b->bytes, BYTES_SIZE);
	a->release(a->context, b, sizeof(*b));
}

bool sn_io_buffers_has(const struct uring_buffers *b)
{
	return b->lent < BUFFERS;
}

void sn_io_buffers_lend(struct uring_buffers *b, int32_t number, int32_t size)
{
	b->lent++;
	b->size[number] = size;
}

void sn_io_buffers_give_back(struct uring_buffers *b, int32_t number)
{
	b->lent--;
	put(b, number);
}

void *sn_io_buffers_bytes(const struct uring_buffers *b, int32_t number)
{
	return b->bytes + (size_t)number * SENNIT_STREAM_BUFFER;
}

int32_t sn_io_buffers_size(const struct uring_buffers *b, int32_t number)
{
	return b->size[number];
}

int32_t *sn_io_buffers_next(struct uring_buffers *b, int32_t number)
{
	return &b->next[number];
}

#endif
