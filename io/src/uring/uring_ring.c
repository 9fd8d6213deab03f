/* SPDX-License-Identifier: Apache-2.0 */
/* uring_ring.c - the ring: submissions and completions. */
#include "uring/uring.h"

#ifdef SENNIT_HAVE_URING

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/own_fd.h"
#include "base/torture.h"
#include "engine/closing.h"
#include "engine/request.h"

#include <errno.h>
#include <string.h>

/* Entries of the submission queue, and of the completion queue. The kernel
 * keeps further completions outside of the ring. */
#define ENTRIES     TORTURED(2u, 256u)
#define COMPLETIONS TORTURED(4u, 4096u)

#define FLAGS                                                      \
	(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | \
	 IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CQSIZE |         \
	 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP)

/* The number of the calling thread; 0: none yet. Its address or the system's
 * thread id could be reused by a later thread. */
static _Thread_local uint64_t this_thread;
static a_u64                  thread_numbers; /* any: the last number given */

/* --- the ring ----------------------------------------------------------- */

void sn_io_ring_drop(struct uring_backend *u)
{
	if (!u->thread)
		return;
	sn_close_on_fork_forget(u->ring.ring_fd);
	if (!sn_close_on_fork_is_kept(u->ring.ring_fd))
		u->ring.ring_fd = -1;
	io_uring_queue_exit(&u->ring);
	sn_io_buffers_free(u->buffers);
	u->buffers = NULL;
	u->thread = 0;
	u->watched = false;
}

static int open_ring(struct io_uring *ring)
{
	struct io_uring_params p;
	int                    err;

	memset(&p, 0, sizeof(p));
	p.flags = FLAGS;
	p.cq_entries = COMPLETIONS;
	err = io_uring_queue_init_params(ENTRIES, ring, &p);
	if (err)
		return err;
	ring->ring_fd = ring->enter_ring_fd = sn_own_fd(ring->ring_fd);
	if (ring->ring_fd >= 0)
		return 0;
	err = -errno;
	io_uring_queue_exit(ring);
	return err;
}

static int make_ring(struct uring_backend *u)
{
	int err = open_ring(&u->ring);

	if (err)
		return err;
	if (!this_thread)
		this_thread = a_add_rlx(&thread_numbers, 1) + 1;
	u->thread = this_thread;
	/* If this fails, a child has the ring's memory but does not use it. */
	(void)io_uring_ring_dontfork(&u->ring);
	err = sn_close_on_fork_add(u->ring.ring_fd);
	if (err)
		sn_io_ring_drop(u);
	return err;
}

bool sn_io_ring_is_own(const struct uring_backend *u)
{
	return u->thread && u->thread == this_thread;
}

int sn_io_ring_own(struct uring_backend *u)
{
	if (likely(sn_io_ring_is_own(u)))
		return 0;
	sn_io_ring_drop(u);
	return make_ring(u);
}

void sn_io_ring_check(struct uring_backend *u, int result)
{
	sn_io_refusal_check(&u->refusal, result, "io_uring");
}

/* --- completions -------------------------------------------------------- */

static void *stream_of(const struct io_uring_cqe *c)
{
	return (void *)(uintptr_t)(c->user_data & ~(STREAM | STOP));
}

/* Whether a fiber waits for it. Data that a stream receives ahead does not
 * count. */
static bool is_fibers(const struct uring_backend *u,
		      const struct io_uring_cqe  *c)
{
	if (c->user_data & STREAM)
		return u->is_awaited(stream_of(c));
	return c->user_data != NOBODY && c->user_data != WAKE;
}

static void handle_completion(struct uring_backend      *u,
			      const struct io_uring_cqe *c)
{
	if (c->user_data == NOBODY)
		return;
	if (c->user_data & STREAM)
		u->came(stream_of(c), c);
	else if (c->user_data == WAKE)
		u->watched = c->flags & IORING_CQE_F_MORE;
	else {
		u->woken++;
		sennit_poller_complete(
			(sennit_poller_op *)(uintptr_t)c->user_data, c->res);
	}
}

static void prefetch_completion(const struct uring_backend *u, unsigned at)
{
	const struct io_uring_cq *cq = &u->ring.cq;

	sn_io_fetch_record(
		(void *)(uintptr_t)cq->cqes[at & cq->ring_mask].user_data);
}

void sn_io_ring_take(struct uring_backend *u)
{
	const unsigned       ready = io_uring_cq_ready(&u->ring);
	struct io_uring_cqe *c;
	unsigned             head;
	unsigned             n = 0;

	io_uring_for_each_cqe(&u->ring, head, c)
	{
		if (n + IO_FETCH_AHEAD < ready)
			prefetch_completion(u, head + IO_FETCH_AHEAD);
		handle_completion(u, c);
		n++;
	}
	io_uring_cq_advance(&u->ring, n);
	u->busy = n > 1;
}

bool sn_io_ring_skip(struct uring_backend *u)
{
	struct io_uring_cqe *c;

	while (io_uring_cq_ready(&u->ring) &&
	       !io_uring_peek_cqe(&u->ring, &c)) {
		if (is_fibers(u, c))
			return true;
		handle_completion(u, c);
		io_uring_cqe_seen(&u->ring, c);
	}
	return false;
}

bool sn_io_ring_has_more(const struct uring_backend *u)
{
	unsigned flags = __atomic_load_n(u->ring.sq.kflags, __ATOMIC_RELAXED);

	return flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW);
}

void sn_io_ring_submit_and_take(struct uring_backend *u)
{
	if (io_uring_sq_ready(&u->ring) || sn_io_ring_has_more(u))
		sn_io_ring_check(u, io_uring_submit_and_get_events(&u->ring));
	u->hasty = false;
	sn_io_ring_take(u);
}

struct io_uring_sqe *sn_io_ring_next(struct uring_backend *u)
{
	struct io_uring_sqe *e;

	while (!(e = io_uring_get_sqe(&u->ring)))
		sn_io_ring_submit_and_take(u);
	u->hasty = true;
	return e;
}

/* Submit a no-op and wait for its completion, as for a real request. */
static bool ends_at_once(struct io_uring *ring)
{
	struct io_uring_sqe     *e = io_uring_get_sqe(ring);
	struct io_uring_cqe     *c = NULL;
	struct __kernel_timespec limit = { .tv_sec = 1 };

	io_uring_prep_nop(e);
	io_uring_sqe_set_data64(e, WAKE);
	return io_uring_submit_and_wait_timeout(ring, &c, 1, &limit, NULL) >=
		       0 &&
	       c && c->user_data == WAKE && !c->res;
}

bool sn_io_ring_works(void)
{
	const uint32_t  wanted = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP;
	struct io_uring ring;
	bool            works;

	if (under_valgrind() || open_ring(&ring))
		return false;
	works = (ring.features & wanted) == wanted && ends_at_once(&ring);
	io_uring_queue_exit(&ring);
	return works;
}

#endif
