/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perform.h"
#include "engine/request.h"
#include "simulated/network.h"
#include "sennit/io.h"
#include "sennit/net.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* With MSG_DONTWAIT the call returns the result of one attempt. */
static ptrdiff_t transfer_by_flags(const struct io_request *r, int flags,
				   sennit_time deadline)
{
	if (flags & MSG_DONTWAIT)
		return IO_SIMULATED ? sn_simulated_try(r) : r->attempt(r);
	return sn_io_do(r, deadline);
}

static int socket_option_of(int fd, int option)
{
	int       value = -1;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) ? -1 : value;
}

/* The events that a receive waits for. poll() always reports POLLERR, which
 * announces an error in the queue. Waiting for POLLIN as well would end a wait
 * for an error at once if there is data. Unix and netlink sockets have no such
 * queue and ignore the flag. */
static short receive_events(int fd, int flags)
{
	int domain;

	if (!(flags & MSG_ERRQUEUE))
		return POLLIN;
	domain = socket_option_of(fd, SO_DOMAIN);
	return domain == AF_UNIX || domain == AF_NETLINK ? POLLIN : 0;
}

/* No system call transfers more, and the length fields of io_uring have 32
 * bits. */
static size_t limit_to_int(size_t size)
{
	return size < INT_MAX ? size : INT_MAX;
}

/* --- receiving ---------------------------------------------------------- */

static ptrdiff_t attempt_recv(const struct io_request *r)
{
	return sn_io_or_error(
		recv(r->fd, r->bytes, r->size, r->flags | MSG_DONTWAIT));
}

static ptrdiff_t attempt_recvmsg(const struct io_request *r)
{
	return sn_io_or_error(
		recvmsg(r->fd, r->message, r->flags | MSG_DONTWAIT));
}

static ptrdiff_t receive_message(int fd, struct msghdr *message, int flags,
				 sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_recvmsg,
				      .kind = IO_RECVMSG,
				      .fd = fd,
				      .events = receive_events(fd, flags),
				      .flags = flags,
				      .message = message };

	return transfer_by_flags(&r, flags, deadline);
}

/* --- receiving all ------------------------------------------------------ */

/* MSG_WAITALL is implemented here. An attempt never waits, so it cannot use the
 * flag. io_uring would join packets, and would peek at the same bytes again. So
 * no backend receives the flag. */

static bool must_receive_all(int fd, int flags)
{
	return flags & MSG_WAITALL &&
	       !(flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) &&
	       socket_option_of(fd, SO_TYPE) == SOCK_STREAM;
}

/* Whether an urgent byte is next. Receiving the bytes behind it would drop
 * it. */
static bool is_at_urgent(int fd)
{
	int at = 0;

	return !ioctl(fd, SIOCATMARK, &at) && at;
}

/* The number of bytes that can be received. Those behind an urgent byte do not
 * count, unless SO_OOBINLINE is set. */
static int bytes_ahead(int fd)
{
	int ahead = 0;

	return ioctl(fd, FIONREAD, &ahead) ? 0 : ahead;
}

/* Whether the next receive returns an error of the connection. An error in the
 * error queue is none. */
static bool has_failed(int events)
{
	return events & POLLERR && events & POLLHUP;
}

/* Bytes that are there come before an error of the connection, which is left to
 * the next call. At an urgent byte this stops, as the system does. If nothing
 * is there, receive nothing: what has come since may begin with an urgent byte.
 * A byte that is there keeps a receive from going beyond one that comes
 * later. */
static ptrdiff_t attempt_rest(const struct io_request *r)
{
	const int events = sn_io_poll_now(r->fd, POLLIN | POLLPRI);

	if (events > 0 && events & POLLPRI && is_at_urgent(r->fd))
		return 0;
	if (bytes_ahead(r->fd)) /* fewer than SO_RCVLOWAT make no event */
		return attempt_recvmsg(r);
	if (events > 0 && has_failed(events))
		return 0;
	return !events || events == POLLERR ? -EAGAIN : attempt_recvmsg(r);
}

static size_t message_capacity(const struct msghdr *m)
{
	size_t total = 0;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		total += m->msg_iov[i].iov_len;
	return limit_to_int(total);
}

/* Return the rest of the buffer that contains the offset `done`. */
static struct iovec remaining_buffer(const struct msghdr *m, size_t done)
{
	const struct iovec *v = m->msg_iov;

	while (done >= v->iov_len)
		done -= v++->iov_len;
	return (struct iovec){ (char *)v->iov_base + done, v->iov_len - done };
}

/* Whether descriptors came with the bytes and were dropped, as the caller has
 * no room for them. They end a receive by the system. */
static bool has_dropped_descriptors(int fd, const struct msghdr *m)
{
	return m->msg_flags & MSG_CTRUNC &&
	       socket_option_of(fd, SO_DOMAIN) == AF_UNIX &&
	       socket_option_of(fd, SO_PASSCRED) <= 0;
}

/* Receive after the first receive until all bytes have arrived. Returns the
 * total number of bytes. Received descriptors end the message: later ones would
 * overwrite them in the control buffer. */
static size_t receive_rest(int fd, struct msghdr *m, int flags, size_t done,
			   size_t room, uint64_t begun, sennit_time deadline)
{
	const size_t      total = message_capacity(m);
	struct msghdr     rest;
	struct iovec      v;
	struct io_request r = { .attempt = attempt_rest,
				.kind = IO_SIMULATED ? IO_RECVMSG : IO_POLLED,
				.fd = fd,
				.events = IO_SIMULATED ? POLLIN
						       : POLLIN | POLLPRI,
				.flags = flags,
				.message = &rest };
	ptrdiff_t         n = 1;

	while (n > 0 && done < total && !m->msg_controllen &&
	       !has_dropped_descriptors(fd, m) &&
	       !sn_io_closing_is_over(fd, begun)) {
		v = remaining_buffer(m, done);
		rest = (struct msghdr){ .msg_iov = &v,
					.msg_iovlen = 1,
					.msg_control = m->msg_control,
					.msg_controllen = room };
		n = sn_io_do(&r, deadline);
		if (n <= 0)
			break;
		m->msg_controllen = rest.msg_controllen;
		m->msg_flags |= rest.msg_flags;
		done += (size_t)n;
	}
	return done;
}

/* What a peek found, and what was there just before it. */
struct peeked {
	ptrdiff_t done;
	int       events, ahead;
};

/* Whether the peek stopped at an urgent byte. */
static bool is_before_urgent(int fd, const struct peeked *p)
{
	if (!(p->events & POLLPRI))
		return false;
	return socket_option_of(fd, SO_OOBINLINE) > 0 ? p->done < p->ahead
						      : p->done == p->ahead;
}

/* Peek once more. Returns whether no more bytes than it found will come in
 * front of the end, of an error, which is left to the next call, or of an
 * urgent byte. */
static bool is_last_peek(const struct io_request *r, struct peeked *p)
{
	ptrdiff_t n;

	p->events = sn_io_poll_now(r->fd, POLLRDHUP | POLLPRI);
	p->ahead = bytes_ahead(r->fd);
	if (p->events < 0 || (has_failed(p->events) && !p->ahead))
		return true;
	n = attempt_recvmsg(r);
	if (n > 0)
		p->done = n;
	return p->events & (POLLRDHUP | POLLHUP) || is_before_urgent(r->fd, p);
}

/* Peek until all bytes have arrived. The bytes that are already there would end
 * each wait for readiness at once, so this sleeps between attempts. The system
 * does not wait with MSG_PEEK | MSG_WAITALL on a unix socket, and neither does
 * this. */
static ptrdiff_t peek_until_complete(int fd, struct msghdr *m, int flags,
				     ptrdiff_t done, uint64_t begun,
				     sennit_time deadline)
{
	const struct io_request r = { .fd = fd, .flags = flags, .message = m };
	const ptrdiff_t         total = (ptrdiff_t)message_capacity(m);
	sennit_time             pause = IO_SHORTEST_PAUSE;
	struct peeked           p = { .done = done };

	if (socket_option_of(fd, SO_DOMAIN) == AF_UNIX)
		return done;
	while (p.done < total && !sn_io_closing_is_over(fd, begun) &&
	       !is_last_peek(&r, &p) && p.done < total &&
	       !sn_io_pause(&pause, deadline))
		;
	return p.done;
}

static ptrdiff_t receive_all_of_message(int fd, struct msghdr *m, int flags,
					sennit_time deadline)
{
	const uint64_t begun = sn_io_closing_now();
	const size_t   room = m->msg_controllen;
	ptrdiff_t      n = receive_message(fd, m, flags, deadline);

	if (n <= 0)
		return n;
	if (flags & MSG_PEEK && !IO_SIMULATED)
		return peek_until_complete(fd, m, flags, n, begun, deadline);
	return (ptrdiff_t)receive_rest(fd, m, flags, (size_t)n, room, begun,
				       deadline);
}

ptrdiff_t sennit_recvmsg(int fd, struct msghdr *message, int flags,
			 sennit_time deadline)
{
	const int one = flags & ~MSG_WAITALL;
	ptrdiff_t n;

	n = must_receive_all(fd, flags)
		    ? receive_all_of_message(fd, message, one, deadline)
		    : receive_message(fd, message, one, deadline);
	NO_TAIL_CALL(n);
	return n;
}

/* Separate, so that its variables are not in the stack frame of each
 * receive. */
static NOINLINE ptrdiff_t receive_all_bytes(int fd, void *to, size_t size,
					    int flags, sennit_time deadline)
{
	struct iovec  v = { to, size };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return receive_all_of_message(fd, &m, flags, deadline);
}

ptrdiff_t sennit_recv(int fd, void *to, size_t size, int flags,
		      sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_recv,
				      .kind = IO_RECV,
				      .fd = fd,
				      .events = receive_events(fd, flags),
				      .flags = flags & ~MSG_WAITALL,
				      .bytes = to,
				      .size = limit_to_int(size) };

	return must_receive_all(fd, flags)
		       ? receive_all_bytes(fd, to, r.size, r.flags, deadline)
		       : transfer_by_flags(&r, flags, deadline);
}

/* --- sending ------------------------------------------------------------ */

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
				      .size = limit_to_int(size) };

	return transfer_by_flags(&r, flags, deadline);
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

	return transfer_by_flags(&r, flags, deadline);
}

/* --- connections -------------------------------------------------------- */

/* Other descriptors fail at once, and keep their flags. */
static bool is_socket(int fd)
{
	return socket_option_of(fd, SO_TYPE) >= 0;
}

static ptrdiff_t accept_one(const struct io_request *r)
{
	return sn_io_or_error(
		accept4(r->fd, r->address, r->address_size, r->flags));
}

/* accept4() has no flag like MSG_DONTWAIT, so the listener gets O_NONBLOCK.
 * Whether fd is one is asked afterwards: another thread may just call listen(),
 * and the listeners of some families (Bluetooth) are none to SO_ACCEPTCONN. */
static ptrdiff_t attempt_accept(const struct io_request *r)
{
	int       flags = fcntl(r->fd, F_GETFL);
	ptrdiff_t result;

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK || !is_socket(r->fd))
		return accept_one(r);
	if (fcntl(r->fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	result = accept_one(r);
	if (result < 0 && result != -EAGAIN &&
	    socket_option_of(r->fd, SO_ACCEPTCONN) <= 0)
		(void)fcntl(r->fd, F_SETFL, flags);
	return result;
}

/* try_first: connections come in bursts. If the ring accepted one, the fiber
 * would run again only after all ready fibers, and only then ask for the
 * next. */
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

/* Begin a connect. If the queue of a unix listener is full, connect() returns
 * -EAGAIN and no event announces room, so it is repeated with pauses. */
static int begin_connect(const struct io_request *r, uint64_t begun,
			 sennit_time deadline)
{
	sennit_time pause = IO_SHORTEST_PAUSE;

	while (connect(r->fd, r->address, r->size_of)) {
		int err = errno == EAGAIN ? sn_io_pause(&pause, deadline)
					  : -errno;

		if (err)
			return err;
		if (sn_io_closing_is_over(r->fd, begun))
			return -ECANCELED;
	}
	return 0;
}

/* Check whether a connect that was begun has ended, and return its result. */
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

static ptrdiff_t attempt_unsupported(const struct io_request *r)
{
	(void)r;
	return -ENOSYS;
}

/* Connect by io_uring. Returns -ENOSYS if io_uring does not support it. Unix
 * sockets are excluded: with a full queue a connect blocks a kernel thread. */
static int connect_by_kernel(const struct io_request *r, sennit_time deadline)
{
	struct io_request whole = *r;

	if (!IO_SIMULATED && r->size_of >= sizeof(r->address->sa_family) &&
	    r->address->sa_family == AF_UNIX)
		return -ENOSYS;
	whole.attempt = attempt_unsupported;
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
