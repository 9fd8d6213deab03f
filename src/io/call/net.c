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
