/* SPDX-License-Identifier: Apache-2.0 */
/* channel_buffer.h - the values that a channel holds, in FIFO order.
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
#ifndef SN_CHANNEL_BUFFER_H
#define SN_CHANNEL_BUFFER_H

#include "base/memory.h"
#include "sennit/channel.h"

#include <stdbool.h>
#include <string.h>

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

#endif
