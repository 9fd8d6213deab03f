/* SPDX-License-Identifier: Apache-2.0 */
/* uring_buffers.h - buffers that the streams of one worker share, in a ring
 * from which the kernel takes one when bytes have come.
 *
 *	in the ring --completion--> lent --given back--> in the ring
 */
#ifndef SN_IO_URING_BUFFERS_H
#define SN_IO_URING_BUFFERS_H

#include "sennit/base.h"

#include <stdbool.h>

#ifdef SENNIT_HAVE_URING

#include <liburing.h>

/* The group of buffers, of which a ring has one. */
#define URING_BUFFERS_GROUP 0

struct uring_buffers;

/* Makes them, for this ring. Returns 0 or a negative errno: -EINVAL where the
 * kernel knows no such rings. */
int sn_io_buffers_make(struct uring_buffers **out, struct io_uring *ring,
		       const sennit_allocator *memory);

/* Frees them; NULL: nothing. The ring is gone. */
void sn_io_buffers_free(struct uring_buffers *b);

/* Whether the kernel finds one. */
bool sn_io_buffers_has(const struct uring_buffers *b);

/* The kernel has taken buffer `number`, for this many bytes. */
void sn_io_buffers_lend(struct uring_buffers *b, int32_t number, int32_t size);
void sn_io_buffers_give_back(struct uring_buffers *b, int32_t number);

/* Of a lent one. */
void   *sn_io_buffers_bytes(const struct uring_buffers *b, int32_t number);
int32_t sn_io_buffers_size(const struct uring_buffers *b, int32_t number);

/* The next of a list of lent ones, for its owner's use. */
int32_t *sn_io_buffers_next(struct uring_buffers *b, int32_t number);

#endif
#endif
