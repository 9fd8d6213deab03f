/* SPDX-License-Identifier: Apache-2.0 */
#include "io/uring_buffers.h"

#ifdef SENNIT_HAVE_URING

#include "sennit/stream.h"

#include <errno.h>
#include <string.h>

/* A power of two. The memory is touched as the kernel first uses it. */
#ifdef SENNIT_TORTURE
#define BUFFERS 4
#else
#define BUFFERS 256
#endif

#define PAGE 4096u

struct uring_buffers {
	const sennit_allocator   *memory;
	struct io_uring_buf_ring *ring;
	char                     *bytes; /* of all */
	int32_t                   lent;
	int32_t                   size[BUFFERS];
	int32_t                   next[BUFFERS];
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
