/* SPDX-License-Identifier: Apache-2.0 */
#include "epoll/epoll.h"

#include "base/compiler.h"
#include "base/own_fd.h"
#include "engine/closing.h"
#include "engine/linux_calls.h"
#include "engine/request.h"
#include "epoll/registration.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Events that one call returns at most. */
#define BATCH 128

/* A searching worker asks the kernel (some 800 ns) once in this many peeks. */
#define EPOLL_PEEKS 8

/* The data of the eventfd's events. */
#define WAKE_EVENT UINT64_MAX

struct epoll_backend {
	struct io_backend  b; /* first */
	int                fd;
	int                wake_fd;
	int                at, count; /* events that are not yet handled */
	bool               busy;      /* the last call returned several
				       * events */
	bool               coarse;    /* no epoll_pwait2(): wait in
				       * milliseconds */
	uint32_t           peeks;
	bool               slept; /* and has not flushed since */
	bool               quiet; /* the last sleep got no event */
	uint32_t           woken; /* fibers that have not run since their waits
				   * ended */
	bool               late;  /* the kernel was not asked because of them */
	struct refusal     refusal;
	struct ready_waits waits;
	struct interest    interest;
	a_u32 registered[IO_CLOSING_REGISTERED]; /* for closing.h */
	struct epoll_event events[BATCH];
};

static struct epoll_backend *epoll_of(sennit_poller *p)
{
	return (struct epoll_backend *)p;
}

static void end_wait(struct epoll_backend *e, struct ready_wait *n, int result)
{
	sn_ready_waits_remove(&e->waits, n);
	e->woken++;
	sennit_poller_complete(&n->op, result);
}

/* --- the kernel --------------------------------------------------------- */

/* End the waits on fd that want one of the events; all waits on fd if it has an
 * error. */
static void end_waits(struct epoll_backend *e, int fd, uint32_t events,
		      int result)
{
	struct by_fd *n = *sn_by_fds_on(&e->waits.by, fd);
	const bool    all = events & (EPOLLERR | EPOLLHUP);
	bool          others = false;
	int           err;

	while (n) {
		struct ready_wait *this = sn_ready_wait_of(n);

		n = n->next;
		if (this->fd != fd)
			continue;
		if (all || this->events & events)
			end_wait(e, this, result);
		else
			others = true;
	}
	err = others ? sn_interest_arm(&e->interest, fd) : 0;
	if (err)
		end_waits(e, fd, ~0u, err);
}

/* Without epoll_pwait2(): before Linux 5.11, or if a filter denies it. */
static int wait_ms(struct epoll_backend *e, const struct timespec *left)
{
	return epoll_wait(e->fd, e->events, BATCH, sn_io_milliseconds(left));
}

/* Record an event of a watched socket, unless it is of an earlier use of the
 * number. */
static bool record_event(struct epoll_backend     *e,
			 const struct epoll_event *event)
{
	struct watch *w = sn_io_watches_find(&e->b.watches,
					     (int)event->data.u64);

	if (!w || w->use != event->data.u64 >> 32)
		return false;
	w->may_hold |= (uint16_t)event->events;
	return true;
}

/* Wait for events; with a deadline of 0, get those that are there. Returns
 * their number or a negative errno. */
static int get_events(struct epoll_backend *e, sennit_time deadline)
{
	const bool       ends = deadline != SENNIT_NEVER;
	sennit_time      now = ends && deadline ? sennit_now() : deadline;
	struct timespec  left = sn_io_time_left(deadline, now);
	struct timespec *limit = ends ? &left : NULL;
	int              n = -1;

	/* No fiber waits for the events that were not handled. */
	while (e->at < e->count)
		(void)record_event(e, &e->events[e->at++]);
	if (!e->coarse) {
		n = epoll_pwait2(e->fd, e->events, BATCH, limit, NULL);
		e->coarse = n < 0 && (errno == ENOSYS || errno == EPERM);
	}
	if (e->coarse)
		n = wait_ms(e, limit);
	sn_io_refusal_check(&e->refusal, n < 0 ? -errno : n, "epoll");
	if (n < 0)
		return -errno;
	if (e->waits.by.count)
		e->interest.now = sennit_now();
	e->at = 0;
	e->count = n;
	e->busy = n > 1;
	return n;
}

/* End the waits whose watch cannot be renewed, because the number is no
 * descriptor now. Their callers retry. */
static void end_stale_waits(struct epoll_backend *e)
{
	int fd;

	while (e->interest.now > WATCH_TRUST &&
	       (fd = sn_interest_check(&e->interest,
				       e->interest.now - WATCH_TRUST)) >= 0)
		end_waits(e, fd, ~0u, 0);
}

static void prefetch_waits(const struct epoll_backend *e, int at)
{
	if (at < e->count)
		sn_io_fetch_record(*sn_by_fds_on(&e->waits.by,
						 (int)e->events[at].data.u64));
}

static void handle_epoll_events(struct epoll_backend *e)
{
	while (e->at < e->count) {
		const struct epoll_event *event = &e->events[e->at++];

		prefetch_waits(e, e->at + IO_FETCH_AHEAD);
		if (event->data.u64 == WAKE_EVENT)
			continue;
		if (event->data.u64 <= UINT32_MAX || record_event(e, event))
			end_waits(e, (int)event->data.u64, event->events, 0);
	}
	if (unlikely(e->waits.trusting))
		end_stale_waits(e);
}

/* --- the poller --------------------------------------------------------- */

/* Another thread may have closed the descriptor of `by`. */
static void end_ready_wait_if_closed(struct io_backend *b, struct by_fd *by)
{
	struct ready_wait *n = sn_ready_wait_of(by);
	int                end = sn_io_closing_end_of(n->fd, n->begun);

	if (end)
		end_wait(epoll_of(&b->p), n, end == -EINTR ? 0 : end);
}

static bool has_epoll_closed(const struct epoll_backend *e)
{
	return sn_io_closing_is_pending(&e->b.closing);
}

static void handle_epoll_closed(struct epoll_backend *e)
{
	sn_io_closing_take(&e->b, &e->b.closing, &e->waits.by,
			   end_ready_wait_if_closed);
}

static void handle_new_epoll_events(struct epoll_backend *e)
{
	if (e->at == e->count)
		(void)get_events(e, 0);
	handle_epoll_events(e);
}

/* A single event leads to the sleep. That gets the next event as fast as a poll
 * here, with one call instead of two. */
void sn_io_epoll_turn(sennit_poller *p)
{
	struct epoll_backend *e = epoll_of(p);

	e->peeks = 0;
	handle_epoll_closed(e);
	if (e->busy || e->at < e->count)
		handle_new_epoll_events(e);
}

static void peek_epoll(sennit_poller *p)
{
	struct epoll_backend *e = epoll_of(p);

	handle_epoll_closed(e);
	if (e->at < e->count || ++e->peeks % EPOLL_PEEKS == 0)
		handle_new_epoll_events(e);
}

/* A sleep has asked the kernel just before, and the next sleep usually comes
 * soon. A fiber that is woken runs after those that were woken before, so the
 * kernel need not be asked while some of those have not run. */
static void flush_epoll(sennit_poller *p)
{
	struct epoll_backend *e = epoll_of(p);

	handle_epoll_closed(e);
	e->late = e->woken;
	if (e->slept || e->woken)
		handle_epoll_events(e);
	else
		handle_new_epoll_events(e);
	e->slept = false;
}

/* Wait for events. The watches on which waits rely are checked before a second
 * sleep without an event, and a sleep ends when a wait has relied on its watch
 * for WATCH_TRUST. A failed check counts as an event, so that the caller
 * retries. */
static int get_events_checked(struct epoll_backend *e, sennit_time deadline)
{
	sennit_time trusted = e->interest.now + WATCH_TRUST;
	int fd = e->quiet ? sn_interest_check(&e->interest, SENNIT_NEVER) : -1;
	int n;

	if (unlikely(fd >= 0)) {
		e->events[0].events = EPOLLERR;
		e->events[0].data.u64 = (uint32_t)fd;
		e->at = 0;
		e->count = 1;
		return 1;
	}
	n = get_events(e, e->waits.trusting && trusted < deadline ? trusted
								  : deadline);
	e->quiet = !n;
	return n;
}

static enum sennit_poller_end sleep_epoll_until(sennit_poller *p,
						sennit_time    deadline)
{
	struct epoll_backend *e = epoll_of(p);
	int                   n;

	if (e->waits.by.count && (e->at < e->count || has_epoll_closed(e)))
		return SENNIT_POLLER_READY;
	e->slept = true;
	n = get_events_checked(e, deadline);
	if (n > 1 || (n == 1 && e->events[0].data.u64 != WAKE_EVENT) ||
	    (e->waits.by.count && has_epoll_closed(e)))
		return SENNIT_POLLER_READY;
	if (n == 0 && deadline != SENNIT_NEVER && sennit_now() >= deadline)
		return SENNIT_POLLER_TIMEOUT;
	return SENNIT_POLLER_WOKEN;
}

static void wake_epoll(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(epoll_of(p)->wake_fd, &one, sizeof(one));
}

static void destroy_epoll(sennit_poller *p)
{
	struct epoll_backend   *e = epoll_of(p);
	const sennit_allocator *a = e->b.memory;

	sn_io_closing_remove(&e->b.closing);
	sn_stream_check_closed(&e->b);
	sn_close_on_fork_close(e->fd);
	sn_close_on_fork_close(e->wake_fd);
	sn_by_fds_free(&e->waits.by);
	sn_by_fds_free(&e->b.members);
	sn_io_watches_free(&e->b.watches);
	a->release(a->context, e, sizeof(*e));
}

/* --- the backend -------------------------------------------------------- */

static int wait_counted(struct epoll_backend *e, struct ready_wait *n,
			bool tried, sennit_time deadline)
{
	int err;

	sn_by_fds_add(&e->waits.by, &n->by, n->fd);
	err = sn_interest_begin(&e->interest, n, tried);
	if (!err)
		err = sennit_poller_wait(&n->op, n->fd, deadline);
	if (unlikely(err == -ETIMEDOUT && e->late))
		handle_new_epoll_events(e); /* data beats the deadline */
	if (n->op.done) {
		e->woken--;
		return n->op.result;
	}
	sn_ready_waits_remove(&e->waits, n);
	return err;
}

static int wait_epoll_ready(struct io_backend *b, const struct io_ready *w)
{
	struct ready_wait n = { .op = { .selection = w->select },
				.fd = w->fd,
				.events = (uint16_t)w->events,
				.begun = w->begun };
	int               err = 0;

	if (w->fd < 0)
		return -EBADF;
	sn_io_closing_begin(&b->closing, w->fd);
	if (likely(!sn_io_closing_is_over(w->fd, w->begun)))
		err = wait_counted(epoll_of(&b->p), &n, w->tried, w->deadline);
	sn_io_closing_end(&b->closing, w->fd);
	/* The number may have been reused by now. */
	return !err && sn_io_closing_is_over(w->fd, w->begun) ? -ECANCELED
							      : err;
}

static void forget_epoll_waits(struct io_backend *b, int fd)
{
	if (fd >= 0)
		end_waits(epoll_of(&b->p), fd, ~0u, -ECANCELED);
}

static const struct io_backend_ops epoll_ops = {
	.poller = { .size = sizeof(sennit_poller_ops),
		    .turn = sn_io_epoll_turn,
		    .peek = peek_epoll,
		    .flush = flush_epoll,
		    .sleep = sleep_epoll_until,
		    .wake = wake_epoll,
		    .destroy = destroy_epoll },
	.name = "epoll",
	.wait_ready = wait_epoll_ready,
	.forget = forget_epoll_waits,
};

static int open_descriptors(struct epoll_backend *e)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int                err;

	event.data.u64 = WAKE_EVENT;
	e->fd = sn_own_fd(epoll_create1(EPOLL_CLOEXEC));
	if (e->fd < 0)
		return -errno;
	e->wake_fd = sn_own_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (e->wake_fd < 0 ||
	    epoll_ctl(e->fd, EPOLL_CTL_ADD, e->wake_fd, &event))
		return -errno;
	err = sn_close_on_fork_add(e->fd);
	return err ? err : sn_close_on_fork_add(e->wake_fd);
}

int sn_io_epoll_make(struct io_backend **out, const sennit_allocator *memory)
{
	struct epoll_backend *e;
	int                   err;

	e = memory->allocate(memory->context, sizeof(*e), _Alignof(void *));
	if (!e)
		return -ENOMEM;
	memset(e, 0, offsetof(struct epoll_backend, events));
	e->b.p.ops = &epoll_ops.poller;
	e->b.ops = &epoll_ops;
	e->b.memory = memory;
	e->b.watches.memory = memory;
	e->interest.waits = &e->waits;
	e->interest.watches = &e->b.watches;
	e->interest.closing = &e->b.closing;
	e->fd = e->wake_fd = -1;
	sn_by_fds_init(&e->waits.by, memory);
	sn_by_fds_init(&e->b.members, memory);
	err = open_descriptors(e);
	e->interest.epoll = e->b.closing.epoll = e->fd;
	e->b.closing.registered = e->registered;
	if (err) {
		destroy_epoll(&e->b.p);
		return err;
	}
	*out = &e->b;
	return 0;
}
