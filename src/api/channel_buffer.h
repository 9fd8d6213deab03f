/* SPDX-License-Identifier: Apache-2.0 */
/* channel_buffer.h - the values that a channel holds, in order.
 *
 *	bounded    a ring of `capacity` places; oldest: its memory
 *	unbounded  a list of blocks, values from oldest[first] to newest[last-1]
 *
 * An unbounded store keeps the last block it emptied as its spare; a second one
 * goes back to the allocator. It never allocates by itself: its owner holds a
 * spin lock, and brings a block when it asks for one.
 *
 * Everything here belongs to whoever holds the channel's lock, but for what
 * init made fixed: capacity and allocator.
 */
#ifndef SN_CHANNEL_BUFFER_H
#define SN_CHANNEL_BUFFER_H

#include "base/memory.h"
#include "sennit/channel.h"

#include <stdbool.h>
#include <string.h>

struct block {
	struct block *next; /* the next younger one */
	char          places[];
};

static inline bool sn_channel_buffer_is_unbounded(
	const struct sennit_channel_buffer *s)
{
	return s->capacity_ == SENNIT_CHANNEL_UNBOUNDED;
}

/* Values in a block of about a page. */
static inline size_t sn_channel_buffer_places(uint32_t size)
{
	const size_t room = 4096 - sizeof(struct block) - 16;

	if (!size)
		return room;
	return size > room / 8 ? 8 : room / size;
}

/* Most values are a pointer or a number: no call for those. Copying nothing may
 * be from nowhere. */
static inline void sn_channel_buffer_copy(void *to, const void *from,
					  uint32_t size)
{
	if (likely(size == sizeof(void *)))
		memcpy(to, from, sizeof(void *));
	else if (size)
		memcpy(to, from, size);
}

/* An empty store; -ENOMEM when a ring has no memory. */
int  sn_channel_buffer_init(struct sennit_channel_buffer *s, uint32_t size,
			    size_t capacity, const sennit_allocator *allocator);
void sn_channel_buffer_free(struct sennit_channel_buffer *s, uint32_t size);

/* A block for an unbounded store, from its allocator, and back. */
struct block *sn_channel_buffer_make_block(
	const struct sennit_channel_buffer *s, uint32_t size);
void sn_channel_buffer_free_block(const sennit_allocator *a, struct block *b,
				  uint32_t size);

/* Whether a value can be put in now. */
bool sn_channel_buffer_has_room(const struct sennit_channel_buffer *s,
				uint32_t                            size);

void sn_channel_buffer_put(struct sennit_channel_buffer *s, const void *value,
			   uint32_t size);

/* Copy the oldest value out; there is one. Returns a block to be freed by the
 * caller without the lock, or NULL. */
struct block *sn_channel_buffer_take(struct sennit_channel_buffer *s,
				     void *value, uint32_t size);

#endif
