/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_stream.c - bytes on their way through the simulated network. */
#include "simulated/network.h"

#ifdef SENNIT_DETERMINISTIC

#include "simulated/network.h"
#include "sennit/deterministic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of pieces of one send. */
#define CUTS 3u

int sn_simulated_stream_open(struct simulated_stream *s, uint32_t capacity)
{
	*s = (struct simulated_stream){ .end = SENNIT_NEVER,
					.reset = SENNIT_NEVER };
	s->bytes = malloc(capacity);
	s->capacity = s->bytes ? capacity : 0;
	return s->bytes ? 0 : -ENOMEM;
}

void sn_simulated_stream_close(struct simulated_stream *s)
{
	free(s->bytes);
	s->bytes = NULL;
	s->capacity = 0;
}

/* --- arriving ----------------------------------------------------------- */

bool sn_simulated_stream_look(struct simulated_stream *s, sennit_time now)
{
	const sennit_time until = now < s->reset ? now : s->reset;

	if (!s->capacity || s->was_reset)
		return false;
	while (s->pieces_held && s->pieces[s->piece].due <= until) {
		s->arrived += s->pieces[s->piece].size;
		s->piece = (s->piece + 1) % SIMULATED_PIECES;
		s->pieces_held--;
	}
	s->ended |= s->end <= until && !s->pieces_held;
	if (s->reset > now)
		return false;
	s->held = s->arrived;
	s->pieces_held = 0;
	s->was_reset = true;
	return true;
}

sennit_time sn_simulated_stream_next(const struct simulated_stream *s)
{
	sennit_time next = s->ended ? SENNIT_NEVER : s->end;

	if (!s->capacity || s->was_reset)
		return SENNIT_NEVER;
	if (s->pieces_held && s->pieces[s->piece].due < next)
		next = s->pieces[s->piece].due;
	return next < s->reset ? next : s->reset;
}

void sn_simulated_stream_copy(const struct simulated_stream *s, uint32_t at,
			      char *to, uint32_t size)
{
	const uint32_t from = (s->first + at) % s->capacity;
	const uint32_t here = s->capacity - from;

	memcpy(to, s->bytes + from, size < here ? size : here);
	if (size > here)
		memcpy(to + here, s->bytes, size - here);
}

void sn_simulated_stream_drop(struct simulated_stream *s, uint32_t size)
{
	s->first = (s->first + size) % s->capacity;
	s->held -= size;
	s->arrived -= size;
}

/* --- sending ------------------------------------------------------------ */

void sn_simulated_stream_put(struct simulated_stream *s, const char *bytes,
			     uint32_t size)
{
	const uint32_t to = (s->first + s->held) % s->capacity;
	const uint32_t here = s->capacity - to;

	memcpy(s->bytes + to, bytes, size < here ? size : here);
	if (size > here)
		memcpy(s->bytes, bytes + here, size - here);
	s->held += size;
}

/* The arrival time of something that is sent now: not before what was sent
 * before. */
static sennit_time in_order(struct simulated_stream *s, sennit_time late)
{
	const sennit_time due = sn_simulated_arrival() + late;

	if (due > s->last)
		s->last = due;
	return s->last;
}

static void add_piece(struct simulated_stream *s, uint32_t size,
		      sennit_time due)
{
	uint32_t at = (s->piece + s->pieces_held) % SIMULATED_PIECES;

	if (s->pieces_held == SIMULATED_PIECES) {
		at = (at + SIMULATED_PIECES - 1) % SIMULATED_PIECES;
		size += s->pieces[at].size;
	} else {
		s->pieces_held++;
	}
	s->pieces[at].size = size;
	s->pieces[at].due = due;
}

void sn_simulated_stream_send(struct simulated_stream *s, uint32_t size,
			      sennit_time late)
{
	for (uint32_t cut = 1; size; cut++) {
		uint32_t part = cut < CUTS ? sn_simulated_part(size) : size;

		add_piece(s, part, in_order(s, late));
		size -= part;
	}
}

void sn_simulated_stream_end(struct simulated_stream *s)
{
	if (s->end == SENNIT_NEVER)
		s->end = in_order(s, 0);
}

void sn_simulated_stream_reset(struct simulated_stream *s, sennit_time when)
{
	if (when < s->reset)
		s->reset = when;
}

#endif

/* --- simulated transfer --------------------------------------------------- */

#ifdef SENNIT_DETERMINISTIC

#include "simulated/network.h"

#include <errno.h>

#define STALL (3600 * SENNIT_SECOND)

/* The flags of recv() and send() that are supported. Those that only affect how
 * the kernel sends are ignored. */
#define RECEIVE_FLAGS (MSG_DONTWAIT | MSG_PEEK | MSG_WAITALL | MSG_CMSG_CLOEXEC)
#define SEND_FLAGS    (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_DONTROUTE)

/* The size of the buffers, but at most `most`. */
static uint32_t size_of(const struct iovec *v, size_t count, uint32_t most)
{
	size_t size = 0;

	for (size_t i = 0; i < count && size < most; i++)
		size += v[i].iov_len < most ? v[i].iov_len : most;
	return size < most ? (uint32_t)size : most;
}

static uint32_t piece_of(const struct iovec *v, uint32_t left)
{
	return v->iov_len < left ? (uint32_t)v->iov_len : left;
}

/* Return the error of a reset, once. */
static int take_error(struct simulated_end *e)
{
	const int err = e->error;

	e->error = 0;
	return -err;
}

/* --- receiving ---------------------------------------------------------- */

static uint32_t receive_bytes(struct simulated_end *e, const struct iovec *to,
			      size_t count, bool peek)
{
	const uint32_t size = size_of(to, count, e->in.arrived);
	const uint32_t part = size ? sn_simulated_part(size) : 0;
	uint32_t       done = 0;

	for (size_t i = 0; i < count && done < part; i++) {
		const uint32_t n = piece_of(&to[i], part - done);

		sn_simulated_stream_copy(&e->in, done, to[i].iov_base, n);
		done += n;
	}
	if (peek)
		return done;
	sn_simulated_stream_drop(&e->in, done);
	sn_simulated_note("receives", e->id, done);
	if (!e->peer->closed)
		sn_simulated_touch(e->peer->fd); /* it may send again */
	return done;
}

ptrdiff_t sn_simulated_receive(struct simulated_end *e, const struct iovec *to,
			       size_t count, int flags)
{
	int err = sn_simulated_is_connected(e);

	if (flags & ~RECEIVE_FLAGS)
		return -EOPNOTSUPP;
	if (err)
		return err;
	sn_simulated_deliver(e);
	if (!size_of(to, count, 1))
		return 0;
	if (e->in.arrived)
		return receive_bytes(e, to, count, flags & MSG_PEEK);
	if (e->in.ended || e->shut_in)
		return 0;
	if (e->error)
		return take_error(e);
	return e->in.was_reset ? 0 : -EAGAIN;
}

/* --- sending ------------------------------------------------------------ */

/* Perhaps reset or end a connection on which something was sent. */
static void inject_fault(struct simulated_end *e)
{
	const sennit_simulation_config *c = sn_simulated_config();

	if (sn_simulated_happens(c->resets)) {
		sn_simulated_reset_both(e);
	} else if (sn_simulated_happens(c->ends)) {
		sn_simulated_note("sends no more", e->id, 0);
		e->shut_out = true;
		sn_simulated_stream_end(&e->peer->in);
	}
}

static void send_bytes(struct simulated_end *e, const struct iovec *from,
		       size_t count, uint32_t size)
{
	const bool stalls = sn_simulated_happens(sn_simulated_config()->stalls);
	uint32_t   done = 0;

	for (size_t i = 0; i < count && done < size; i++) {
		const uint32_t n = piece_of(&from[i], size - done);

		sn_simulated_stream_put(&e->peer->in, from[i].iov_base, n);
		done += n;
	}
	sn_simulated_note(stalls ? "stalls, sends" : "sends", e->id, size);
	sn_simulated_stream_send(&e->peer->in, size, stalls ? STALL : 0);
	inject_fault(e);
	sn_simulated_touch(e->peer->fd);
}

/* The peer is closed, and answers with a reset. */
static void send_to_closed(struct simulated_end *e, uint32_t size)
{
	const sennit_time there = sn_simulated_arrival() - sennit_now();

	sn_simulated_note("sends to a closed end", e->id, size);
	sn_simulated_stream_reset(&e->in, sn_simulated_arrival() + there);
}

ptrdiff_t sn_simulated_send(struct simulated_end *e, const struct iovec *from,
			    size_t count, int flags)
{
	int      err = sn_simulated_is_connected(e);
	uint32_t size;

	if (flags & ~SEND_FLAGS)
		return -EOPNOTSUPP;
	if (err)
		return err;
	sn_simulated_deliver(e);
	if (e->shut_out)
		return -EPIPE;
	if (e->error)
		return take_error(e);
	if (e->in.was_reset)
		return -EPIPE;
	if (!size_of(from, count, 1))
		return 0;
	/* The sender does not know yet that the peer is closed: wait for
	 * room. */
	size = size_of(from, count, e->peer->in.capacity - e->peer->in.held);
	if (!size)
		return -EAGAIN;
	size = sn_simulated_part(size);
	if (e->peer->closed || e->peer->in.was_reset)
		send_to_closed(e, size);
	else
		send_bytes(e, from, count, size);
	return size;
}

#endif
