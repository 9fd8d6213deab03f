/* SPDX-License-Identifier: Apache-2.0 */
#include "io/uring_waits.h"

#ifdef SENNIT_HAVE_URING

#include "base/compiler.h"
#include "base/list.h"
#include "io/several.h"

#include <errno.h>

static struct ring_wait **list_of(struct uring_backend *u, int fd)
{
	return &u->lists[(uint32_t)fd % LISTS];
}

void sn_io_ring_waits_add(struct uring_backend *u, struct ring_wait *n)
{
	struct ring_wait **list = list_of(u, n->fd);

	SN_LIST_PUSH(list, n);
	sn_io_closing_begin(&u->b.closing, n->fd);
}

void sn_io_ring_waits_remove(struct uring_backend *u, struct ring_wait *n)
{
	SN_LIST_REMOVE(n);
	sn_io_closing_end(&u->b.closing, n->fd);
}

/* --- cancelling --------------------------------------------------------- */

void sn_io_ring_waits_cancel(struct uring_backend *u, const struct ring_wait *n)
{
	const uint64_t       data = n->data;
	struct io_uring_sqe *e = sn_io_ring_next(u); /* may complete it */

	io_uring_prep_cancel64(e, data, 0);
	io_uring_sqe_set_data64(e, NOBODY);
}

/* The entry of n that the kernel has not seen. */
static struct io_uring_sqe *unseen(struct uring_backend   *u,
				   const struct ring_wait *n)
{
	const struct io_uring_sq *sq = &u->ring.sq;

	for (unsigned i = sq->sqe_tail - io_uring_sq_ready(&u->ring);
	     i != sq->sqe_tail; i++)
		if (sq->sqes[i & sq->ring_mask].user_data == n->data)
			return &sq->sqes[i & sq->ring_mask];
	return NULL;
}

static bool withdraw(struct uring_backend *u, struct ring_wait *n)
{
	struct io_uring_sqe *e = unseen(u, n);

	if (!e)
		return false;
	io_uring_prep_nop(e);
	io_uring_sqe_set_data64(e, n->data);
	n->withdrawn = true;
	return true;
}

void sn_io_ring_waits_end(struct uring_backend *u, struct ring_wait *n, int end)
{
	if (n->end || n->op.done)
		return;
	n->end = end;
	if (!withdraw(u, n))
		sn_io_ring_waits_cancel(u, n);
}

bool sn_io_ring_waits_forget(struct uring_backend *u, int fd)
{
	struct ring_wait *next;
	bool              any = false;

	for (struct ring_wait *n = *list_of(u, fd); n; n = next) {
		next = n->next;
		if (n->fd != fd)
			continue;
		sn_io_ring_waits_end(u, n, -ECANCELED);
		any = true;
	}
	return any;
}

static COLD void end_all_closed(struct uring_backend *u)
{
	for (uint32_t i = 0; i < LISTS; i++)
		for (struct ring_wait *n = u->lists[i], *next; n; n = next) {
			int end = sn_io_closing_end_of(n->fd, n->closings);

			next = n->next;
			if (end)
				sn_io_ring_waits_end(u, n, end);
		}
	sn_io_several_end_closed(&u->b);
}

void sn_io_ring_waits_take_closed(struct uring_backend *u)
{
	if (unlikely(sn_io_closing_take(&u->b.closing)))
		end_all_closed(u);
}

#endif
