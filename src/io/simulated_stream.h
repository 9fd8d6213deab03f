/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_stream.h - bytes on their way to one end of a connection, and those
 * that have arrived and are not yet received.
 *
 *	put --delay, in pieces--> arrived --drop--> received
 *	end    after all that was put; then nothing may be put
 *	reset  at any time: what has not arrived by then is lost
 *
 * Pieces arrive in the order in which they were put. All times are virtual.
 */
#ifndef SN_IO_SIMULATED_STREAM_H
#define SN_IO_SIMULATED_STREAM_H

#include "sennit/base.h"

#include <stdbool.h>

/* Pieces on their way; when there are more, the last grows. */
#define SIMULATED_PIECES 32u

struct simulated_stream {
	char    *bytes;    /* a ring of `capacity`: arrived, on their way */
	uint32_t capacity; /* 0: not connected */
	uint32_t first;    /* the oldest byte */
	uint32_t held;     /* how many there are */
	uint32_t arrived;  /* how many of them have arrived */
	struct {
		sennit_time due;
		uint32_t    size;
	} pieces[SIMULATED_PIECES];
	uint32_t    piece, pieces_held; /* the oldest piece, how many */
	sennit_time last;               /* nothing arrives before this */
	sennit_time end, reset;         /* when they arrive; SENNIT_NEVER */
	bool        ended, was_reset;   /* they have arrived */
};

/* 0 or -ENOMEM. */
int  sn_simulated_stream_open(struct simulated_stream *s, uint32_t capacity);
void sn_simulated_stream_close(struct simulated_stream *s);

/* What is due by now arrives. Returns whether that was a reset. */
bool sn_simulated_stream_look(struct simulated_stream *s, sennit_time now);

/* When the next thing arrives that has not; SENNIT_NEVER: nothing is on its
 * way. */
sennit_time sn_simulated_stream_next(const struct simulated_stream *s);

static inline uint32_t sn_simulated_stream_room(
	const struct simulated_stream *s)
{
	return s->capacity - s->held;
}

/* Append bytes, for which there is room; and let the last `size` bytes that
 * were appended go on their way, `late` behind time. */
void sn_simulated_stream_put(struct simulated_stream *s, const char *bytes,
			     uint32_t size);
void sn_simulated_stream_send(struct simulated_stream *s, uint32_t size,
			      sennit_time late);

/* Copy `size` bytes that have arrived, from the byte `at`. */
void sn_simulated_stream_copy(const struct simulated_stream *s, uint32_t at,
			      char *to, uint32_t size);
void sn_simulated_stream_drop(struct simulated_stream *s, uint32_t size);

void sn_simulated_stream_end(struct simulated_stream *s);
void sn_simulated_stream_reset(struct simulated_stream *s, sennit_time when);

#endif
