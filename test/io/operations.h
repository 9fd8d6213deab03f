/* SPDX-License-Identifier: Apache-2.0 */
/* operations.h - every operation that may wait, with what makes it wait and
 * what makes it go on.
 *
 *	open        fds[0] is what the operation is on, fds[1] the other end;
 *	            the operation would wait
 *	call        does it; returns what it returned
 *	make_ready  it need not wait any more
 *	done        what call returns then; 0: anything above
 */
#ifndef SN_TEST_OPERATIONS_H
#define SN_TEST_OPERATIONS_H

#include "with_backend.h"

#include "sennit/splice.h"

#include <netinet/in.h>
#include <sys/mman.h>

struct operation {
	const char *name;
	void (*open)(int fds[2]);
	ptrdiff_t (*call)(int fd, sennit_time deadline);
	void (*make_ready)(int fds[2]);
	ptrdiff_t done;
	ptrdiff_t gone; /* what it returns when the other end is closed */
};

/* --- other ends --------------------------------------------------------- */

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	abort();
}

static inline void open_sockets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
	     "socketpair");
}

static inline void begin_pipe(int fds[2])
{
	must(!pipe2(fds, O_CLOEXEC), "pipe");
}

static inline void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	must(!fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK),
	     "fcntl");
}

static inline void fill(int fd)
{
	static const char zeroes[4096];

	set_nonblock(fd, true);
	while (write(fd, zeroes, sizeof(zeroes)) > 0)
		;
	while (write(fd, zeroes, 1) > 0)
		;
	must(errno == EAGAIN, "fill");
	set_nonblock(fd, false);
}

static inline void open_full_sockets(int fds[2])
{
	open_sockets(fds);
	fill(fds[0]);
}

static inline void open_full_pipe(int fds[2])
{
	int ends[2];

	begin_pipe(ends);
	fds[0] = ends[1];
	fds[1] = ends[0];
	fill(fds[0]);
}

static inline void drain(int fds[2])
{
	char bytes[4096];

	set_nonblock(fds[1], true);
	while (read(fds[1], bytes, sizeof(bytes)) > 0)
		;
	set_nonblock(fds[1], false);
}

static inline void give_two_bytes(int fds[2])
{
	must(write(fds[1], "ab", 2) == 2, "write");
}

static inline void open_listener(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fds[0] >= 0 && fds[1] >= 0, "socket");
	must(!bind(fds[0], (struct sockaddr *)&a, size), "bind");
	must(!listen(fds[0], 16), "listen");
}

static inline void connect_to_listener(int fds[2])
{
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);

	must(!getsockname(fds[0], (struct sockaddr *)&a, &size), "getsockname");
	must(!connect(fds[1], (struct sockaddr *)&a, size), "connect");
}

/* --- operations --------------------------------------------------------- */

static inline ptrdiff_t is_ab(ptrdiff_t n, const char *bytes)
{
	EXPECT(n != 2 || !memcmp(bytes, "ab", 2));
	return n;
}

static inline ptrdiff_t call_read(int fd, sennit_time deadline)
{
	char b[8] = "";

	return is_ab(sennit_read(fd, b, sizeof(b), deadline), b);
}

static inline ptrdiff_t call_readv(int fd, sennit_time deadline)
{
	char               b[8] = "";
	const struct iovec v[2] = { { b, 1 }, { b + 1, 7 } };

	return is_ab(sennit_readv(fd, v, 2, deadline), b);
}

static inline ptrdiff_t call_recv(int fd, sennit_time deadline)
{
	char b[8] = "";

	return is_ab(sennit_recv(fd, b, sizeof(b), 0, deadline), b);
}

static inline ptrdiff_t call_recvmsg(int fd, sennit_time deadline)
{
	char          b[8] = "";
	struct iovec  v = { b, sizeof(b) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return is_ab(sennit_recvmsg(fd, &m, 0, deadline), b);
}

static inline ptrdiff_t call_write(int fd, sennit_time deadline)
{
	return sennit_write(fd, "abc", 3, deadline);
}

static inline ptrdiff_t call_writev(int fd, sennit_time deadline)
{
	const struct iovec v[2] = { { "a", 1 }, { "bc", 2 } };

	return sennit_writev(fd, v, 2, deadline);
}

static inline ptrdiff_t call_send(int fd, sennit_time deadline)
{
	return sennit_send(fd, "abc", 3, 0, deadline);
}

static inline ptrdiff_t call_sendmsg(int fd, sennit_time deadline)
{
	struct iovec        v = { "abc", 3 };
	const struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return sennit_sendmsg(fd, &m, 0, deadline);
}

static inline ptrdiff_t call_accept(int fd, sennit_time deadline)
{
	int connection = sennit_accept(fd, NULL, NULL, SOCK_CLOEXEC, deadline);

	if (connection < 0)
		return connection;
	close(connection);
	return 1;
}

static inline ptrdiff_t call_poll_in(int fd, sennit_time deadline)
{
	int events = sennit_poll(fd, POLLIN, deadline);

	return events & (POLLIN | POLLHUP) && events > 0 ? POLLIN : events;
}

static inline ptrdiff_t call_poll_out(int fd, sennit_time deadline)
{
	int events = sennit_poll(fd, POLLOUT, deadline);

	return events & (POLLOUT | POLLHUP) && events > 0 ? POLLOUT : events;
}

static inline ptrdiff_t call_poll_several(int fd, sennit_time deadline)
{
	int           fds[2];
	struct pollfd p[4] = { { .fd = -1 }, { .events = POLLIN } };
	int           n;

	begin_pipe(fds); /* which says nothing */
	p[1].fd = fds[0];
	p[2] = (struct pollfd){ .fd = fd, .events = POLLIN };
	p[3] = (struct pollfd){ .fd = fd, .events = POLLPRI };
	n = sennit_poll_several(p, 4, deadline);
	EXPECT(n <= 0 || (p[2].revents & POLLIN));
	EXPECT(!p[1].revents && !p[0].revents);
	close(fds[0]);
	close(fds[1]);
	return n > 0 ? 1 : n;
}

static inline ptrdiff_t call_splice_in(int fd, sennit_time deadline)
{
	int       fds[2];
	char      b[8] = "";
	ptrdiff_t n;

	begin_pipe(fds);
	n = sennit_splice(fd, NULL, fds[1], NULL, 8, 0, deadline);
	close(fds[1]);
	EXPECT(read(fds[0], b, sizeof(b)) == (n > 0 ? n : 0));
	close(fds[0]);
	return is_ab(n, b);
}

static inline ptrdiff_t call_splice_out(int fd, sennit_time deadline)
{
	int       fds[2];
	char      b[8] = "";
	ptrdiff_t n;

	begin_pipe(fds);
	must(write(fds[1], "abc", 3) == 3, "write");
	n = sennit_splice(fds[0], NULL, fd, NULL, 3, 0, deadline);
	close(fds[1]);
	if (n != -EPIPE) /* what was not moved is there */
		EXPECT(read(fds[0], b, sizeof(b)) == (n > 0 ? 0 : 3));
	close(fds[0]);
	return n;
}

static inline ptrdiff_t call_sendfile(int fd, sennit_time deadline)
{
	int       file = memfd_create("operations", MFD_CLOEXEC);
	off_t     at = 1;
	ptrdiff_t n;

	must(write(file, "_abc", 4) == 4, "write");
	n = sennit_sendfile(fd, file, &at, 10, deadline);
	EXPECT(at == (n > 0 ? 1 + n : 1));
	close(file);
	return n;
}

static const struct operation operations[] = {
	{ "read socket", open_sockets, call_read, give_two_bytes, 2, 0 },
	{ "read pipe", begin_pipe, call_read, give_two_bytes, 2, 0 },
	{ "readv socket", open_sockets, call_readv, give_two_bytes, 2, 0 },
	{ "readv pipe", begin_pipe, call_readv, give_two_bytes, 2, 0 },
	{ "recv", open_sockets, call_recv, give_two_bytes, 2, 0 },
	{ "recvmsg", open_sockets, call_recvmsg, give_two_bytes, 2, 0 },
	{ "write socket", open_full_sockets, call_write, drain, 3, -EPIPE },
	{ "write pipe", open_full_pipe, call_write, drain, 3, -EPIPE },
	{ "writev socket", open_full_sockets, call_writev, drain, 3, -EPIPE },
	{ "writev pipe", open_full_pipe, call_writev, drain, 3, -EPIPE },
	{ "send", open_full_sockets, call_send, drain, 3, -EPIPE },
	{ "sendmsg", open_full_sockets, call_sendmsg, drain, 3, -EPIPE },
	{ "accept", open_listener, call_accept, connect_to_listener, 1, 1 },
	{ "poll in", open_sockets, call_poll_in, give_two_bytes, POLLIN,
	  POLLIN },
	{ "poll out", open_full_sockets, call_poll_out, drain, POLLOUT,
	  POLLOUT },
	{ "poll several", open_sockets, call_poll_several, give_two_bytes, 1,
	  1 },
	{ "splice socket", open_sockets, call_splice_in, give_two_bytes, 2, 0 },
	{ "splice pipe", begin_pipe, call_splice_in, give_two_bytes, 2, 0 },
	{ "splice to socket", open_full_sockets, call_splice_out, drain, 3,
	  -EPIPE },
	{ "splice to pipe", open_full_pipe, call_splice_out, drain, 3, -EPIPE },
	{ "sendfile", open_full_sockets, call_sendfile, drain, 3, -EPIPE },
	{ "sendfile to pipe", open_full_pipe, call_sendfile, drain, 3, -EPIPE },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

#endif
