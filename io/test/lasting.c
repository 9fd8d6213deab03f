/* SPDX-License-Identifier: Apache-2.0 */
/* lasting.c - calls on descriptors whose state does not change, and that may
 * have an event of no use to the call: each call on each kind of descriptor, in
 * each state of it and of its peer, with O_NONBLOCK and without. Many wait at
 * the same time.
 *
 * looks.h counts polls by descriptor (by RTLD_NEXT, so this is a program).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "looks.h"

#include "sennit/stream.h"

#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>

/* --- calls -------------------------------------------------------------- */

struct message {
	char          bytes[64];
	struct iovec  piece;
	struct msghdr m;
};

static struct msghdr *fill_message(struct message *x, size_t size)
{
	*x = (struct message){ .piece = { x->bytes, size } };
	x->m.msg_iov = &x->piece;
	x->m.msg_iovlen = 1;
	return &x->m;
}

static ptrdiff_t do_read(int fd, sennit_time deadline)
{
	char b[64];

	return sennit_read(fd, b, sizeof(b), deadline);
}

static ptrdiff_t do_readv(int fd, sennit_time deadline)
{
	char               b[64];
	const struct iovec v[2] = { { b, 32 }, { b + 32, 32 } };

	return sennit_readv(fd, v, 2, deadline);
}

static ptrdiff_t do_recv(int fd, sennit_time deadline)
{
	char b[64];

	return sennit_recv(fd, b, sizeof(b), 0, deadline);
}

static ptrdiff_t do_peek(int fd, sennit_time deadline)
{
	char b[64];

	return sennit_recv(fd, b, sizeof(b), MSG_PEEK | MSG_WAITALL, deadline);
}

static ptrdiff_t do_recvmsg(int fd, sennit_time deadline)
{
	struct message x;

	return sennit_recvmsg(fd, fill_message(&x, 64), 0, deadline);
}

static ptrdiff_t do_recv_errors(int fd, sennit_time deadline)
{
	struct message x;

	return sennit_recvmsg(fd, fill_message(&x, 64), MSG_ERRQUEUE, deadline);
}

static ptrdiff_t do_write(int fd, sennit_time deadline)
{
	const uint64_t two = 2;

	return sennit_write(fd, &two, sizeof(two), deadline);
}

static ptrdiff_t do_writev(int fd, sennit_time deadline)
{
	uint64_t           two = 2;
	const struct iovec v[2] = { { &two, 4 }, { (char *)&two + 4, 4 } };

	return sennit_writev(fd, v, 2, deadline);
}

static ptrdiff_t do_send(int fd, sennit_time deadline)
{
	return sennit_send(fd, "abc", 3, 0, deadline);
}

static ptrdiff_t do_sendmsg(int fd, sennit_time deadline)
{
	struct message x;

	return sennit_sendmsg(fd, fill_message(&x, 3), 0, deadline);
}

/* The address of the unix socket that belongs to fd. */
static socklen_t name_of(int fd, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
	       (socklen_t)snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1,
				   "sennit-lasting-%d-%d", getpid(), fd);
}

static ptrdiff_t do_send_to(int fd, sennit_time deadline)
{
	struct sockaddr_un a;
	struct message     x;

	fill_message(&x, 3);
	x.m.msg_name = &a;
	x.m.msg_namelen = name_of(fd, &a);
	return sennit_sendmsg(fd, &x.m, 0, deadline);
}

static ptrdiff_t do_connect(int fd, sennit_time deadline)
{
	struct sockaddr_un a;
	socklen_t          size = name_of(fd, &a);

	return sennit_connect(fd, (struct sockaddr *)&a, size, deadline);
}

static ptrdiff_t do_accept(int fd, sennit_time deadline)
{
	int connection = sennit_accept(fd, NULL, NULL, SOCK_CLOEXEC, deadline);

	if (connection >= 0)
		close(connection);
	return connection;
}

static ptrdiff_t do_poll_in(int fd, sennit_time deadline)
{
	return sennit_poll(fd, POLLIN, deadline);
}

static ptrdiff_t do_poll_out(int fd, sennit_time deadline)
{
	return sennit_poll(fd, POLLOUT, deadline);
}

static ptrdiff_t do_poll_urgent(int fd, sennit_time deadline)
{
	return sennit_poll(fd, POLLPRI, deadline);
}

static ptrdiff_t do_poll_no_event(int fd, sennit_time deadline)
{
	return sennit_poll(fd, 0, deadline);
}

static ptrdiff_t do_poll_one(int fd, sennit_time deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return sennit_poll_many(&p, 1, deadline);
}

static ptrdiff_t do_poll_two(int fd, sennit_time deadline)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLOUT },
			       { .fd = fd, .events = POLLPRI } };

	return sennit_poll_many(p, 2, deadline);
}

static ptrdiff_t do_select(sennit_case k, sennit_time deadline)
{
	size_t which;
	int    err = sennit_select_until(&k, 1, &which, deadline);

	return err ? err : k.result;
}

static ptrdiff_t do_select_in(int fd, sennit_time deadline)
{
	return do_select(sennit_case_readable(fd), deadline);
}

static ptrdiff_t do_select_out(int fd, sennit_time deadline)
{
	return do_select(sennit_case_writable(fd), deadline);
}

static ptrdiff_t do_splice_in(int fd, sennit_time deadline)
{
	int       p[2];
	ptrdiff_t n;

	begin_pipe(p);
	n = sennit_splice(fd, NULL, p[1], NULL, 8, 0, deadline);
	close(p[0]);
	close(p[1]);
	return n;
}

static ptrdiff_t do_splice_in_full(int fd, sennit_time deadline)
{
	int       p[2];
	ptrdiff_t n;

	begin_pipe(p);
	fill(p[1]);
	n = sennit_splice(fd, NULL, p[1], NULL, 8, 0, deadline);
	close(p[0]);
	close(p[1]);
	return n;
}

static ptrdiff_t do_splice_out(int fd, sennit_time deadline)
{
	int       p[2];
	ptrdiff_t n;

	begin_pipe(p);
	must(write(p[1], "abcdefgh", 8) == 8, "write");
	n = sennit_splice(p[0], NULL, fd, NULL, 8, 0, deadline);
	close(p[0]);
	close(p[1]);
	return n;
}

static ptrdiff_t do_sendfile(int fd, sennit_time deadline)
{
	int       file = memfd_create("lasting", MFD_CLOEXEC);
	int64_t   at = 0;
	ptrdiff_t n;

	must(write(file, "abcdefgh", 8) == 8, "write");
	n = sennit_sendfile(fd, file, &at, 8, deadline);
	close(file);
	return n;
}

static ptrdiff_t do_stream(int fd, sennit_time deadline)
{
	sennit_stream *s;
	void          *bytes;
	ptrdiff_t      n = sennit_stream_open(&s, fd);

	if (n)
		return n;
	n = sennit_stream_next(s, &bytes, deadline);
	sennit_stream_close(s);
	return n;
}

typedef ptrdiff_t call_fn(int fd, sennit_time deadline);

static const struct call {
	const char *name;
	call_fn    *run;
} calls[] = {
	{ "read", do_read },
	{ "readv", do_readv },
	{ "recv", do_recv },
	{ "recv to peek at all", do_peek },
	{ "recvmsg", do_recvmsg },
	{ "recvmsg of errors", do_recv_errors },
	{ "write", do_write },
	{ "writev", do_writev },
	{ "send", do_send },
	{ "sendmsg", do_sendmsg },
	{ "sendmsg to a name", do_send_to },
	{ "connect", do_connect },
	{ "accept", do_accept },
	{ "poll in", do_poll_in },
	{ "poll out", do_poll_out },
	{ "poll urgent", do_poll_urgent },
	{ "poll for nothing", do_poll_no_event },
	{ "poll one", do_poll_one },
	{ "poll two", do_poll_two },
	{ "select in", do_select_in },
	{ "select out", do_select_out },
	{ "splice from", do_splice_in },
	{ "splice from, no room", do_splice_in_full },
	{ "splice to", do_splice_out },
	{ "sendfile", do_sendfile },
	{ "stream", do_stream },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* --- kinds of descriptors ----------------------------------------------- */

static void shrink(int fd)
{
	const int size = 4096;

	must(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) &&
		     !setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size,
				 sizeof(size)),
	     "setsockopt");
}

static void open_tcp(int fds[2])
{
	open_listener(fds);
	shrink(fds[0]);
	shrink(fds[1]);
	accept_from_listener(fds);
}

static void open_tcp_listener(int fds[2])
{
	open_listener(fds);
}

/* Connected to a port where no socket listens. */
static void open_udp(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	const int          on = 1;
	socklen_t          size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(!bind(fds[1], (struct sockaddr *)&a, size) &&
		     !getsockname(fds[1], (struct sockaddr *)&a, &size) &&
		     !connect(fds[0], (struct sockaddr *)&a, size) &&
		     !setsockopt(fds[0], IPPROTO_IP, IP_RECVERR, &on,
				 sizeof(on)),
	     "udp");
}

static void open_unix_stream(int fds[2])
{
	open_sockets(fds);
}

static void open_unix_dgram(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), "pair");
}

static void open_unix_packets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	     "pair");
}

/* fds[1] is bound to the address that belongs to fds[0]. */
static void open_named(int fds[2], int type)
{
	struct sockaddr_un a;
	socklen_t          size;

	fds[0] = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	size = name_of(fds[0], &a);
	must(!bind(fds[1], (struct sockaddr *)&a, size), "bind");
}

/* Not connected to its receiver, so no event announces room in its queue. */
static void open_unix_sender(int fds[2])
{
	open_named(fds, SOCK_DGRAM);
}

static void open_unix_connected(int fds[2])
{
	struct sockaddr_un a;
	socklen_t          size;

	open_named(fds, SOCK_DGRAM);
	size = name_of(fds[0], &a);
	must(!connect(fds[0], (struct sockaddr *)&a, size), "connect");
}

static void open_unix_client(int fds[2])
{
	open_named(fds, SOCK_STREAM);
	must(!listen(fds[1], 0), "listen");
}

/* A named pipe whose two ends are the same descriptor. */
static void open_fifo(int fds[2])
{
	char name[] = "/tmp/sennit-lasting-XXXXXX";

	fds[1] = -1;
	must(mkdtemp(name) && !rmdir(name) && !mkfifo(name, 0600), "mkfifo");
	fds[0] = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	must(fds[0] >= 0 && !unlink(name), "open");
	set_nonblock(fds[0], false);
}

static void open_eventfd(int fds[2])
{
	fds[0] = eventfd(0, EFD_CLOEXEC);
	fds[1] = -1;
}

static void open_timerfd(int fds[2])
{
	fds[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	fds[1] = -1;
}

static void open_signalfd(int fds[2])
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	fds[0] = signalfd(-1, &set, SFD_CLOEXEC);
	fds[1] = -1;
}

static void open_inotify(int fds[2])
{
	fds[0] = inotify_init1(IN_CLOEXEC);
	fds[1] = -1;
}

static void open_pidfd(int fds[2])
{
	fds[0] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	fds[1] = -1;
}

static void open_mounts(int fds[2])
{
	fds[0] = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	fds[1] = -1;
}

/* A terminal that passes on what it gets, and its master. */
static void open_terminal(int fds[2])
{
	char           name[64];
	struct termios t;

	fds[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(fds[1] >= 0 && !grantpt(fds[1]) && !unlockpt(fds[1]) &&
		     !ptsname_r(fds[1], name, sizeof(name)),
	     "openpt");
	fds[0] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(fds[0] >= 0 && !tcgetattr(fds[0], &t), "open");
	cfmakeraw(&t);
	must(!tcsetattr(fds[0], TCSANOW, &t), "tcsetattr");
}

static void open_master(int fds[2])
{
	int ends[2];

	open_terminal(ends);
	fds[0] = ends[1];
	fds[1] = ends[0];
}

/* --- states ------------------------------------------------------------- */

static void stay_idle(int fds[2])
{
	(void)fds;
}

static void fill_up(int fds[2])
{
	fill(fds[0]);
	fill(fds[0]); /* the system has moved some bytes on, which made room */
}

/* The system moves bytes on until the reader has as many as it may have. */
static void fill_terminal(int fds[2])
{
	int ready;

	do {
		fill(fds[0]);
		usleep(200);
		must(!ioctl(fds[1], FIONREAD, &ready), "FIONREAD");
	} while (ready < 4095);
	fill(fds[0]);
}

static void fill_to_name(int fds[2])
{
	struct sockaddr_un a;
	socklen_t          size = name_of(fds[0], &a);

	while (sendto(fds[0], "x", 1, MSG_DONTWAIT, (struct sockaddr *)&a,
		      size) == 1)
		;
	must(errno == EAGAIN, "sendto");
}

static void fill_backlog(int fds[2])
{
	struct sockaddr_un a;
	socklen_t          size = name_of(fds[0], &a);
	int                fd;

	do
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			    0);
	while (!connect(fd, (struct sockaddr *)&a, size));
	must(errno == EAGAIN, "connect");
	close(fd); /* the listener keeps the other ones */
}

static void fill_counter(int fds[2])
{
	const uint64_t most = UINT64_MAX - 1;

	must(write(fds[0], &most, sizeof(most)) == sizeof(most), "write");
}

static void half_close(int fds[2])
{
	must(!shutdown(fds[1], SHUT_WR), "shutdown");
}

static void fill_and_half_close(int fds[2])
{
	fill_up(fds);
	half_close(fds);
}

static void close_peer(int fds[2])
{
	close(fds[1]);
	fds[1] = -1;
}

static void fill_and_hang_up(int fds[2])
{
	fill_terminal(fds);
	close_peer(fds);
}

static void fill_and_close(int fds[2])
{
	fill_up(fds);
	close_peer(fds);
}

static void reset(int fds[2])
{
	const struct linger now = { .l_onoff = 1 };

	must(!setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now)),
	     "linger");
	close_peer(fds);
}

static void shut_receiving(int fds[2])
{
	(void)shutdown(fds[0], SHUT_RD); /* on udp it has an effect and returns
					  * ENOTCONN */
}

static void give_a_byte(int fds[2])
{
	must(write(fds[1], "x", 1) == 1, "write");
}

static void give_urgent(int fds[2])
{
	must(send(fds[1], "u", 1, MSG_OOB) == 1, "send");
}

/* The error stays in the error queue, so POLLERR stays. */
static void queue_error(int fds[2])
{
	struct pollfd p = { .fd = fds[0] };
	int           err;
	socklen_t     size = sizeof(err);

	close_peer(fds);
	must(write(fds[0], "x", 1) == 1, "write");
	must(poll(&p, 1, 10000) == 1 && p.revents == POLLERR, "no error");
	must(!getsockopt(fds[0], SOL_SOCKET, SO_ERROR, &err, &size), "error");
}

typedef void open_fn(int fds[2]);

static const struct place {
	const char *name;
	open_fn    *open, *set;
} places[] = {
	{ "tcp", open_tcp, stay_idle },
	{ "tcp, a byte", open_tcp, give_a_byte },
	{ "tcp, an urgent byte", open_tcp, give_urgent },
	{ "tcp, full", open_tcp, fill_up },
	{ "tcp, half-closed", open_tcp, half_close },
	{ "tcp, full and half-closed", open_tcp, fill_and_half_close },
	{ "tcp, closed", open_tcp, close_peer },
	{ "tcp, full and closed", open_tcp, fill_and_close },
	{ "tcp, reset", open_tcp, reset },
	{ "tcp, shut", open_tcp, shut_receiving },
	{ "listener", open_tcp_listener, stay_idle },
	{ "udp", open_udp, stay_idle },
	{ "udp, an error queued", open_udp, queue_error },
	{ "udp, shut", open_udp, shut_receiving },
	{ "unix stream", open_unix_stream, stay_idle },
	{ "unix stream, a byte", open_unix_stream, give_a_byte },
	{ "unix stream, full", open_unix_stream, fill_up },
	{ "unix stream, half-closed", open_unix_stream, half_close },
	{ "unix stream, full and half-closed", open_unix_stream,
	  fill_and_half_close },
	{ "unix stream, full and closed", open_unix_stream, fill_and_close },
	{ "unix stream, shut", open_unix_stream, shut_receiving },
	{ "unix datagrams", open_unix_dgram, stay_idle },
	{ "unix datagrams, full", open_unix_dgram, fill_up },
	{ "unix datagrams, full and half-closed", open_unix_dgram,
	  fill_and_half_close },
	{ "unix datagrams, closed", open_unix_dgram, close_peer },
	{ "unix datagrams, shut", open_unix_dgram, shut_receiving },
	{ "unix datagrams, receiver full", open_unix_connected, fill_up },
	{ "unix datagrams, named receiver full", open_unix_sender,
	  fill_to_name },
	{ "unix packets", open_unix_packets, stay_idle },
	{ "unix packets, full", open_unix_packets, fill_up },
	{ "unix packets, full and half-closed", open_unix_packets,
	  fill_and_half_close },
	{ "unix packets, closed", open_unix_packets, close_peer },
	{ "unix client, queue full", open_unix_client, fill_backlog },
	{ "pipe to read", begin_pipe, stay_idle },
	{ "pipe to read, closed", begin_pipe, close_peer },
	{ "pipe to write, full", open_pipe_to_write, fill_up },
	{ "pipe to write, closed", open_pipe_to_write, close_peer },
	{ "fifo", open_fifo, stay_idle },
	{ "fifo, full", open_fifo, fill_up },
	{ "terminal", open_terminal, stay_idle },
	{ "terminal, full", open_terminal, fill_terminal },
	{ "terminal, hung up", open_terminal, close_peer },
	{ "master", open_master, stay_idle },
	{ "master, full", open_master, fill_terminal },
	{ "master, hung up", open_master, close_peer },
	{ "master, full and hung up", open_master, fill_and_hang_up },
	{ "eventfd", open_eventfd, stay_idle },
	{ "eventfd, full", open_eventfd, fill_counter },
	{ "timerfd", open_timerfd, stay_idle },
	{ "signalfd", open_signalfd, stay_idle },
	{ "inotify", open_inotify, stay_idle },
	{ "pidfd", open_pidfd, stay_idle },
	{ "mounts", open_mounts, stay_idle },
};

#define PLACES (sizeof(places) / sizeof(places[0]))

/* --- changes ------------------------------------------------------------ */

static void read_all(int fds[2])
{
	char bytes[4096];

	while (recv(fds[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static void accept_all(int fds[2])
{
	int fd;

	set_nonblock(fds[1], true);
	while ((fd = accept(fds[1], NULL, NULL)) >= 0)
		close(fd);
}

/* From a new peer: another process may have the port of the first by now.
 * ThreadSanitizer takes connect() for a write to what recvmsg() reads. */
static void give_a_datagram(int fds[2])
{
	struct sockaddr_in own;
	struct sockaddr_in peer = { .sin_family = AF_INET };
	socklen_t          size = sizeof(own);
	int                fd = socket(AF_INET, SOCK_DGRAM, 0);

	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!getsockname(fds[0], (struct sockaddr *)&own, &size) &&
		     !bind(fd, (struct sockaddr *)&peer, size) &&
		     !getsockname(fd, (struct sockaddr *)&peer, &size) &&
		     !syscall(SYS_connect, fds[0], &peer, size) &&
		     sendto(fd, "x", 1, 0, (struct sockaddr *)&own, size) == 1,
	     "datagram");
	close(fd);
}

static void cause_error(int fds[2])
{
	if (fds[1] >= 0)
		close_peer(fds);
	(void)!write(fds[0], "x", 1);
}

static void reset_once(int fds[2])
{
	if (fds[1] >= 0)
		reset(fds);
}

static const struct change {
	struct call  call;
	struct place place;
	void (*become)(int fds[2]); /* repeated */
} changes[] = {
#define ROOM(name, do)                                                        \
	{ { name, do }, { "tcp", open_tcp, fill_and_half_close }, read_all }, \
	{                                                                     \
		{ name, do },                                                 \
			{ "unix stream", open_unix_stream,                    \
			  fill_and_half_close },                              \
			read_all                                              \
	}
	ROOM("write", do_write),
	ROOM("writev", do_writev),
	ROOM("send", do_send),
	ROOM("sendmsg", do_sendmsg),
	ROOM("poll out", do_poll_out),
	ROOM("poll one", do_poll_one),
	ROOM("select out", do_select_out),
	ROOM("splice to", do_splice_out),
	ROOM("sendfile", do_sendfile),
#define DATAGRAM(name, do)                                                 \
	{                                                                  \
		{ name, do },                                              \
			{ "udp, an error queued", open_udp, queue_error }, \
			give_a_datagram                                    \
	}
	DATAGRAM("read", do_read),
	DATAGRAM("readv", do_readv),
	DATAGRAM("recv", do_recv),
	DATAGRAM("recvmsg", do_recvmsg),
	{ { "recvmsg of errors", do_recv_errors },
	  { "udp", open_udp, stay_idle },
	  cause_error },
	{ { "poll for nothing", do_poll_no_event },
	  { "tcp", open_tcp, stay_idle },
	  reset_once },
	{ { "sendmsg to a name", do_send_to },
	  { "named receiver full", open_unix_sender, fill_to_name },
	  read_all },
	{ { "send", do_send },
	  { "receiver full", open_unix_connected, fill_up },
	  read_all },
	{ { "connect", do_connect },
	  { "queue full", open_unix_client, fill_backlog },
	  accept_all },
};

#define CHANGES (sizeof(changes) / sizeof(changes[0]))

/* --- cells -------------------------------------------------------------- */

/* The most threads that fit into a 32-bit address space. */
enum { BATCH = sizeof(void *) < 8 ? 64 : 512, LOOKS_MOST = 200 };

/* The longest wait of a call. */
#define WAIT (100 * SENNIT_MILLISECOND)

struct cell {
	const struct call  *call;
	const struct place *place;
	bool                nonblock, endless;
	int                 fds[2];
	ptrdiff_t           result;
	atomic_bool         begun, over;
	pthread_t           thread;
};

static struct cell cells[BATCH];

static void open_cell(struct cell *c, const struct call *call,
		      const struct place *place, bool nonblock)
{
	*c = (struct cell){ .call = call,
			    .place = place,
			    .nonblock = nonblock };
	c->place->open(c->fds);
	must(c->fds[0] >= 0 && c->fds[0] < FDS, c->place->name);
	c->place->set(c->fds);
	set_nonblock(c->fds[0], c->nonblock);
	atomic_store(&looks[c->fds[0]], 0);
}

static int run_cell(void *argument)
{
	struct cell *c = argument;

	atomic_store(&c->begun, true);
	c->result = c->call->run(c->fds[0], c->endless ? SENNIT_NEVER
						       : sennit_after(WAIT));
	atomic_store(&c->over, true);
	return 0;
}

static void say(const struct cell *c, const char *what)
{
	fprintf(stderr, "%s on %s%s: %s (result %td, %u looks)\n",
		c->call->name, c->place->name,
		c->nonblock ? " with O_NONBLOCK" : "", what, c->result,
		atomic_load(&looks[c->fds[0]]));
}

/* Whether all calls have ended. The caller waits for it for some seconds,
 * because a call that hangs never ends. */
static bool are_over(size_t count)
{
	bool over = true;

	for (size_t i = 0; i < count; i++)
		over = over && atomic_load(&cells[i].over);
	return over;
}

/* A call that has not ended would keep the test process alive. */
static void check(size_t count)
{
	bool over = true;

	for (size_t i = 0; i < count; i++) {
		const struct cell *c = &cells[i];

		if (!atomic_load(&c->over)) {
			say(c, "has not ended");
			over = false;
		} else if (atomic_load(&looks[c->fds[0]]) >= LOOKS_MOST) {
			say(c, "looks again and again");
			EXPECT(false);
		}
	}
	if (!over)
		_exit(1);
}

static void close_cells(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		close(cells[i].fds[0]);
		if (cells[i].fds[1] >= 0)
			close(cells[i].fds[1]);
	}
}

/* Allow three times as many descriptors as the cells have, because some calls
 * open more. */
static size_t batch_size(void)
{
	struct rlimit limit;
	size_t        count;

	must(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	count = (size_t)(limit.rlim_cur - 64) / 6;
	return count < BATCH ? count : BATCH;
}

static void run_batches(void (*run)(size_t count, bool endless), bool endless)
{
	const size_t all = 2 * CALLS * PLACES;
	const size_t most = batch_size();

	signal(SIGPIPE, SIG_IGN);
	for (size_t at = 0; at < all;) {
		size_t count = 0;

		for (; count < most && at < all; at++)
			open_cell(&cells[count++], &calls[at / 2 % CALLS],
				  &places[at / 2 / CALLS], at % 2);
		run(count, endless);
		check(count);
		close_cells(count);
	}
}

/* --- in fibers ---------------------------------------------------------- */

static void rest_until_over(size_t count)
{
	for (int i = 0; i < 3000 && !are_over(count); i++)
		must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
}

/* When the group is cancelled, some calls are in the kernel and some are
 * not. */
static void run_as_fibers(size_t count, bool endless)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (size_t i = 0; i < count; i++) {
		cells[i].endless = endless;
		EXPECT(!sennit_group_spawn_task(
			&g,
			SENNIT_MEMBER(.run = run_cell, .argument = &cells[i],
				      .flags = SENNIT_MEMBER_SAME_THREAD)));
	}
	if (endless) {
		for (int i = 0; i < 3; i++)
			must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
		sennit_group_cancel(&g);
	}
	rest_until_over(count);
	check(count);
	(void)!sennit_group_wait(&g);
}

TEST_WITHOUT(a_call_ends_at_its_deadline_and_looks_seldom)
{
	(void)w;
	run_batches(run_as_fibers, false);
}

TEST_WITHOUT(a_call_ends_when_its_group_is_cancelled_and_looks_seldom)
{
	(void)w;
	run_batches(run_as_fibers, true);
}

/* --- in threads --------------------------------------------------------- */

static void *run_as_thread(void *cell)
{
	(void)run_cell(cell);
	return NULL;
}

static void run_as_threads(size_t count, bool endless)
{
	(void)endless;
	for (size_t i = 0; i < count; i++)
		cells[i].thread = must_start_thread(run_as_thread, &cells[i]);
	rest_until_over(count);
	check(count);
	for (size_t i = 0; i < count; i++)
		pthread_join(cells[i].thread, NULL);
}

TEST_WITHOUT(a_call_of_a_thread_ends_at_its_deadline_and_looks_seldom)
{
	(void)w;
	if (strcmp(wanted_backend, "epoll") == 0) /* threads do not depend on
						   * the backend */
		run_batches(run_as_threads, false);
}

/* --- files of /proc ------------------------------------------------------ */

static void wait_for_mounts(void *unused)
{
	int fds[2];

	(void)unused;
	open_mounts(fds);
	EXPECT(sennit_poll(fds[0], POLLPRI, in_ms(1)) == -ETIMEDOUT);
	close(fds[0]);
}

TEST_WITHOUT(a_file_that_changes_can_be_waited_for)
{
	(void)w;
	in_a_task(wait_for_mounts, NULL);
	in_a_thread(wait_for_mounts, NULL);
}

/* --- descriptors that change -------------------------------------------- */

static size_t open_changes(void)
{
	for (size_t i = 0; i < 2 * CHANGES; i++) {
		open_cell(&cells[i], &changes[i / 2].call,
			  &changes[i / 2].place, i % 2);
		cells[i].endless = true;
	}
	return 2 * CHANGES;
}

static void change_until_over(size_t count)
{
	for (int i = 0; i < 3000 && !are_over(count); i++) {
		must(!sennit_sleep(10 * SENNIT_MILLISECOND), "sleep");
		for (size_t k = 0; k < count; k++)
			if (!atomic_load(&cells[k].over))
				changes[k / 2].become(cells[k].fds);
	}
	check(count);
	for (size_t k = 0; k < count; k++)
		if (cells[k].result < (cells[k].call->run != do_connect)) {
			say(&cells[k], "has failed");
			EXPECT(false);
		}
}

TEST_WITHOUT(a_call_goes_on_as_soon_as_it_can)
{
	const size_t count = open_changes();
	sennit_group g;

	(void)w;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (size_t i = 0; i < count; i++)
		EXPECT(!sennit_group_spawn_task(
			&g,
			SENNIT_MEMBER(.run = run_cell, .argument = &cells[i],
				      .flags = SENNIT_MEMBER_SAME_THREAD)));
	change_until_over(count);
	EXPECT(!sennit_group_wait(&g));
	close_cells(count);
}

TEST_WITHOUT(a_call_of_a_thread_goes_on_as_soon_as_it_can)
{
	const size_t count = open_changes();

	(void)w;
	for (size_t i = 0; i < count; i++)
		cells[i].thread = must_start_thread(run_as_thread, &cells[i]);
	change_until_over(count);
	for (size_t i = 0; i < count; i++)
		pthread_join(cells[i].thread, NULL);
	close_cells(count);
}

USES_BACKEND;
