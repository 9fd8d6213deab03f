/* SPDX-License-Identifier: Apache-2.0 */
#include "io/uring/uring.h"

#ifdef SENNIT_HAVE_URING

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/torture.h"
#include "io/engine/closing.h"
#include "io/engine/request.h"
#include "io/uring/uring.h"

#include <errno.h>
#include <string.h>

/* Requests that are submitted at once at most, and completions that the kernel
 * keeps in the ring; it keeps more outside. */
#define ENTRIES     TORTURED(2u, 256u)
#define COMPLETIONS TORTURED(4u, 4096u)

#define FLAGS                                                      \
	(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | \
	 IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CQSIZE |         \
	 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP)

/* The calling thread's number; 0: it has none yet. Not its address or system's
 * number, which another may have after it. */
static _Thread_local uint64_t this_thread;
static a_u64                  threads; /* any: the last number given */

/* --- the ring ----------------------------------------------------------- */

void sn_io_ring_drop(struct uring_backend *u)
{
	if (!u->thread)
		return;
	sn_close_on_fork_forget(u->ring.ring_fd);
	io_uring_queue_exit(&u->ring);
	sn_io_buffers_free(u->buffers);
	u->buffers = NULL;
	u->thread = 0;
	u->watched = false;
}

static int open_ring(struct io_uring *ring)
{
	struct io_uring_params p;

	memset(&p, 0, sizeof(p));
	p.flags = FLAGS;
	p.cq_entries = COMPLETIONS;
	return io_uring_queue_init_params(ENTRIES, ring, &p);
}

static int make_ring(struct uring_backend *u)
{
	int err = open_ring(&u->ring);

	if (err)
		return err;
	if (!this_thread)
		this_thread = a_add_rlx(&threads, 1) + 1;
	u->thread = this_thread;
	/* Refused, a child has the ring's memory, and does not use it. */
	(void)io_uring_ring_dontfork(&u->ring);
	err = sn_close_on_fork_add(u->ring.ring_fd);
	if (err)
		sn_io_ring_drop(u);
	return err;
}

/* The ring is the calling thread's from now on. 0 or a negative errno. */
int sn_io_ring_own(struct uring_backend *u)
{
	if (likely(u->thread && u->thread == this_thread))
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

/* Whether a fiber waits for it. What came for a stream ahead is none. */
static bool is_fibers(const struct uring_backend *u,
		      const struct io_uring_cqe  *c)
{
	if (c->user_data & STREAM)
		return u->is_awaited(stream_of(c));
	return c->user_data != NOBODY && c->user_data != WAKE;
}

static void take_one(struct uring_backend *u, const struct io_uring_cqe *c)
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

static void fetch(const struct uring_backend *u, unsigned at)
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
			fetch(u, head + IO_FETCH_AHEAD);
		take_one(u, c);
		n++;
	}
	io_uring_cq_advance(&u->ring, n);
	u->busy = n > 1;
}

/* Completions that no fiber waits for, up to the first of a fiber's. Whether
 * there is one of those. */
bool sn_io_ring_skip(struct uring_backend *u)
{
	struct io_uring_cqe *c;

	while (io_uring_cq_ready(&u->ring) &&
	       !io_uring_peek_cqe(&u->ring, &c)) {
		if (is_fibers(u, c))
			return true;
		take_one(u, c);
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

/* Room for one more; completions are taken if the kernel wants that first. */
struct io_uring_sqe *sn_io_ring_next(struct uring_backend *u)
{
	struct io_uring_sqe *e;

	while (!(e = io_uring_get_sqe(&u->ring)))
		sn_io_ring_submit_and_take(u);
	u->hasty = true;
	return e;
}

/* A request that ends at once, as it would go. */
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
