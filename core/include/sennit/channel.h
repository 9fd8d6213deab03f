/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - a channel: a queue that passes values from senders to receivers.
 *
 * A rendezvous channel (capacity 0) holds no values: a send waits for a
 * receive. A bounded channel holds up to its capacity, and a send waits while
 * it is full. An unbounded channel allocates memory as needed, and a send never
 * waits. Any number of fibers and threads may send and receive. Values come out
 * in the order in which they went in. Waiters are served first come, first
 * served.
 *
 * A send copies the value in, and a receive copies it out. If the other side
 * waits already, the value is copied once, from stack to stack, with no lock
 * held. Otherwise it is copied into or out of the channel's memory with the
 * channel locked for that time. So send large values by pointer; the transfer
 * of the pointer also transfers the ownership.
 *
 * A closed channel accepts no more values. Receivers first get the values that
 * it still holds.
 *
 * A channel with all bytes zero is a rendezvous channel for values of size 0.
 * It only synchronises.
 */
#ifndef SENNIT_CHANNEL_H
#define SENNIT_CHANNEL_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The capacity of an unbounded channel. */
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
	void *reserved_[2];
} sennit_channel;

/* clang-format off */
/* Initialiser of a rendezvous channel for values of `size` bytes. */
#define SENNIT_CHANNEL_INIT(size) \
	{ { 0 }, (size), NULL, NULL, \
	  { 0, 0, 0, 0, NULL, NULL, NULL, { NULL, NULL, NULL } }, \
	  { NULL, NULL } }

/* Initialiser of a bounded channel for values of the array's element type. The
 * array is its memory, and the length of the array is its capacity. */
#define SENNIT_CHANNEL_INIT_ARRAY(array) \
	{ { 0 }, sizeof((array)[0]), NULL, NULL, \
	  { sizeof(array) / sizeof((array)[0]), 0, 0, 0, (array), NULL, NULL, \
	    { NULL, NULL, NULL } }, { NULL, NULL } }
/* clang-format on */

/* Initialise *c as a channel. `capacity` is the number of values that it holds:
 * 0 for a rendezvous, SENNIT_CHANNEL_UNBOUNDED for any number. `size` is the
 * number of bytes of a value, at most UINT32_MAX. Memory for the values comes
 * from *allocator, which is copied; NULL means libc's.
 * Returns 0, -EINVAL if the size is too large or the allocator lacks a
 * function, or -ENOMEM, which only a bounded channel returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_init(
	sennit_channel *c, size_t capacity, size_t size,
	const sennit_allocator *allocator);

/* Initialise *c as a bounded channel whose values are in `memory`, which has
 * capacity * size bytes and must exist as long as *c is used. The capacity is
 * not 0. SENNIT_CHANNEL_INIT_ARRAY does the same for an array.
 * Returns 0, or -EINVAL if the size is above UINT32_MAX, or the capacity is 0
 * or SENNIT_CHANNEL_UNBOUNDED.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_init_in(sennit_channel *c,
						      void           *memory,
						      size_t          capacity,
						      size_t          size);

/* Declare that *c is no longer used, and free its memory. The call is optional
 * for a channel without memory of an allocator. Values that *c still holds are
 * dropped. It is misuse while a caller waits in *c. If *c had memory of an
 * allocator, it is also misuse to destroy it again, to send to it or to receive
 * from it; this is detected as long as *c itself is not used for something
 * else.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_channel_destroy(sennit_channel *c);

/* Send *value. Wait until the deadline for a receiver or for room. With a
 * deadline of 0 the call tries once. After an error this call has not sent the
 * value.
 * Returns 0, -EPIPE if *c is closed before or during the wait, -ETIMEDOUT at
 * the deadline, -ECANCELED if the caller's group is cancelled, or, for an
 * unbounded channel only, -ENOMEM.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_send_until(sennit_channel *c,
							 const void     *value,
							 sennit_time deadline);

/* Like sennit_channel_send_until, with the deadline of the caller's group
 * alone. Returns 0, -EPIPE, -ECANCELED, the group's -ETIMEDOUT, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_send(sennit_channel *c,
						   const void     *value);

/* Receive a value into *value. Wait until the deadline for one. With a deadline
 * of 0 the call tries once.
 * Returns 0, -EPIPE if *c is closed and empty before or during the wait,
 * -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_receive_until(
	sennit_channel *c, void *value, sennit_time deadline);

/* Like sennit_channel_receive_until, with the deadline of the caller's group
 * alone. Returns 0, -EPIPE, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_receive(sennit_channel *c,
						      void           *value);

/* Close *c. From now on it accepts no value, and waiting senders return -EPIPE.
 * Receivers get the values that it holds, and -EPIPE after that. To close a
 * closed channel does nothing, so several callers may close it, whichever is
 * first.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_channel_close(sennit_channel *c);

/* Return the number of values that *c holds at this moment. Values of waiting
 * senders do not count.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_channel_length(const sennit_channel *c);

/* Return the number of values that *c can hold: 0 of a rendezvous channel,
 * SENNIT_CHANNEL_UNBOUNDED of an unbounded one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_channel_capacity(const sennit_channel *c);

/* Return whether *c is closed. It may still hold values.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_channel_is_closed(const sennit_channel *c);

SENNIT_END

#endif
