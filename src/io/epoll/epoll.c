/* SPDX-License-Identifier: Apache-2.0 */
#include "io/epoll/epoll.h"

#include "base/compiler.h"
#include "io/engine/closing.h"
#include "io/engine/linux_calls.h"
#include "io/engine/request.h"
#include "io/epoll/registration.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Events that one call takes at most. */
#define BATCH 128

/* Between two searches of a worker that ask the kernel: some 800 ns. */
#define PEEKS 8

/* The event descriptor's events. */
#define WAKE_EVENT UINT64_MAX

struct epoll_backend {
	struct io_backend  b; /* first */
	int                fd;
	int                wake_fd;
	int                at, count; /* events that are not yet taken */
	bool               busy;      /* the last look found several */
	bool               coarse;    /* the kernel counts in milliseconds */
	uint32_t           peeks;
	bool               slept; /* and has not flushed since */
	bool               quiet; /* the last sleep found nothing */
	uint32_t           woken; /* who have not run since their waits ended */
	bool               late;  /* a look was left out for them */
	struct refusal     refusal;
	struct ready_waits waits;
	struct interest    interest;
	struct epoll_event events[BATCH];
};

static struct epoll_backend *of(sennit_poller *p)
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

/* End the waits on fd that want one of the events, or all with this error. */
static void end_waits(struct epoll_backend *e, int fd, uint32_t events,
		      int result)
{
	struct ready_wait *n = *sn_ready_waits_on(&e->waits, fd);
	bool               others = false;
	int                err;

	events |= events & (EPOLLERR | EPOLLHUP) ? ~0u : 0;
	while (n) {
		struct ready_wait *this = n;

		n = n->next;
		if (this->fd != fd)
			continue;
		if (this->events & events)
			end_wait(e, this, result);
		else
			others = true;
	}
	err = others ? sn_interest_arm(&e->interest, fd) : 0;
	if (err)
		end_waits(e, fd, ~0u, err);
}

/* Where there is no epoll_pwait2: before Linux 5.11, and under filters. */
static int wait_ms(struct epoll_backend *e, const struct timespec *left)
{
	return epoll_wait(e->fd, e->events, BATCH, sn_io_milliseconds(left));
}

/* An event of a watched socket, if not of an earlier use of the number. */
static bool keep(struct epoll_backend *e, const struct epoll_event *event)
{
	struct watch *w = sn_io_watches_find(&e->b.watches,
					     (int)event->data.u64);

	if (!w || w->use != event->data.u64 >> 32)
		return false;
	w->may_hold |= (uint16_t)event->events;
	return true;
}

/* Wait for events; 0: take those that are there. How many, or an errno. */
static int ask(struct epoll_backend *e, sennit_time deadline)
{
	const bool       ends = deadline != SENNIT_NEVER;
	sennit_time      now = ends && deadline ? sennit_now() : deadline;
	struct timespec  left = sn_io_time_left(deadline, now);
	struct timespec *limit = ends ? &left : NULL;
	int              n = -1;

	/* Nobody waits, so nobody has taken them. */
	while (e->at < e->count)
		(void)keep(e, &e->events[e->at++]);
	if (!e->coarse) {
		n = epoll_pwait2(e->fd, e->events, BATCH, limit, NULL);
		e->coarse = n < 0 && (errno == ENOSYS || errno == EPERM);
	}
	if (e->coarse)
		n = wait_ms(e, limit);
	sn_io_refusal_check(&e->refusal, n < 0 ? -errno : n, "epoll");
	if (n < 0)
		return -errno;
	if (e->waits.count)
		e->interest.now = sennit_now();
	e->at = 0;
	e->count = n;
	e->busy = n > 1;
	return n;
}

/* Who waited for what is no descriptor now tries again. */
static void check_old(struct epoll_backend *e)
{
	int fd;

	while (e->interest.now > WATCH_TRUST &&
	       (fd = sn_interest_check(&e->interest,
				       e->interest.now - WATCH_TRUST)) >= 0)
		end_waits(e, fd, ~0u, 0);
}

static void fetch(const struct epoll_backend *e, int at)
{
	if (at < e->count)
		sn_io_fetch_record(*sn_ready_waits_on(
			&e->waits, (int)e->events[at].data.u64));
}

static void take(struct epoll_backend *e)
{
	while (e->at < e->count) {
		const struct epoll_event *event = &e->events[e->at++];

		fetch(e, e->at + IO_FETCH_AHEAD);
		if (event->data.u64 == WAKE_EVENT)
			continue;
		if (event->data.u64 <= UINT32_MAX || keep(e, event))
			end_waits(e, (int)event->data.u64, event->events, 0);
	}
	if (unlikely(e->waits.trusting))
		check_old(e);
}

/* --- the poller --------------------------------------------------------- */

/* Others have closed descriptors. */
static void end_closed(struct epoll_backend *e)
{
	for (uint32_t i = 0; i <= e->waits.mask; i++)
		for (struct ready_wait *n = e->waits.lists[i], *next; n;
		     n = next) {
			int end = sn_io_closing_end_of(n->fd, n->begun);

			next = n->next;
			if (end)
				end_wait(e, n, end == -EINTR ? 0 : end);
		}
	sn_io_several_end_closed(&e->b);
}

static bool is_pending(const struct epoll_backend *e)
{
	return sn_io_closing_is_pending(&e->b.closing);
}

static void take_closed(struct epoll_backend *e)
{
	if (unlikely(sn_io_closing_take(&e->b.closing)))
		end_closed(e);
}

static void take_new(struct epoll_backend *e)
{
	if (e->at == e->count)
		(void)ask(e, 0);
	take(e);
}

/* A lone event leads to the sleep, which finds the next as fast as a look
 * would, and costs one call instead of two. */
void sn_io_epoll_turn(sennit_poller *p)
{
	struct epoll_backend *e = of(p);

	e->peeks = 0;
	take_closed(e);
	if (e->busy || e->at < e->count)
		take_new(e);
}

static void peek(sennit_poller *p)
{
	struct epoll_backend *e = of(p);

	take_closed(e);
	if (e->at < e->count || ++e->peeks % PEEKS == 0)
		take_new(e);
}

/* A sleep has looked just before, and the next one mostly comes soon. Whoever
 * is found runs after those that were woken before, so there is no hurry while
 * some of those are left. */
static void flush(sennit_poller *p)
{
	struct epoll_backend *e = of(p);

	take_closed(e);
	e->late = e->woken;
	if (e->slept || e->woken)
		take(e);
	else
		take_new(e);
	e->slept = false;
}

/* Wait for events. Waits that trust are checked before a second sleep without
 * an event, and no sleep is longer than they may trust. Where a check fails
 * there is an event, so that who waits tries again. */
static int ask_trusting(struct epoll_backend *e, sennit_time deadline)
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
	n = ask(e,
		e->waits.trusting && trusted < deadline ? trusted : deadline);
	e->quiet = !n;
	return n;
}

static enum sennit_poller_end sleep_until(sennit_poller *p,
					  sennit_time    deadline)
{
	struct epoll_backend *e = of(p);
	int                   n;

	if (e->waits.count && (e->at < e->count || is_pending(e)))
		return SENNIT_POLLER_READY;
	e->slept = true;
	n = ask_trusting(e, deadline);
	if (n > 1 || (n == 1 && e->events[0].data.u64 != WAKE_EVENT) ||
	    (e->waits.count && is_pending(e)))
		return SENNIT_POLLER_READY;
	if (n == 0 && deadline != SENNIT_NEVER && sennit_now() >= deadline)
		return SENNIT_POLLER_TIMEOUT;
	return SENNIT_POLLER_WOKEN;
}

static void wake(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(of(p)->wake_fd, &one, sizeof(one));
}

static void destroy(sennit_poller *p)
{
	struct epoll_backend   *e = of(p);
	const sennit_allocator *a = e->b.memory;

	sn_io_closing_remove(&e->b.closing);
	sn_stream_check_closed(&e->b);
	sn_close_on_fork_close(e->fd);
	sn_close_on_fork_close(e->wake_fd);
	sn_ready_waits_free(&e->waits);
	sn_io_watches_free(&e->b.watches);
	a->release(a->context, e, sizeof(*e));
}

/* --- the backend -------------------------------------------------------- */

static int wait_counted(struct epoll_backend *e, struct ready_wait *n,
			bool tried, sennit_time deadline)
{
	int err;

	sn_ready_waits_add(&e->waits, n);
	err = sn_interest_begin(&e->interest, n, tried);
	if (!err)
		err = sennit_poller_wait(&n->op, n->fd, deadline);
	if (unlikely(err == -ETIMEDOUT && e->late))
		take_new(e); /* data beats the deadline */
	if (n->op.done) {
		e->woken--;
		return n->op.result;
	}
	sn_ready_waits_remove(&e->waits, n);
	return err;
}

static int wait_ready(struct io_backend *b, const struct io_ready *w)
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
		err = wait_counted(of(&b->p), &n, w->tried, w->deadline);
	sn_io_closing_end(&b->closing, w->fd);
	/* The number may mean another descriptor by now. */
	return !err && sn_io_closing_is_over(w->fd, w->begun) ? -ECANCELED
							      : err;
}

static void forget(struct io_backend *b, int fd)
{
	if (fd >= 0)
		end_waits(of(&b->p), fd, ~0u, -ECANCELED);
}

static const struct io_backend_ops epoll_ops = {
	.poller = { .size = sizeof(sennit_poller_ops),
		    .turn = sn_io_epoll_turn,
		    .peek = peek,
		    .flush = flush,
		    .sleep = sleep_until,
		    .wake = wake,
		    .destroy = destroy },
	.name = "epoll",
	.wait_ready = wait_ready,
	.forget = forget,
};

static int open_descriptors(struct epoll_backend *e)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int                err;

	event.data.u64 = WAKE_EVENT;
	e->fd = epoll_create1(EPOLL_CLOEXEC);
	if (e->fd < 0)
		return -errno;
	e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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
	e->fd = e->wake_fd = -1;
	err = sn_ready_waits_init(&e->waits, memory);
	if (!err)
		err = open_descriptors(e);
	e->interest.epoll = e->fd;
	if (err) {
		destroy(&e->b.p);
		return err;
	}
	*out = &e->b;
	return 0;
}
