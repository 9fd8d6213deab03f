/* SPDX-License-Identifier: Apache-2.0 */
#include "io/uring/uring.h"

#ifdef SENNIT_HAVE_URING

#include "base/compiler.h"
#include "io/engine/closing.h"
#include "io/engine/request.h"
#include "io/uring/uring.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Between two searches of a worker that ask the kernel: some 800 ns. */
#define PEEKS 8

static struct uring_backend *of(sennit_poller *p)
{
	return (struct uring_backend *)p;
}

/* --- requests ----------------------------------------------------------- */

/* The kernel's own codes for a call that is to begin again, of which the first
 * is -ERESTARTSYS, reach us where a request to cancel interrupts a thread of
 * the kernel's (an open of a FIFO: seen on 6.18). */
#define FIRST_INTERNAL (-512)

static int32_t result_of(const struct ring_wait *n)
{
	if (n->withdrawn)
		return -ECANCELED;
	return n->op.result <= FIRST_INTERNAL ? -EINTR : n->op.result;
}

/* Wait for n, whose request is queued, and let go of it. */
static ptrdiff_t finish(struct uring_backend *u, struct ring_wait *n,
			sennit_time deadline)
{
	int32_t result;
	int     err;

	u->waiting++;
	sn_io_ring_waits_add(u, n);
	if (unlikely(sn_io_closing_is_over(n->fd, n->closings)))
		sn_io_ring_waits_end(u, n, -ECANCELED);
	err = sennit_poller_wait(&n->op, n->fd, deadline);
	if (!n->op.done) {
		if (!n->end)
			sn_io_ring_waits_cancel(u, n);
		n->end = n->end ? n->end : err;
		(void)!sennit_poller_wait(&n->op, n->fd, SENNIT_UNCANCELLED);
	}
	u->waiting--;
	u->woken--;
	sn_io_ring_waits_remove(u, n);
	result = result_of(n);
	if (n->end && (result == -ECANCELED || result == -EINTR))
		return n->end;
	return result; /* if n->end is set it was faster */
}

/* The kernel first opens without waiting, as if with O_NONBLOCK, which means
 * something else for a FIFO: unless that is asked for, or there is none at the
 * end of the path, a thread of the kernel's must do it. */
static void prepare_open(struct io_uring_sqe *e, const struct io_request *r)
{
	io_uring_prep_openat(e, r->fd, r->path, r->flags, r->mode);
	if (!(r->flags & (O_NONBLOCK | O_DIRECTORY | O_PATH)))
		io_uring_sqe_set_flags(e, IOSQE_ASYNC);
}

static bool prepare_name(struct io_uring_sqe *e, const struct io_request *r)
{
	switch (r->kind) {
	case IO_OPENAT:
		prepare_open(e, r);
		return true;
	case IO_FSYNC:
		io_uring_prep_fsync(e, r->fd, (unsigned)r->flags);
		return true;
	case IO_STATX:
		io_uring_prep_statx(e, r->fd, r->path, r->flags, r->mask,
				    r->out);
		return true;
	case IO_UNLINKAT:
		io_uring_prep_unlinkat(e, r->fd, r->path, r->flags);
		return true;
	case IO_RENAMEAT:
		io_uring_prep_renameat(e, r->fd, r->path, r->to_dir, r->to_path,
				       0);
		return true;
	case IO_MKDIRAT:
		io_uring_prep_mkdirat(e, r->fd, r->path, r->mode);
		return true;
	default:
		return false;
	}
}

static bool prepare(struct io_uring_sqe *e, const struct io_request *r)
{
	switch (r->kind) {
	case IO_READV:
		io_uring_prep_readv(e, r->fd, r->vector, (unsigned)r->count,
				    (uint64_t)r->at);
		return true;
	case IO_WRITEV:
		io_uring_prep_writev(e, r->fd, r->vector, (unsigned)r->count,
				     (uint64_t)r->at);
		return true;
	case IO_RECV:
		io_uring_prep_recv(e, r->fd, r->bytes, r->size, r->flags);
		return true;
	case IO_SEND:
		io_uring_prep_send(e, r->fd, r->bytes, r->size, r->flags);
		return true;
	case IO_RECVMSG:
		io_uring_prep_recvmsg(e, r->fd, r->message, (unsigned)r->flags);
		return true;
	case IO_SENDMSG:
		io_uring_prep_sendmsg(e, r->fd, r->message, (unsigned)r->flags);
		return true;
	case IO_ACCEPT:
		io_uring_prep_accept(e, r->fd, r->address, r->address_size,
				     r->flags);
		return true;
	case IO_CONNECT:
		io_uring_prep_connect(e, r->fd, r->address, r->size_of);
		return true;
	default:
		return prepare_name(e, r);
	}
}

/* The guess whether r would find nothing, so that the kernel need not try
 * before it waits; NULL: there is none. */
static bool *guess_of(struct uring_backend *u, const struct io_request *r)
{
	return r->kind == IO_RECV ? &u->b.drained[(uint32_t)r->fd % IO_GUESSES]
				  : NULL;
}

static ptrdiff_t perform(struct io_backend *b, const struct io_request *r,
			 uint64_t begun, sennit_time deadline)
{
	struct uring_backend *u = of(&b->p);
	struct ring_wait      n = { .fd = r->fd,
				    .data = (uintptr_t)&n,
				    .closings = begun };
	struct io_uring_sqe  *e;
	int                   err = sn_io_ring_own(u);
	const bool            hasty = u->hasty || r->kind != IO_RECV;
	ptrdiff_t             result;
	bool                 *drained;

	if (err)
		return -ENOSYS;
	e = sn_io_ring_next(u);
	u->hasty = hasty;
	if (!prepare(e, r)) {
		io_uring_prep_nop(e);
		io_uring_sqe_set_data64(e, NOBODY);
		return -ENOSYS;
	}
	io_uring_sqe_set_data64(e, n.data);
	drained = guess_of(u, r);
	if (drained && *drained)
		e->ioprio |= IORING_RECVSEND_POLL_FIRST;
	result = finish(u, &n, deadline);
	if (drained)
		*drained = result > 0 && (size_t)result < r->size;
	return result;
}

/* The kernel looks when it takes the request, whether the caller has tried or
 * not. */
static int wait_ready(struct io_backend *b, const struct io_ready *w)
{
	struct uring_backend *u = of(&b->p);
	struct ring_wait      n = { .op = { .selection = w->select },
				    .fd = w->fd,
				    .data = (uintptr_t)&n,
				    .closings = w->begun };
	struct io_uring_sqe  *e;
	int                   err = sn_io_ring_own(u);
	ptrdiff_t             result;

	if (err)
		return err;
	e = sn_io_ring_next(u);
	io_uring_prep_poll_add(e, w->fd, (uint16_t)w->events);
	io_uring_sqe_set_data64(e, n.data);
	result = finish(u, &n, w->deadline);
	if (result < 0 && result != -EINTR)
		return (int)result;
	/* The number may mean another descriptor by now. */
	return sn_io_closing_is_over(w->fd, w->begun) ? -ECANCELED : 0;
}

/* Submitted before fd is closed, so that nobody keeps open what it was. */
static void forget(struct io_backend *b, int fd)
{
	struct uring_backend *u = of(&b->p);

	if (fd >= 0 && !sn_io_ring_own(u) && sn_io_ring_waits_forget(u, fd))
		sn_io_ring_check(u, io_uring_submit(&u->ring));
}

static bool is_pending(const struct uring_backend *u)
{
	return u->waiting && sn_io_closing_is_pending(&u->b.closing);
}

/* --- the poller --------------------------------------------------------- */

/* A lone completion leads to the sleep, which submits and waits in one call. */
void sn_io_uring_turn(sennit_poller *p)
{
	struct uring_backend *u = of(p);

	u->peeks = 0;
	sn_io_ring_waits_take_closed(u);
	if (u->busy || sn_io_ring_has_more(u))
		sn_io_ring_submit_and_take(u);
	else
		sn_io_ring_take(u);
}

static void peek(sennit_poller *p)
{
	struct uring_backend *u = of(p);

	sn_io_ring_waits_take_closed(u);
	if (++u->peeks % PEEKS == 0)
		sn_io_ring_submit_and_take(u);
	else
		sn_io_ring_take(u);
}

/* A sleep has submitted and looked just before, and the next one mostly comes
 * soon. Whoever receives from now on is found behind those that were woken
 * before, so a receive is in no hurry while some of those are left. */
static void flush(sennit_poller *p)
{
	struct uring_backend *u = of(p);

	sn_io_ring_waits_take_closed(u);
	if (u->slept || (u->woken && !u->hasty))
		sn_io_ring_take(u);
	else
		sn_io_ring_submit_and_take(u);
	u->slept = false;
}

/* The worker has a new thread, which can have no ring now. */
static enum sennit_poller_end sleep_without_ring(struct uring_backend  *u,
						 const struct timespec *left)
{
	struct pollfd p = { .fd = u->wake_fd, .events = POLLIN };
	uint64_t      wakes;

	if (!ppoll(&p, 1, left, NULL))
		return SENNIT_POLLER_TIMEOUT;
	(void)!read(u->wake_fd, &wakes, sizeof(wakes));
	return SENNIT_POLLER_WOKEN;
}

/* Each write to wake_fd completes this anew. False: there is no room; that
 * there is a completion to take is as good as any reason to come again. */
static bool watch_wakes(struct uring_backend *u)
{
	struct io_uring_sqe *e = io_uring_get_sqe(&u->ring);

	if (!e) {
		sn_io_ring_check(u, io_uring_submit(&u->ring));
		e = io_uring_get_sqe(&u->ring);
	}
	if (!e)
		return false;
	io_uring_prep_poll_multishot(e, u->wake_fd, POLLIN);
	io_uring_sqe_set_data64(e, WAKE);
	u->watched = true;
	return true;
}

static enum sennit_poller_end sleep_in_ring(struct uring_backend  *u,
					    const struct timespec *left,
					    sennit_time            deadline)
{
	struct __kernel_timespec limit = { .tv_sec = 0 };
	struct io_uring_cqe     *c;

	if (sn_io_ring_skip(u) || is_pending(u) ||
	    (!u->watched && !watch_wakes(u)))
		return SENNIT_POLLER_READY;
	if (left) {
		limit.tv_sec = left->tv_sec;
		limit.tv_nsec = left->tv_nsec;
	}
	u->slept = true;
	u->hasty = false;
	sn_io_ring_check(u,
			 io_uring_submit_and_wait_timeout(
				 &u->ring, &c, 1, left ? &limit : NULL, NULL));
	if (sn_io_ring_skip(u) || is_pending(u))
		return SENNIT_POLLER_READY;
	return left && sennit_now() >= deadline ? SENNIT_POLLER_TIMEOUT
						: SENNIT_POLLER_WOKEN;
}

static enum sennit_poller_end sleep_until(sennit_poller *p,
					  sennit_time    deadline)
{
	struct uring_backend *u = of(p);
	const bool            ends = deadline != SENNIT_NEVER;
	const struct timespec time =
		sn_io_time_left(deadline, ends ? sennit_now() : deadline);
	const struct timespec *left = ends ? &time : NULL;

	return sn_io_ring_own(u) ? sleep_without_ring(u, left)
				 : sleep_in_ring(u, left, deadline);
}

static void wake(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(of(p)->wake_fd, &one, sizeof(one));
}

static void destroy(sennit_poller *p)
{
	struct uring_backend   *u = of(p);
	const sennit_allocator *a = u->b.memory;

	sn_io_closing_remove(&u->b.closing);
	sn_stream_check_closed(&u->b);
	sn_io_ring_drop(u);
	sn_close_on_fork_close(u->wake_fd);
	a->release(a->context, u, sizeof(*u));
}

/* --- the backend -------------------------------------------------------- */

static const struct io_backend_ops uring_ops = {
	.poller = { .size = sizeof(sennit_poller_ops),
		    .turn = sn_io_uring_turn,
		    .peek = peek,
		    .flush = flush,
		    .sleep = sleep_until,
		    .wake = wake,
		    .destroy = destroy },
	.name = "uring",
	.wait_ready = wait_ready,
	.perform = perform,
	.forget = forget,
	.stream = &sn_io_uring_stream_ops,
};

int sn_io_uring_make(struct io_backend **out, const sennit_allocator *memory)
{
	struct uring_backend *u;
	int                   err;

	u = memory->allocate(memory->context, sizeof(*u), _Alignof(void *));
	if (!u)
		return -ENOMEM;
	memset(u, 0, sizeof(*u));
	u->b.p.ops = &uring_ops.poller;
	u->b.ops = &uring_ops;
	u->b.memory = memory;
	u->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = u->wake_fd < 0 ? -errno : sn_close_on_fork_add(u->wake_fd);
	if (!err)
		err = sn_io_ring_own(u);
	if (err) {
		destroy(&u->b.p);
		return err;
	}
	*out = &u->b;
	return 0;
}

bool sn_io_uring_works(void)
{
	return sn_io_ring_works();
}

#endif

/* --- uring waits ---------------------------------------------------------- */

#ifdef SENNIT_HAVE_URING

#include "base/compiler.h"
#include "base/list.h"
#include "io/engine/request.h"

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
