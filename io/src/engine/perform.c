/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perform.h"

#include "base/compiler.h"
#include "base/own_fd.h"
#include "engine/nonblock.h"
#include "engine/request.h"
#include "epoll/epoll.h"
#include "epoll/registration.h"
#include "simulated/network.h"
#include "uring/uring.h"
#include "sennit/blocking.h"
#include "sennit/fiber.h"
#include "sennit/group.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

static bool is_mode_of_file(mode_t mode)
{
	return S_ISREG(mode) || S_ISBLK(mode) || S_ISDIR(mode);
}

/* poll() always reports files as ready, but their operations wait. Not inlined:
 * the record would be on the stack of each fiber that waits. With -O3 and
 * link-time optimisation that touched a second page in one fiber in eight. */
static NOINLINE bool is_file(int fd)
{
	struct stat s;

	return !fstat(fd, &s) && is_mode_of_file(s.st_mode);
}

/* How often a thread checks if fd was closed, if no descriptor reports it. */
#define CHECK_INTERVAL (10 * SENNIT_MILLISECOND)

/* The same where many may wait, and the longest pause between two attempts. */
#define LONGEST_PAUSE (64 * SENNIT_MILLISECOND)

static sennit_time least(sennit_time a, sennit_time b)
{
	return a < b ? a : b;
}

int sn_io_poll_until(struct pollfd p[], unsigned count, sennit_time deadline)
{
	struct timespec left;
	sennit_time     now = sennit_now();
	bool            ends = deadline < SENNIT_UNCANCELLED;
	int             n;

	if (deadline <= now)
		return -ETIMEDOUT;
	if (p[1].fd < 0 && deadline - now > CHECK_INTERVAL) {
		deadline = now + CHECK_INTERVAL;
		ends = true;
	}
	left = sn_io_time_left(deadline, now);
	n = ppoll(p, count, ends ? &left : NULL, NULL);
	if (n < 0 && errno == EINVAL) { /* count is above RLIMIT_NOFILE */
		left = sn_io_time_left(least(deadline, now + CHECK_INTERVAL),
				       now);
		n = ppoll(NULL, 0, &left, NULL);
	}
	/* After an early return the caller retries and waits again. */
	return n < 0 && errno != EINTR ? -errno : 0;
}

int sn_io_poll_now(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int           n = poll(&p, 1, 0);

	return n < 0 ? -errno : n ? p.revents : 0;
}

/* Whether fd is a file that is always ready. Some files of /proc can be
 * polled. */
static bool is_always_ready(int fd)
{
	int set;

	if (!is_file(fd))
		return false;
	set = sn_io_set_make(fd, 0);
	if (set >= 0)
		close(set);
	return set == -EPERM;
}

/* Wait, on an unbound thread, until `polled` has one of the events. It is
 * w->fd, or a set that contains it. */
static int wait_fd_as_thread(const struct io_ready *w, int polled, short events,
			     int beside)
{
	const struct pollfd   on[2] = { { .fd = w->fd }, { .fd = beside } };
	struct io_thread_wait t;
	struct pollfd         p[2] = { { .fd = polled, .events = events },
				       { .events = POLLIN } };
	int                   err = 0;
	int                   end;

	if (w->fd < 0)
		return -EBADF;
	p[1].fd = sn_io_closing_begin_thread(&t, on, 2, w->begun);
	if (!sn_io_closing_is_over(w->fd, w->begun))
		err = sn_io_poll_until(p, 2, w->deadline);
	end = sn_io_closing_end_thread(&t);
	return end == -ECANCELED ? end : err;
}

static int wait_fd_event(struct io_backend *b, const struct io_ready *w)
{
	if (b)
		return b->ops->wait_ready(b, w);
	return is_always_ready(w->fd)
		       ? -EPERM
		       : wait_fd_as_thread(w, w->fd, w->events, -1);
}

/* --- sets --------------------------------------------------------------- */

/* ThreadSanitizer's epoll_ctl() reports a race if another thread closes fd at
 * the same time. */
int sn_io_set_control(int set, int op, int fd, struct epoll_event *event)
{
#ifdef SN_TSAN
	return (int)syscall(SYS_epoll_ctl, set, op, fd, event);
#else
	return epoll_ctl(set, op, fd, event);
#endif
}

int sn_io_set_make(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int                set = sn_own_fd(epoll_create1(EPOLL_CLOEXEC));
	int                err;

	if (set < 0 || !sn_io_set_control(set, EPOLL_CTL_ADD, fd, &event))
		return set < 0 ? -errno : set;
	err = -errno;
	close(set);
	return err;
}

/* Wait until `set`, which contains w->fd, has an event. Returns as
 * wait_fd_ready. */
static int wait_by_set(struct io_backend *b, const struct io_ready *w, int set)
{
	const struct pollfd on = { .fd = w->fd };
	struct io_member    member;
	struct io_several   s = { .fds = &on, .count = 1, .members = &member };
	struct io_ready     by = { .fd = set,
				   .events = POLLIN,
				   .deadline = w->deadline,
				   .select = w->select };
	int                 err = 0;
	int                 end;

	if (!b)
		return wait_fd_as_thread(w, set, POLLIN, -1);
	sn_io_several_begin(b, &s);
	s.set = set;
	by.begun = s.begun;
	if (!sn_io_closing_is_over(w->fd, w->begun))
		err = b->ops->wait_ready(b, &by);
	end = sn_io_several_end(b, &s);
	if (sn_io_closing_is_over(w->fd, w->begun))
		return -ECANCELED;
	return end ? 0 : err; /* -EINTR: another descriptor was closed */
}

/* Whether the ring cannot wait on fd. It ends each wait at once if the peer has
 * shut down sending, which matters only to a reader. And it does not see an
 * urgent byte of TCP in a wait for nothing else (seen on 6.18). */
static bool suits_no_ring(const struct io_backend *b, const struct io_ready *w)
{
	return b->ops->perform && !(w->events & POLLIN) &&
	       (w->events & POLLPRI ||
		(!(w->events & POLLRDHUP) &&
		 sn_io_poll_now(w->fd, POLLRDHUP) & POLLRDHUP));
}

/* No descriptor is left for a set: check again after a pause. A select that may
 * not be cancelled fails, because there is no such wait with a deadline. */
static int wait_without_set(const struct io_ready *w, int err)
{
	const sennit_time soon = sennit_after(LONGEST_PAUSE);
	sennit_time       pause = LONGEST_PAUSE;
	sennit_poller_op  op = { .selection = w->select };

	if (w->deadline == SENNIT_UNCANCELLED)
		return w->select ? err : sn_io_pause(&pause, w->deadline);
	err = sennit_poller_wait(&op, w->fd, least(soon, w->deadline));
	return err == -ETIMEDOUT && soon < w->deadline ? 0 : err;
}

int sn_io_wait_alone(struct io_backend *b, const struct io_ready *w)
{
	int set, err;

	if (!suits_no_ring(b, w))
		return b->ops->wait_ready(b, w);
	set = sn_io_set_make(w->fd, (uint16_t)w->events);
	if (set < 0)
		return wait_without_set(w, set);
	err = wait_by_set(b, w, set);
	close(set);
	return err;
}

/* Wait with SENNIT_UNCANCELLED, but until `until` at most: by a set that has a
 * timer, because a wait with another deadline could be cancelled. The time is
 * absolute: what is left may be 0 by now, which would set no timer. */
static int wait_with_timer(struct io_backend *b, const struct io_ready *w,
			   sennit_time until)
{
	struct epoll_event      event = { .events = EPOLLIN };
	const struct itimerspec at = { .it_value = sn_io_time_left(until, 0) };
	int timer = sn_own_fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
	int set = sn_io_set_make(w->fd, (uint16_t)w->events);
	int err;

	if (timer < 0 || set < 0 ||
	    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) ||
	    sn_io_set_control(set, EPOLL_CTL_ADD, timer, &event))
		err = wait_without_set(w, -EMFILE);
	else
		err = wait_by_set(b, w, set);
	if (timer >= 0)
		close(timer);
	if (set >= 0)
		close(set);
	return err;
}

/* --- looks -------------------------------------------------------------- */

/* The longest time between two looks. Many calls may wait so, and each look
 * takes some microseconds: with pauses of LONGEST_PAUSE 9,000 of them took a
 * third of a CPU. */
#define LONGEST_LOOK SENNIT_SECOND

/* The time of the next look; the deadline if that is earlier. */
static sennit_time next_look(sennit_time *pause, sennit_time deadline)
{
	const sennit_time length = *pause;

	*pause = least(2 * length, LONGEST_LOOK);
	return least(sennit_after(length), deadline);
}

/* Not inlined: the copy would be on the stack of each wait. */
static NOINLINE int wait_fd_until_look(struct io_backend *b, struct io_ready *w)
{
	struct io_ready some = *w;
	int             err;

	some.deadline = next_look(&w->look, w->deadline);
	if (b && w->deadline == SENNIT_UNCANCELLED)
		return wait_with_timer(b, w, some.deadline);
	err = wait_fd_event(b, &some);
	return err == -ETIMEDOUT && some.deadline < w->deadline ? 0 : err;
}

static int wait_fd_ready(struct io_backend *b, struct io_ready *w)
{
	return w->look ? wait_fd_until_look(b, w) : wait_fd_event(b, w);
}

static int wait_beside(struct io_backend *b, const struct io_ready *w,
		       int beside, sennit_time until)
{
	struct io_ready some = *w;
	int             err;

	some.deadline = until;
	if (!b)
		return is_always_ready(w->fd)
			       ? -EPERM
			       : wait_fd_as_thread(&some, w->fd, w->events,
						   beside);
	sn_io_closing_begin(&b->closing, beside);
	err = w->deadline == SENNIT_UNCANCELLED && until < w->deadline
		      ? wait_with_timer(b, w, until)
		      : sn_io_wait_alone(b, &some);
	sn_io_closing_end(&b->closing, beside);
	return !err && sn_io_closing_is_over(beside, w->begun) ? -ECANCELED
							       : err;
}

int sn_io_wait_ready(int fd, short events, int beside, uint64_t begun,
		     sennit_time deadline, sennit_time *look)
{
	const struct io_ready w = {
		.fd = fd, .events = events, .begun = begun, .deadline = deadline
	};
	struct io_backend *b;
	sennit_time        until;
	int                err = sn_io_backend_here(&b);

	if (err)
		return err;
	until = look ? next_look(look, deadline) : deadline;
	err = wait_beside(b, &w, beside, until);
	return err == -ETIMEDOUT && until < deadline ? 0 : err;
}

/* --- pauses ------------------------------------------------------------- */

int sn_io_is_late(sennit_time deadline)
{
	if (sennit_now() >= deadline)
		return -ETIMEDOUT;
	return deadline == SENNIT_UNCANCELLED ? 0 : sennit_check_cancelled();
}

static sennit_time next_pause(sennit_time *pause)
{
	const sennit_time now = *pause;

	*pause = least(2 * now, LONGEST_PAUSE);
	return now;
}

static void *nap(void *pause)
{
	const struct timespec length = sn_io_time_left(*(sennit_time *)pause,
						       0);

	(void)nanosleep(&length, NULL);
	return NULL;
}

int sn_io_pause(sennit_time *pause, sennit_time deadline)
{
	sennit_time length = next_pause(pause);
	int         err = sn_io_is_late(deadline);

	if (err)
		return err;
	/* A sleep would end at once in a cancelled group. */
	if (deadline == SENNIT_UNCANCELLED)
		return sennit_blocking_call_until(nap, &length, NULL, deadline);
	return sennit_sleep_until(least(sennit_after(length), deadline));
}

/* --- requests in a blocking call ---------------------------------------- */

struct blocked_request {
	const struct io_request *r;
	ptrdiff_t (*run)(const struct io_request *r);
	uint64_t  begun;
	ptrdiff_t result;
	pthread_t by; /* the thread that made the call */
};

/* Whether a write beyond the size limit raises a signal. */
static bool is_size_limited(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY;
}

/* Another thread made the call, so its signal is lost: raise it here. */
static void signal_here(const struct io_request *r, ptrdiff_t result)
{
	if (result == -EPIPE && r->kind == IO_WRITEV)
		(void)raise(SIGPIPE);
	else if (result == -EFBIG && is_size_limited())
		(void)raise(SIGXFSZ);
}

/* The call may have waited for a thread: check for a close first. */
static void *block(void *argument)
{
	struct blocked_request *c = argument;

	c->by = pthread_self();
	do
		c->result = sn_io_closing_is_over(c->r->fd, c->begun)
				    ? -ECANCELED
				    : c->run(c->r);
	while (c->result == -EINTR);
	return NULL;
}

static NOINLINE ptrdiff_t
run_elsewhere(ptrdiff_t (*run)(const struct io_request *r),
	      const struct io_request *r, uint64_t begun, sennit_time deadline)
{
	struct blocked_request c = { .r = r, .run = run, .begun = begun };
	int err = sennit_blocking_call_until(block, &c, NULL, deadline);

	if (err)
		return err;
	if (unlikely(c.result < 0) && !pthread_equal(c.by, pthread_self()))
		signal_here(r, c.result);
	return c.result;
}

static ptrdiff_t in_blocking_call(const struct io_request *r, uint64_t begun,
				  sennit_time deadline)
{
	return run_elsewhere(r->block, r, begun, deadline);
}

/* r could not be tried here. Only a file waits, so this call ends: with -EAGAIN
 * if a device is not ready. */
static ptrdiff_t attempt_elsewhere(const struct io_request *r, uint64_t begun,
				   sennit_time deadline)
{
	if (is_file(r->fd))
		return in_blocking_call(r, begun, deadline);
	return run_elsewhere(sn_io_nonblock_do, r, begun,
			     deadline ? deadline : SENNIT_NEVER);
}

/* --- requests ----------------------------------------------------------- */

static ptrdiff_t attempt(const struct io_request *r)
{
	ptrdiff_t result;

	do
		result = r->attempt(r);
	while (result == -EINTR);
	return result;
}

/* Receive from a watched socket, unless nothing has come since the last receive
 * that emptied it. */
static ptrdiff_t attempt_watched(struct watch *w, const struct io_request *r)
{
	ptrdiff_t result;

	if (!(w->may_hold & WATCH_RECEIVABLE))
		return -EAGAIN;
	result = attempt(r);
	if (sn_io_is_short(r, result))
		w->may_hold &= (uint16_t)~EPOLLIN;
	return result;
}

/* As attempt(), but skip an attempt that probably gets -EAGAIN. If the guess is
 * wrong, the wait ends at once. */
static ptrdiff_t attempt_by_guess(struct io_backend       *b,
				  const struct io_request *r,
				  sennit_time              deadline)
{
	struct watch *w;
	ptrdiff_t     result;

	if (!b || r->kind != IO_RECV || r->flags || !deadline)
		return attempt(r);
	w = sn_io_watches_find(&b->watches, r->fd);
	if (w)
		return attempt_watched(w, r);
	if (sn_io_guess_take(b, r->fd))
		return -EAGAIN;
	result = attempt(r);
	if (sn_io_is_short(r, result))
		sn_io_guess_drained(b, r->fd);
	return result;
}

/* --- the end of what never ends ------------------------------------------ */

/* Where a receive that waits returns 0, one with MSG_DONTWAIT gets -EAGAIN: on
 * a datagram socket that was shut down. So does an accept on a unix listener
 * that was shut down, where one that waits returns -EINVAL. Data may have come
 * between the last attempt and this check, so there is one more attempt. */
static bool is_at_end(const struct io_request *r, int there)
{
	return there > 0 && there & POLLRDHUP && r->events & POLLIN &&
	       (r->kind == IO_RECV || r->kind == IO_RECVMSG ||
		r->kind == IO_READV || r->kind == IO_ACCEPT);
}

static ptrdiff_t attempt_last(const struct io_request *r)
{
	ptrdiff_t last = attempt(r);

	if (last != -EAGAIN)
		return last;
	if (r->kind == IO_RECVMSG) {
		r->message->msg_namelen = 0;
		r->message->msg_controllen = 0;
		r->message->msg_flags = r->flags & MSG_CMSG_CLOEXEC;
	}
	return r->kind == IO_ACCEPT ? -EINVAL : 0;
}

/* The result of an attempt, as the caller gets it. -EAGAIN: wait. */
static ptrdiff_t settle(const struct io_request *r, uint64_t begun,
			sennit_time deadline, ptrdiff_t result)
{
	if (result == -EOPNOTSUPP && r->block)
		result = attempt_elsewhere(r, begun, deadline);
	if (result != -EAGAIN || deadline)
		return result;
	if (is_at_end(r, sn_io_poll_now(r->fd, POLLRDHUP)))
		return attempt_last(r);
	return is_file(r->fd) && r->block ? in_blocking_call(r, begun, deadline)
					  : -ETIMEDOUT;
}

/* --- attempts that fail after a wait ------------------------------------ */

/* A wait has ended, and the attempt after it got -EAGAIN. Another fiber may
 * have been faster. Or the descriptor has an event that always ends a wait and
 * does not help this call: an error in a queue that is not read, the peer's
 * half-close, which the ring reports, or room that is too small for this
 * datagram. A plain wait would then end at once, again and again.
 *
 *	no event            wait as before
 *	another event       wait on an edge-triggered set, which reports each
 *	                    event once, when it comes. From the second on there
 *	                    is a pause, too, unless the awaited event is there:
 *	                    a write to a terminal's master that was hung up
 *	                    makes an event for its own writer
 *	the awaited event   no event announces when the call will succeed: retry
 *	                    after pauses that grow. Not with the set: a datagram
 *	                    that is refused makes an event for its own sender
 *
 * So there are no more attempts than events and pauses. Each turn checks the
 * deadline and cancelling. */
struct retries {
	int         set;     /* edge-triggered; negative: none */
	bool        in_vain; /* it has reported an event */
	sennit_time pause;
};

static int pause_unless_closed(const struct io_ready *w, struct retries *v)
{
	int err = sn_io_pause(&v->pause, w->deadline);

	return sn_io_closing_is_over(w->fd, w->begun) ? -ECANCELED : err;
}

/* `there`: what poll() reports. */
static int wait_again(struct io_backend *b, struct io_ready *w,
		      struct retries *v, int there)
{
	struct epoll_event event;
	int                err = sn_io_is_late(w->deadline);

	if (err || (!there && v->set < 0))
		return err ? err : wait_fd_ready(b, w);
	if (v->set < 0 && !(there & w->events))
		v->set = sn_io_set_make(w->fd, (uint16_t)w->events | EPOLLET);
	if (v->set < 0 || there & w->events)
		return pause_unless_closed(w, v);
	err = wait_by_set(b, w, v->set);
	if (!err && v->in_vain &&
	    !(sn_io_poll_now(w->fd, w->events) & w->events))
		err = pause_unless_closed(w, v);
	v->in_vain = true;
	if (!err) /* before the attempt: a later event counts as new */
		(void)!epoll_wait(v->set, &event, 1, 0);
	return err;
}

static NOINLINE ptrdiff_t attempt_again(struct io_backend       *b,
					const struct io_request *r,
					struct io_ready         *w)
{
	struct retries v = { .set = -1, .pause = IO_SHORTEST_PAUSE };
	ptrdiff_t      result;

	do {
		int there = sn_io_poll_now(r->fd, r->events | POLLRDHUP);

		if (is_at_end(r, there)) {
			result = attempt_last(r);
			break;
		}
		result = wait_again(b, w, &v, there < 0 ? r->events : there);
		if (!result)
			result = settle(r, w->begun, w->deadline, attempt(r));
	} while (result == -EAGAIN);
	if (v.set >= 0)
		close(v.set);
	return result;
}

/* Whether r waits for room in a unix socket. No event announces that such a
 * socket was shut down, where a send that waits in the system returns -EPIPE.
 * A request that only polls, for sennit_poll() or a connect, has neither a kind
 * nor a call that may wait. Not inlined, as is_file(). */
static NOINLINE bool waits_for_room_in_unix(const struct io_request *r)
{
	int       domain = 0;
	socklen_t size = sizeof(domain);

	return r->events & POLLOUT && (r->kind != IO_POLLED || r->block) &&
	       !getsockopt(r->fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) &&
	       domain == AF_UNIX;
}

static ptrdiff_t attempt_when_ready(struct io_backend       *b,
				    const struct io_request *r, uint64_t begun,
				    sennit_time deadline)
{
	struct io_ready w = { .fd = r->fd,
			      .events = r->events,
			      .begun = begun,
			      .deadline = deadline };
	ptrdiff_t       result = attempt_by_guess(b, r, deadline);
	int             err;

	w.tried = result == -EAGAIN;
	result = settle(r, begun, deadline, result);
	if (result != -EAGAIN)
		return result;
	if (waits_for_room_in_unix(r))
		w.look = IO_FIRST_LOOK;
	err = wait_fd_ready(b, &w);
	if (err == -EPERM && r->block)
		return in_blocking_call(r, begun, deadline);
	if (err)
		return err;
	result = settle(r, begun, deadline, attempt_by_guess(b, r, deadline));
	return result == -EAGAIN ? attempt_again(b, r, &w) : result;
}

static ptrdiff_t perform_by_backend(struct io_backend       *b,
				    const struct io_request *r, uint64_t begun,
				    sennit_time deadline)
{
	ptrdiff_t result;

	do
		result = b->ops->perform(b, r, begun, deadline);
	while (result == -EINTR);
	return result;
}

/* Whether the whole request may go to the ring. Not for a file if r moves its
 * position: the ring does not lock the position, and does not always move it
 * when it completes a request later (seen on 6.18). The same bytes are then
 * read twice, or written over. Not without RWF_NOWAIT: the ring would block the
 * worker's thread as soon as poll() reports readiness (nonblock.h). Not for a
 * write beyond the size limit: the signal is raised here or in a kernel thread,
 * and the caller could not know which. And not for a peek: an urgent byte that
 * it may not have ends each wait, so the ring gives it to a kernel thread. That
 * thread never sleeps if a unix stream has an urgent byte behind the place of
 * one that was taken (seen on 6.18, and with a plain recv()). */
static NOINLINE bool suits_ring(const struct io_request *r)
{
	struct stat s;

	if (r->kind == IO_RECV || r->kind == IO_RECVMSG)
		return !(r->flags & MSG_PEEK);
	if (r->kind != IO_READV && r->kind != IO_WRITEV)
		return true;
	if (fstat(r->fd, &s) || sn_io_nonblock_is_needless(&s))
		return true;
	return is_mode_of_file(s.st_mode) && r->at != IO_POSITION &&
	       !(r->kind == IO_WRITEV && is_size_limited());
}

/* Nothing was done, and this result is not for the caller. */
static bool did_nothing(ptrdiff_t result)
{
	return result == -EAGAIN || result == -EOPNOTSUPP || result == -ENOSYS;
}

/* Whether r, after an attempt with this result, is retried when there is room,
 * and not passed to the ring. The ring sends a message again from the position
 * in memory where its first try stopped: unix datagrams arrive empty (seen on
 * 6.18). And if an event always ends its wait, as when the peer has shut down
 * sending, the ring uses a kernel thread for each request. */
static bool waits_for_room(const struct io_request *r, ptrdiff_t result)
{
	return r->kind == IO_SEND || r->kind == IO_SENDMSG ||
	       (r->kind == IO_WRITEV && r->at == IO_POSITION &&
		result == -EAGAIN);
}

static ptrdiff_t perform_request(struct io_backend       *b,
				 const struct io_request *r, uint64_t begun,
				 sennit_time deadline)
{
	const bool try_first = r->try_first || !deadline;
	ptrdiff_t  result = try_first ? attempt(r) : -EAGAIN;

	if (did_nothing(result) && deadline && !waits_for_room(r, result) &&
	    suits_ring(r))
		result = perform_by_backend(b, r, begun, deadline);
	if (!did_nothing(result))
		return result;
	if (sn_io_closing_is_over(r->fd, begun))
		return -ECANCELED;
	/* The descriptor has O_NONBLOCK. A file is ready in spite of
	 * -EAGAIN. */
	if (!r->block || !is_file(r->fd))
		return attempt_when_ready(b, r, begun, deadline);
	if (!try_first)
		result = attempt(r);
	return did_nothing(result) ? in_blocking_call(r, begun, deadline)
				   : result;
}

void sn_io_let_others_run(struct io_backend *b)
{
	if (likely(--b->at_once))
		return;
	b->at_once = IO_AT_ONCE;
	sennit_yield();
}

/* The program closed this number by close(), and the system reuses it. End the
 * waits on the old descriptor before other fibers run. */
static void end_waits_on_reused(int fd)
{
	if (sn_io_known_begin(fd))
		sn_io_closing_reused(fd);
}

static ptrdiff_t do_by(struct io_backend *b, const struct io_request *r,
		       sennit_time deadline)
{
	const uint64_t begun = sn_io_closing_now();
	ptrdiff_t      result;

	if (IO_SIMULATED)
		return sn_simulated_do(b, r, deadline);
	result = b && b->ops->perform && r->kind != IO_POLLED
			 ? perform_request(b, r, begun, deadline)
			 : attempt_when_ready(b, r, begun, deadline);
	if (r->kind == IO_ACCEPT && result >= 0)
		end_waits_on_reused((int)result);
	if (b)
		sn_io_let_others_run(b);
	return result;
}

ptrdiff_t sn_io_do(const struct io_request *r, sennit_time deadline)
{
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);
	ptrdiff_t          result;

	if (unlikely(err))
		return err;
	if (r->events & POLLOUT)
		sn_io_tell_release(r->fd);
	result = do_by(b, r, deadline);
	if (result > 0 && r->events & POLLIN)
		sn_io_tell_acquire(r->fd);
	return result;
}

ptrdiff_t sn_io_do_blocking(const struct io_request *r, sennit_time deadline)
{
	const uint64_t     begun = sn_io_closing_now();
	struct io_backend *b;
	ptrdiff_t          result = -ENOSYS;

	if (IO_SIMULATED)
		return sn_simulated_do_in_place(r);
	if (sn_io_backend_here(&b))
		b = NULL;
	if (b && b->ops->perform && deadline && r->kind != IO_POLLED)
		result = perform_by_backend(b, r, begun, deadline);
	if (result == -ENOSYS)
		result = in_blocking_call(r, begun, deadline);
	if (b)
		sn_io_let_others_run(b);
	return result;
}

/* --- choose --------------------------------------------------------------- */

static bool wants_uring; /* fixed once chosen */

static void choose(void)
{
	const char *wanted = getenv("SENNIT_IO");

	wants_uring = (!wanted || strcmp(wanted, "epoll") != 0) &&
		      sn_io_uring_works();
}

/* Whether the poller is one of this library. */
static bool is_ours(const sennit_poller *p)
{
	return p->ops->turn == sn_io_epoll_turn ||
	       p->ops->turn == sn_io_uring_turn ||
	       p->ops->turn == sn_simulated_turn;
}

static int make(struct io_backend **out, const sennit_allocator *memory)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int                   err = -ENOSYS;

	if (IO_SIMULATED)
		return sn_simulated_poller_make(out, memory);
	pthread_once(&once, choose);
	if (wants_uring)
		err = sn_io_uring_make(out, memory);
	/* also if only this worker gets no ring */
	return err ? sn_io_epoll_make(out, memory) : 0;
}

static COLD int attach(struct io_backend **out, const sennit_allocator *memory)
{
	struct io_backend *b;
	int                err = make(&b, memory);

	if (err)
		return err;
	b->at_once = IO_AT_ONCE;
	err = sn_io_closing_add(&b->closing, &b->p);
	if (!err)
		err = sennit_poller_attach(&b->p);
	if (err)
		b->p.ops->destroy(&b->p);
	else
		*out = b;
	return err;
}

struct io_backend *sn_io_backend_made(void)
{
	sennit_poller *p = sennit_poller_current();

	return p && is_ours(p) ? (struct io_backend *)p : NULL;
}

int sn_io_backend_here(struct io_backend **out)
{
	sennit_poller          *p = sennit_poller_current();
	const sennit_allocator *memory;

	if (likely(p)) {
		*out = (struct io_backend *)p;
		return likely(is_ours(p)) ? 0 : -EBUSY;
	}
	memory = sennit_poller_allocator();
	*out = NULL;
	return memory ? attach(out, memory) : 0;
}
