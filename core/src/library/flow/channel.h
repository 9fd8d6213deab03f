/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - one step of a channel under its lock: a send, a receive, or a
 * select that does either.
 *
 * A step succeeds, or fails with an error, or finds a partner: a waiter on the
 * other side, which the step claims. The rest follows after the unlock: copy
 * the value between the two stacks, and wake the partner.
 *
 * Invariants, while unlocked
 *   - Receivers wait only while the channel is empty, senders only while
 *     it is full, and neither while it is closed. Exception: waiters
 *     whose wait is over and that have not unlinked themselves yet.
 *   - On a rendezvous channel, senders and receivers wait at the same
 *     time only if they are cases of one select.
 */
#ifndef SN_CHANNEL_H
#define SN_CHANNEL_H

#include "sched/state.h"
#include "sennit/channel.h"

#include <stdbool.h>
#include <string.h>

/* --- channel buffer ------------------------------------------------------- */

/* The values that a channel holds, in FIFO order.
 *
 *	bounded    a ring of `capacity` places; oldest_ is its memory
 *	unbounded  a list of blocks, values from oldest[first] to newest[last-1]
 *
 * An unbounded buffer keeps the last block that it emptied as a spare and frees
 * further ones. It never allocates: its owner holds a spin lock, and passes it
 * a block when it needs one.
 *
 * The lock of the channel protects everything here, except for the capacity and
 * the allocator, which init fixes.
 */

struct block {
	struct block *next; /* the next younger block */
	char          places[];
};

static inline bool sn_channel_buffer_is_unbounded(
	const struct sennit_channel_buffer *s)
{
	return s->capacity_ == SENNIT_CHANNEL_UNBOUNDED;
}

/* The number of values in a block of about 4096 bytes. */
static inline size_t sn_channel_buffer_places(uint32_t size)
{
	const size_t room = 4096 - sizeof(struct block) - 16;

	if (!size)
		return room;
	return size > room / 8 ? 8 : room / size;
}

/* Most values have the size of a pointer: these are copied without a call. For
 * size 0 the pointers may be invalid. */
static inline void sn_channel_buffer_copy(void *to, const void *from,
					  uint32_t size)
{
	if (likely(size == sizeof(void *)))
		memcpy(to, from, sizeof(void *));
	else if (size)
		memcpy(to, from, size);
}

/* Make an empty buffer. Returns -ENOMEM when there is no memory for a ring. */
int  sn_channel_buffer_init(struct sennit_channel_buffer *s, uint32_t size,
			    size_t capacity, const sennit_allocator *allocator);
void sn_channel_buffer_free(struct sennit_channel_buffer *s, uint32_t size);

/* Allocate and free a block of an unbounded buffer. */
struct block *sn_channel_buffer_make_block(
	const struct sennit_channel_buffer *s, uint32_t size);
void sn_channel_buffer_free_block(const sennit_allocator *a, struct block *b,
				  uint32_t size);

/* Whether a value can be added now. */
bool sn_channel_buffer_has_room(const struct sennit_channel_buffer *s,
				uint32_t                            size);

void sn_channel_buffer_put(struct sennit_channel_buffer *s, const void *value,
			   uint32_t size);

/* Copy the oldest value out; there must be one. Returns a block that the caller
 * must free after the unlock, or NULL. */
struct block *sn_channel_buffer_take(struct sennit_channel_buffer *s,
				     void *value, uint32_t size);

/* --- channel -------------------------------------------------------------- */

#define CHANNEL_CLOSED WAIT_QUEUE_OWN
#define CHANNEL_ENDED  (WAIT_QUEUE_OWN << 1) /* destroyed, and so closed */

/* A waiter sends the value at its `place`, or receives it there. `handed` is
 * set if it was transferred; otherwise the channel was closed. The part of a
 * select has more: */
struct channel_part {
	struct waiter        n;
	struct channel_part *other_side; /* fixed: of a select that waits on
					  * both sides of one channel, the part
					  * of the other side; else NULL */
};

/* The work that remains after the unlock. */
struct deal {
	struct waiter   *partner; /* claimed, must be woken; NULL: none */
	void            *to;      /* destination of a copy from `from`; NULL:
				   * nothing to copy */
	const void      *from;
	uint32_t         size;
	struct block    *block; /* must be freed; NULL: none */
	sennit_allocator allocator;
};

/* Try a step. Lock held. Returns 0; -EPIPE; -EAGAIN: the caller has to wait;
 * -ENOMEM: an unbounded channel needs a block, see sn_channel_grow. After 0 the
 * caller unlocks and calls sn_channel_conclude. */
int sn_channel_try_send(sennit_channel *c, const void *value, struct deal *d);
int sn_channel_try_receive(sennit_channel *c, void *value, struct deal *d);

/* Copy, wake and free as *d says. Does not access the channel. */
void sn_channel_conclude(const struct deal *d);

/* Allocate a block for an unbounded channel. Lock not held. Returns 0 or
 * -ENOMEM. */
int sn_channel_grow(sennit_channel *c);

#endif
