/* SPDX-License-Identifier: Apache-2.0 */
#include "uring/uring.h"

#ifdef SENNIT_HAVE_URING

#include "base/compiler.h"
#include "base/own_fd.h"
#include "engine/closing.h"
#include "engine/request.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A searching worker asks the kernel (some 800 ns) once in this many peeks. */
#define URING_PEEKS 8

static struct uring_backend *uring_of(sennit_poller *p)
{
	return (struct uring_backend *)p;
}

/* --- requests ----------------------------------------------------------- */

/* The first of the kernel's internal codes for restarting a call, -ERESTARTSYS.
 * A cancel request that interrupts a kernel thread may return them to us (an
 * open of a FIFO: seen on 6.18). */
#define FIRST_INTERNAL (-512)

static int32_t result_of(const struct ring_wait *n)
{
	if (n->withdrawn)
		return -ECANCELED;
	return n->op.result <= FIRST_INTERNAL ? -EINTR : n->op.result;
}

/* Wait for n, whose entry is queued, until the kernel no longer uses it. */
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
	return result; /* if n->end is set, the request completed first */
}

/* The kernel first tries to open without waiting, as if with O_NONBLOCK, which
 * has another meaning for a FIFO. So a kernel thread must open it, unless the
 * caller asks for O_NONBLOCK or the path cannot name a FIFO. libc's open() adds
 * O_LARGEFILE: without it a 32-bit kernel fails for files of 2 GiB and more. */
static void prepare_open(struct io_uring_sqe *e, const struct io_request *r)
{
	io_uring_prep_openat(e, r->fd, r->path, r->flags | O_LARGEFILE,
			     r->mode);
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
	case IO_RECVMSG:
		io_uring_prep_recvmsg(e, r->fd, r->message, (unsigned)r->flags);
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

static ptrdiff_t perform_uring(struct io_backend *b, const struct io_request *r,
			       uint64_t begun, sennit_time deadline)
{
	struct uring_backend *u = uring_of(&b->p);
	struct ring_wait      n = { .fd = r->fd,
				    .data = (uintptr_t)&n,
				    .closings = begun };
	struct io_uring_sqe  *e;
	int                   err = sn_io_ring_own(u);
	const bool            hasty = u->hasty || r->kind != IO_RECV;
	/* With a flag such as MSG_OOB the call may fail at once. */
	const bool guesses = r->kind == IO_RECV && !r->flags;
	ptrdiff_t  result;

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
	if (guesses && sn_io_guess_take(b, r->fd))
		e->ioprio |= IORING_RECVSEND_POLL_FIRST; /* before it tries */
	result = finish(u, &n, deadline);
	if (guesses && sn_io_is_short(r, result))
		sn_io_guess_drained(b, r->fd);
	return result;
}

/* The kernel polls when it gets the request, so it does not matter whether the
 * caller has tried. */
static int wait_uring_ready(struct io_backend *b, const struct io_ready *w)
{
	struct uring_backend *u = uring_of(&b->p);
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
	if (result == -EINVAL) /* a file */
		return -EPERM;
	if (result < 0 && result != -EINTR)
		return (int)result;
	/* The number may have been reused by now. */
	return sn_io_closing_is_over(w->fd, w->begun) ? -ECANCELED : 0;
}

/* Submit the cancel requests before fd is closed, so that no request keeps the
 * old file open. */
static void forget_uring_waits(struct io_backend *b, int fd)
{
	struct uring_backend *u = uring_of(&b->p);

	if (fd >= 0 && !sn_io_ring_own(u) && sn_io_ring_waits_forget(u, fd))
		sn_io_ring_check(u, io_uring_submit(&u->ring));
}

static bool has_uring_closed(const struct uring_backend *u)
{
	return u->waiting && sn_io_closing_is_pending(&u->b.closing);
}

/* --- the poller --------------------------------------------------------- */

/* What each look at the ring begins with. Returns false if there is no ring to
 * look at: a new thread of the worker has not made one, or could not. */
static bool begin_look(struct uring_backend *u)
{
	if (unlikely(!sn_io_ring_is_own(u)))
		return false;
	sn_io_ring_waits_take_closed(u);
	sn_io_ring_waits_cancel_again(u);
	return true;
}

/* A single completion leads to the sleep, which submits and waits in one
 * call. */
void sn_io_uring_turn(sennit_poller *p)
{
	struct uring_backend *u = uring_of(p);

	u->peeks = 0;
	if (!begin_look(u))
		return;
	if (u->busy || sn_io_ring_has_more(u))
		sn_io_ring_submit_and_take(u);
	else
		sn_io_ring_take(u);
}

static void peek_uring(sennit_poller *p)
{
	struct uring_backend *u = uring_of(p);

	if (!begin_look(u))
		return;
	if (++u->peeks % URING_PEEKS == 0)
		sn_io_ring_submit_and_take(u);
	else
		sn_io_ring_take(u);
}

/* A sleep has submitted and polled just before, and the next sleep usually
 * comes soon. A fiber that is woken runs after those that were woken before, so
 * a receive need not be submitted while some of those have not run. */
static void flush_uring(sennit_poller *p)
{
	struct uring_backend *u = uring_of(p);

	if (!begin_look(u))
		return;
	if (u->slept || (u->woken && !u->hasty))
		sn_io_ring_take(u);
	else
		sn_io_ring_submit_and_take(u);
	u->slept = false;
}

/* The worker has a new thread, which cannot make a ring now. */
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

/* Each write to wake_fd completes this request again. Returns false if the
 * queue has no room: then there are completions, which are as good a reason not
 * to sleep. */
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

/* Whether peek or turn has something to do. */
static bool is_called_for(struct uring_backend *u)
{
	return sn_io_ring_skip(u) || has_uring_closed(u) ||
	       sn_io_ring_waits_is_due(u);
}

static enum sennit_poller_end sleep_in_ring(struct uring_backend  *u,
					    const struct timespec *left,
					    sennit_time            deadline)
{
	struct __kernel_timespec limit = { .tv_sec = 0 };
	struct io_uring_cqe     *c;

	if (is_called_for(u) || (!u->watched && !watch_wakes(u)))
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
	if (is_called_for(u))
		return SENNIT_POLLER_READY;
	return left && sennit_now() >= deadline ? SENNIT_POLLER_TIMEOUT
						: SENNIT_POLLER_WOKEN;
}

static enum sennit_poller_end sleep_uring_until(sennit_poller *p,
						sennit_time    deadline)
{
	struct uring_backend  *u = uring_of(p);
	const sennit_time      until = u->cancelled && u->again < deadline
					       ? u->again
					       : deadline;
	const bool             ends = until != SENNIT_NEVER;
	const struct timespec  time = sn_io_time_left(until, ends ? sennit_now()
								  : until);
	const struct timespec *left = ends ? &time : NULL;

	return sn_io_ring_own(u) ? sleep_without_ring(u, left)
				 : sleep_in_ring(u, left, deadline);
}

static void wake_uring(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(uring_of(p)->wake_fd, &one, sizeof(one));
}

static void destroy_uring(sennit_poller *p)
{
	struct uring_backend   *u = uring_of(p);
	const sennit_allocator *a = u->b.memory;

	sn_io_closing_remove(&u->b.closing);
	sn_stream_check_closed(&u->b);
	sn_io_ring_drop(u);
	sn_close_on_fork_close(u->wake_fd);
	sn_by_fds_free(&u->waits);
	sn_by_fds_free(&u->b.members);
	a->release(a->context, u, sizeof(*u));
}

/* --- the backend -------------------------------------------------------- */

static const struct io_backend_ops uring_ops = {
	.poller = { .size = sizeof(sennit_poller_ops),
		    .turn = sn_io_uring_turn,
		    .peek = peek_uring,
		    .flush = flush_uring,
		    .sleep = sleep_uring_until,
		    .wake = wake_uring,
		    .destroy = destroy_uring },
	.name = "uring",
	.wait_ready = wait_uring_ready,
	.perform = perform_uring,
	.forget = forget_uring_waits,
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
	sn_by_fds_init(&u->waits, memory);
	sn_by_fds_init(&u->b.members, memory);
	u->wake_fd = sn_own_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	err = u->wake_fd < 0 ? -errno : sn_close_on_fork_add(u->wake_fd);
	if (!err)
		err = sn_io_ring_own(u);
	if (err) {
		destroy_uring(&u->b.p);
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
#include "engine/request.h"

#include <errno.h>

static const struct ring_wait *cancelled_wait(const struct link *l)
{
	return (const void *)((const char *)l -
			      offsetof(struct ring_wait, cancelled));
}

static struct ring_wait *wait_of(struct by_fd *n)
{
	return (struct ring_wait *)((char *)n - offsetof(struct ring_wait, by));
}

void sn_io_ring_waits_add(struct uring_backend *u, struct ring_wait *n)
{
	sn_by_fds_add(&u->waits, &n->by, n->fd);
	sn_io_closing_begin(&u->b.closing, n->fd);
}

void sn_io_ring_waits_remove(struct uring_backend *u, struct ring_wait *n)
{
	if (n->cancelled.next)
		sn_link_leave(&u->cancelled, &n->cancelled);
	sn_by_fds_remove(&u->waits, &n->by);
	sn_io_closing_end(&u->b.closing, n->fd);
}

/* --- cancelling --------------------------------------------------------- */

/* The first and the longest pause between two rounds of cancel requests. */
#define FIRST_REPEAT (1 * SENNIT_MILLISECOND)
#define LAST_REPEAT  (64 * SENNIT_MILLISECOND)

static void submit_cancel(struct uring_backend *u, uint64_t data)
{
	struct io_uring_sqe *e = sn_io_ring_next(u);

	io_uring_prep_cancel64(e, data, 0);
	io_uring_sqe_set_data64(e, NOBODY);
}

void sn_io_ring_waits_cancel(struct uring_backend *u, struct ring_wait *n)
{
	if (!u->cancelled) {
		u->pause = FIRST_REPEAT;
		u->again = sennit_after(FIRST_REPEAT);
	}
	if (!n->cancelled.next)
		sn_link_join(&u->cancelled, &n->cancelled);
	submit_cancel(u, n->data); /* may complete n */
}

static unsigned count_cancelled(const struct uring_backend *u)
{
	unsigned count = 0;

	for (const struct link *l = u->cancelled; l;
	     l = sn_link_after(l, u->cancelled))
		count++;
	return count;
}

/* A submission may complete streams, which then leave the list. So the front
 * moves on before each. Single requests that are complete stay in it until
 * their fibers run. */
static void cancel_all_again(struct uring_backend *u)
{
	for (unsigned i = count_cancelled(u); i && u->cancelled; i--) {
		const struct ring_wait *n = cancelled_wait(u->cancelled);

		u->cancelled = n->cancelled.next;
		if (!n->op.done)
			submit_cancel(u, n->data);
	}
}

bool sn_io_ring_waits_is_due(const struct uring_backend *u)
{
	return unlikely(u->cancelled) && sennit_now() >= u->again;
}

void sn_io_ring_waits_cancel_again(struct uring_backend *u)
{
	if (!sn_io_ring_waits_is_due(u))
		return;
	if (u->pause < LAST_REPEAT)
		u->pause *= 2;
	u->again = sennit_after(u->pause);
	cancel_all_again(u);
}

/* The entry of n, if the kernel has not seen it, else NULL. */
static struct io_uring_sqe *find_unsubmitted(struct uring_backend   *u,
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
	struct io_uring_sqe *e = find_unsubmitted(u, n);

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
	struct by_fd *next;
	bool          any = false;

	for (struct by_fd *n = *sn_by_fds_on(&u->waits, fd); n; n = next) {
		next = n->next;
		if (n->fd != fd)
			continue;
		sn_io_ring_waits_end(u, wait_of(n), -ECANCELED);
		any = true;
	}
	return any;
}

static void end_ring_wait_if_closed(struct io_backend *b, struct by_fd *by)
{
	struct ring_wait *n = wait_of(by);
	int               end = sn_io_closing_end_of(n->fd, n->closings);

	if (end)
		sn_io_ring_waits_end(uring_of(&b->p), n, end);
}

void sn_io_ring_waits_take_closed(struct uring_backend *u)
{
	sn_io_closing_take(&u->b, &u->b.closing, &u->waits,
			   end_ring_wait_if_closed);
}

#endif
