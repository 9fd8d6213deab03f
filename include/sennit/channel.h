/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - values handed from those who send to those who receive.
 *
 * A rendezvous channel (capacity 0) holds nothing: a send waits until somebody
 * receives. A bounded one holds up to its capacity, and a send waits while it
 * is full. An unbounded one takes memory as needed, and a send never waits. Any
 * number of fibers and threads may send and receive. Values come out in the
 * order in which they went in; of those who wait, the first to come goes first.
 *
 * A value is copied in by a send and out by a receive. If the other side is
 * waiting already it is copied just once, from stack to stack, with no lock
 * held; into and out of a channel's memory with the channel locked for that
 * long. So send what is large by pointer; the channel then says whose it is.
 *
 * Closing ends a channel for those who send. Those who receive first get what
 * it still holds.
 *
 * All zero is a rendezvous of values of no size: it only synchronises.
 */
#ifndef SENNIT_CHANNEL_H
#define SENNIT_CHANNEL_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The capacity of a channel that takes memory as needed. */
#define SENNIT_CHANNEL_UNBOUNDED SIZE_MAX

typedef struct sennit_channel {
	sennit_word state_;
	uint32_t    size_;
	void       *senders_;
	void       *receivers_;
	struct sennit_channel_buffer {
		size_t           capacity_, count_, first_, last_;
		void            *oldest_, *newest_, *spare_;
		sennit_allocator allocator_;
	} store_;
} sennit_channel;

/* clang-format off */
/* A rendezvous for values of `size` bytes. */
#define SENNIT_CHANNEL_INIT(size) \
	{ { 0 }, (size), NULL, NULL, \
	  { 0, 0, 0, 0, NULL, NULL, NULL, { NULL, NULL, NULL } } }

/* A bounded channel for values of the type of the array's elements. The array
 * is its memory, and its length the capacity. */
#define SENNIT_CHANNEL_INIT_ARRAY(array) \
	{ { 0 }, sizeof((array)[0]), NULL, NULL, \
	  { sizeof(array) / sizeof((array)[0]), 0, 0, 0, (array), NULL, NULL, \
	    { NULL, NULL, NULL } } }
/* clang-format on */

/* Make *c a channel for values of `size` bytes. It holds `capacity` of them: 0
 * is a rendezvous, SENNIT_CHANNEL_UNBOUNDED any number. Memory for them comes
 * from *allocator, which is copied; NULL: libc's.
 * Returns 0, -EINVAL for an allocator that lacks a function, or -ENOMEM, which
 * neither a rendezvous nor an unbounded one does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_init(
	sennit_channel *c, uint32_t size, size_t capacity,
	const sennit_allocator *allocator);

/* Declare that *c is no longer used, and give its memory back; optional for one
 * that has none of an allocator's. What it still holds is dropped. Misuse while
 * somebody waits in it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_channel_destroy(sennit_channel *c);

/* Send *value, waiting until the deadline for somebody to receive it or for
 * room. A deadline of 0 tries. After any error the value was not sent, unless
 * by another call.
 * Returns 0, -EPIPE when *c is closed, also while it waits, -ETIMEDOUT,
 * -ECANCELED, or, of an unbounded channel alone, -ENOMEM.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_send_until(sennit_channel *c,
							 const void     *value,
							 sennit_time deadline);

/* The same without a deadline: 0, -EPIPE or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_send(sennit_channel *c,
						   const void     *value);

/* Receive a value into *value, waiting until the deadline for one. A deadline
 * of 0 tries.
 * Returns 0, -EPIPE when *c is closed and empty, also while it waits,
 * -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_receive_until(
	sennit_channel *c, void *value, sennit_time deadline);

/* The same without a deadline: 0 or -EPIPE.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_receive(sennit_channel *c,
						      void           *value);

/* Close *c: from now on no value goes in, and those who wait to send one return
 * with -EPIPE. Who receives gets what is in it, and -EPIPE after that. Closing
 * it again does nothing, so several may: whoever is done first.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_channel_close(sennit_channel *c);

/* How many values *c holds at this moment, without those of waiting senders.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_channel_length(sennit_channel *c);

SENNIT_END

#endif
