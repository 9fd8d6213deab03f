/* SPDX-License-Identifier: Apache-2.0 */
#include "io/simulated_stream.h"

#ifdef SENNIT_DETERMINISTIC

#include "io/simulated_choices.h"
#include "sennit/deterministic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of one send, at most. */
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

/* Whatever is sent now arrives after what was sent before. */
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
