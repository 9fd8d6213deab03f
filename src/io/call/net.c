/* SPDX-License-Identifier: Apache-2.0 */
#include "io/engine/perform.h"
#include "io/engine/request.h"
#include "io/simulated/network.h"
#include "sennit/fiber.h"
#include "sennit/io.h"
#include "sennit/net.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A caller that does not want to wait gets what the system says. */
static ptrdiff_t transfer(const struct io_request *r, int flags,
			  sennit_time deadline)
{
	if (flags & MSG_DONTWAIT)
		return IO_SIMULATED ? sn_simulated_try(r) : r->attempt(r);
	return sn_io_do(r, deadline);
}

/* --- bytes -------------------------------------------------------------- */

static ptrdiff_t attempt_recv(const struct io_request *r)
{
	return sn_io_or_error(
		recv(r->fd, r->bytes, r->size, r->flags | MSG_DONTWAIT));
}

ptrdiff_t sennit_recv(int fd, void *to, size_t size, int flags,
		      sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_recv,
				      .kind = IO_RECV,
				      .fd = fd,
				      .events = POLLIN,
				      .flags = flags,
				      .bytes = to,
				      .size = size };

	return transfer(&r, flags, deadline);
}

static ptrdiff_t attempt_send(const struct io_request *r)
{
	return sn_io_or_error(
		send(r->fd, r->bytes, r->size, r->flags | MSG_DONTWAIT));
}

ptrdiff_t sennit_send(int fd, const void *from, size_t size, int flags,
		      sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_send,
				      .kind = IO_SEND,
				      .fd = fd,
				      .events = POLLOUT,
				      .try_first = true,
				      .flags = flags | MSG_NOSIGNAL,
				      .bytes = (void *)(uintptr_t)from,
				      .size = size };

	return transfer(&r, flags, deadline);
}

/* --- messages ----------------------------------------------------------- */

static ptrdiff_t attempt_recvmsg(const struct io_request *r)
{
	return sn_io_or_error(
		recvmsg(r->fd, r->message, r->flags | MSG_DONTWAIT));
}

ptrdiff_t sennit_recvmsg(int fd, struct msghdr *message, int flags,
			 sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_recvmsg,
				      .kind = IO_RECVMSG,
				      .fd = fd,
				      .events = POLLIN,
				      .flags = flags,
				      .message = message };

	return transfer(&r, flags, deadline);
}

static ptrdiff_t attempt_sendmsg(const struct io_request *r)
{
	return sn_io_or_error(
		sendmsg(r->fd, r->message, r->flags | MSG_DONTWAIT));
}

ptrdiff_t sennit_sendmsg(int fd, const struct msghdr *message, int flags,
			 sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_sendmsg,
				      .kind = IO_SENDMSG,
				      .fd = fd,
				      .events = POLLOUT,
				      .try_first = true,
				      .flags = flags | MSG_NOSIGNAL,
				      .message = (void *)(uintptr_t)message };

	return transfer(&r, flags, deadline);
}

/* --- connections -------------------------------------------------------- */

/* There is no flag for one accept() that does not wait. */
static ptrdiff_t attempt_accept(const struct io_request *r)
{
	int flags = fcntl(r->fd, F_GETFL);

	if (flags < 0 || (!(flags & O_NONBLOCK) &&
			  fcntl(r->fd, F_SETFL, flags | O_NONBLOCK)))
		return -errno;
	return sn_io_or_error(
		accept4(r->fd, r->address, r->address_size, r->flags));
}

/* Tried first: connections come in bursts, and one that the ring accepts has to
 * wait until all that are ready have run, before the next one may be asked
 * for. */
int sennit_accept(int fd, struct sockaddr *address, socklen_t *size, int flags,
		  sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_accept,
				      .kind = IO_ACCEPT,
				      .fd = fd,
				      .events = POLLIN,
				      .try_first = true,
				      .flags = flags,
				      .address = address,
				      .address_size = size };

	return (int)sn_io_do(&r, deadline);
}

/* A unix socket whose listener's queue is full says -EAGAIN, and nothing says
 * when there is room. */
#define FULL_QUEUE_RETRY SENNIT_MILLISECOND

static int begin_connect(const struct io_request *r, uint64_t begun,
			 sennit_time deadline)
{
	while (connect(r->fd, r->address, r->size_of)) {
		sennit_time retry = sennit_after(FULL_QUEUE_RETRY);
		int         err;

		if (errno != EAGAIN)
			return -errno;
		if (sennit_now() >= deadline)
			return -ETIMEDOUT;
		err = sennit_sleep_until(retry < deadline ? retry : deadline);
		if (err)
			return err;
		if (sn_io_closing_is_over(r->fd, begun))
			return -ECANCELED;
	}
	return 0;
}

/* Whether a connect that was begun has ended, and how. */
static ptrdiff_t attempt_end_connect(const struct io_request *r)
{
	int       err = 0;
	socklen_t size = sizeof(err);

	if (sn_io_poll_now(r->fd, POLLOUT) <= 0)
		return -EAGAIN;
	if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &err, &size))
		return -errno;
	return -err;
}

static ptrdiff_t attempt_nothing(const struct io_request *r)
{
	(void)r;
	return -ENOSYS;
}

/* By io_uring, if that knows it; -ENOSYS. Not of unix sockets: a full queue
 * blocks a thread of the kernel's there, and a request to cancel that comes
 * just before it blocks is lost (seen on 6.18). */
static int connect_by_kernel(const struct io_request *r, sennit_time deadline)
{
	struct io_request whole = *r;

	if (!IO_SIMULATED && r->size_of >= sizeof(r->address->sa_family) &&
	    r->address->sa_family == AF_UNIX)
		return -ENOSYS;
	whole.attempt = attempt_nothing;
	whole.kind = IO_CONNECT;
	return deadline || IO_SIMULATED ? (int)sn_io_do(&whole, deadline)
					: -ENOSYS;
}

static int connect_when_ready(const struct io_request *r, uint64_t begun,
			      sennit_time deadline)
{
	int err = begin_connect(r, begun, deadline);

	if (err == -EINPROGRESS || err == -EALREADY)
		err = (int)sn_io_do(r, deadline);
	return err;
}

int sennit_connect(int fd, const struct sockaddr *address, socklen_t size,
		   sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_end_connect,
				      .fd = fd,
				      .events = POLLOUT,
				      .address = (void *)(uintptr_t)address,
				      .size_of = size };
	const uint64_t          begun = sn_io_closing_now();
	int                     err = connect_by_kernel(&r, deadline);
	int                     flags;

	if (!err && !sn_io_closing_is_over(fd, begun))
		(void)sn_io_known_begin(fd);
	if (IO_SIMULATED || (err != -ENOSYS && err != -EALREADY))
		return err;
	if (sn_io_closing_is_over(fd, begun))
		return -ECANCELED;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return -errno;
	if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	err = connect_when_ready(&r, begun, deadline);
	if (sn_io_closing_is_over(fd, begun))
		return err ? err : -ECANCELED;
	if (!(flags & O_NONBLOCK))
		(void)fcntl(fd, F_SETFL, flags);
	if (!err)
		(void)sn_io_known_begin(fd);
	return err;
}

int sennit_shutdown(int fd, int how)
{
	if (IO_SIMULATED)
		return sn_simulated_shutdown(fd, how);
	return shutdown(fd, how) ? -errno : 0;
}

/* --- one ---------------------------------------------------------------- */

static ptrdiff_t attempt_poll(const struct io_request *r)
{
	int events = sn_io_poll_now(r->fd, r->events);

	if (events < 0)
		return events;
	if (!events)
		return -EAGAIN;
	return events & POLLNVAL ? -EBADF : events;
}

static int poll_simulated(int fd, short events, sennit_time deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int           n = IO_SIMULATED ? sn_simulated_poll(&p, 1, deadline) : 0;

	if (n < 0)
		return n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}

int sennit_poll(int fd, short events, sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_poll,
				      .fd = fd,
				      .events = events };

	if (fd < 0)
		return -EBADF;
	return IO_SIMULATED ? poll_simulated(fd, events, deadline)
			    : (int)sn_io_do(&r, deadline);
}

/* --- several ------------------------------------------------------------ */

/* All of them, in an epoll descriptor of their own, for which the caller waits
 * as for any other. An fd that stands there several times is added once for
 * all. What epoll cannot wait for is always ready: poll() has said so before.
 * -EINTR: there is a descriptor that is none any more. */
static int add(int epoll, const struct pollfd *fds, size_t count, size_t i)
{
	struct epoll_event event = { .events = (uint16_t)fds[i].events };

	if (fds[i].fd < 0 ||
	    !epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i].fd, &event))
		return 0;
	if (errno == EEXIST) {
		for (size_t k = 0; k < count; k++)
			if (fds[k].fd == fds[i].fd)
				event.events |= (uint16_t)fds[k].events;
		if (!epoll_ctl(epoll, EPOLL_CTL_MOD, fds[i].fd, &event))
			return 0;
	}
	return errno == EPERM ? 0 : errno == EBADF ? -EINTR : -errno;
}

static bool is_any_closed(const struct pollfd *fds, size_t count,
			  uint64_t begun)
{
	return sn_io_closing_end_of_any(fds, count, begun) == -ECANCELED;
}

static int make_set(int *out, const struct pollfd *fds, size_t count,
		    uint64_t begun)
{
	int epoll;

	if (is_any_closed(fds, count, begun))
		return -ECANCELED;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -errno;
	for (size_t i = 0; i < count; i++) {
		int err = add(epoll, fds, count, i);

		if (err) {
			close(epoll);
			return err;
		}
	}
	*out = epoll;
	return 0;
}

static int wait_as_fiber(struct io_backend *b, const struct pollfd *fds,
			 size_t count, uint64_t begun, sennit_time deadline)
{
	struct io_several s = { .fds = fds, .count = count };
	int               set, err, end;

	sn_io_several_begin(b, &s);
	err = make_set(&set, fds, count, begun);
	if (!err) {
		s.set = set;
		err = b->ops->wait_ready(b, set, POLLIN, false, s.begun,
					 deadline);
		close(set);
	}
	end = sn_io_several_end(b, &s);
	return end ? end : err;
}

static int wait_as_thread(const struct pollfd *fds, size_t count,
			  uint64_t begun, sennit_time deadline)
{
	struct io_thread_wait t;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int           err, end;

	p[1].fd = sn_io_closing_begin_thread(&t, fds, count, begun);
	err = make_set(&p[0].fd, fds, count, begun);
	if (!err) {
		err = sn_io_poll_until(p, deadline);
		close(p[0].fd);
	}
	end = sn_io_closing_end_thread(&t);
	return end ? end : err;
}

/* 0: look; or a negative errno. */
static int wait_for_any(const struct pollfd *fds, size_t count, uint64_t begun,
			sennit_time deadline)
{
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);

	if (err)
		return err;
	err = b ? wait_as_fiber(b, fds, count, begun, deadline)
		: wait_as_thread(fds, count, begun, deadline);
	if (err && err != -EINTR)
		return err;
	return is_any_closed(fds, count, begun) ? -ECANCELED : 0;
}

/* Returns how many have events, 0 for none, or a negative errno. */
static int look(struct pollfd *fds, size_t count)
{
	int n;

	do
		n = poll(fds, (nfds_t)count, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int sennit_poll_several(struct pollfd *fds, size_t count, sennit_time deadline)
{
	const uint64_t begun = sn_io_closing_now();
	int            n;

	if (IO_SIMULATED)
		return sn_simulated_poll(fds, count, deadline);
	n = look(fds, count);
	if (n || !deadline)
		return n ? n : -ETIMEDOUT;
	while (!n) {
		n = wait_for_any(fds, count, begun, deadline);
		if (!n)
			n = look(fds, count);
	}
	return n;
}
