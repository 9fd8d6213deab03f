/* SPDX-License-Identifier: Apache-2.0 */
#include "api/channel_buffer.h"

#include <errno.h>

/* A ring of values without size needs an address, too, so it has 1 byte. */
static size_t ring_bytes(size_t capacity, uint32_t size)
{
	return size ? capacity * size : 1;
}

int sn_channel_buffer_init(struct sennit_channel_buffer *s, uint32_t size,
			   size_t capacity, const sennit_allocator *allocator)
{
	void  *ring = NULL;
	size_t bytes;

	if (!sn_memory_is_valid(allocator))
		return -EINVAL;
	if (!allocator)
		allocator = &sn_memory_libc;
	if (capacity && capacity != SENNIT_CHANNEL_UNBOUNDED) {
		if (__builtin_mul_overflow(capacity, size, &bytes))
			return -ENOMEM;
		ring = sn_memory_take(allocator, ring_bytes(capacity, size),
				      CACHE_LINE);
		if (!ring)
			return -ENOMEM;
	}
	*s = (struct sennit_channel_buffer){ .capacity_ = capacity,
					     .oldest_ = ring,
					     .allocator_ = *allocator };
	return 0;
}

static size_t block_bytes(uint32_t size)
{
	return sizeof(struct block) + sn_channel_buffer_places(size) * size;
}

struct block *sn_channel_buffer_make_block(
	const struct sennit_channel_buffer *s, uint32_t size)
{
	return sn_memory_take(&s->allocator_, block_bytes(size),
			      _Alignof(struct block));
}

void sn_channel_buffer_free_block(const sennit_allocator *a, struct block *b,
				  uint32_t size)
{
	sn_memory_give(a, b, block_bytes(size));
}

void sn_channel_buffer_free(struct sennit_channel_buffer *s, uint32_t size)
{
	struct block *b = s->oldest_;

	if (!s->allocator_.release)
		return; /* the program owns the memory */
	if (!sn_channel_buffer_is_unbounded(s)) {
		sn_memory_give(&s->allocator_, s->oldest_,
			       ring_bytes(s->capacity_, size));
		return;
	}
	while (b) {
		struct block *next = b->next;

		sn_channel_buffer_free_block(&s->allocator_, b, size);
		b = next;
	}
	sn_channel_buffer_free_block(&s->allocator_, s->spare_, size);
}

static bool newest_is_full(const struct sennit_channel_buffer *s, uint32_t size)
{
	return !s->newest_ || s->last_ == sn_channel_buffer_places(size);
}

bool sn_channel_buffer_has_room(const struct sennit_channel_buffer *s,
				uint32_t                            size)
{
	if (sn_channel_buffer_is_unbounded(s))
		return s->spare_ || !newest_is_full(s, size);
	return s->count_ < s->capacity_;
}

static void append_spare(struct sennit_channel_buffer *s)
{
	struct block *b = s->spare_;
	struct block *newest = s->newest_;

	b->next = NULL;
	if (newest)
		newest->next = b;
	else
		s->oldest_ = b;
	s->newest_ = b;
	s->spare_ = NULL;
	s->last_ = 0;
}

/* The place for the next value. */
static char *new_place(struct sennit_channel_buffer *s, uint32_t size)
{
	size_t i;

	if (sn_channel_buffer_is_unbounded(s)) {
		if (newest_is_full(s, size))
			append_spare(s);
		return ((struct block *)s->newest_)->places + s->last_++ * size;
	}
	i = s->last_++;
	if (s->last_ == s->capacity_)
		s->last_ = 0;
	return (char *)s->oldest_ + i * size;
}

void sn_channel_buffer_put(struct sennit_channel_buffer *s, const void *value,
			   uint32_t size)
{
	sn_channel_buffer_copy(new_place(s, size), value, size);
	s->count_++;
}

/* Remove the oldest value, which has been copied, from the oldest block. */
static struct block *leave_place(struct sennit_channel_buffer *s, uint32_t size)
{
	struct block *b = s->oldest_;

	s->first_++;
	if (!s->count_) {
		s->first_ = 0; /* this is the only block, and empty */
		s->last_ = 0;
		return NULL;
	}
	if (s->first_ < sn_channel_buffer_places(size))
		return NULL;
	s->first_ = 0;
	s->oldest_ = b->next;
	if (s->spare_)
		return b;
	s->spare_ = b;
	return NULL;
}

struct block *sn_channel_buffer_take(struct sennit_channel_buffer *s,
				     void *value, uint32_t size)
{
	s->count_--;
	if (sn_channel_buffer_is_unbounded(s)) {
		const struct block *b = s->oldest_;

		sn_channel_buffer_copy(value, b->places + s->first_ * size,
				       size);
		return leave_place(s, size);
	}
	sn_channel_buffer_copy(value, (char *)s->oldest_ + s->first_ * size,
			       size);
	if (++s->first_ == s->capacity_)
		s->first_ = 0;
	return NULL;
}
