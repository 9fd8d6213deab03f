/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - connections that are made, refused or cancelled; descriptors that are
 * sent; the ends of streams. */
#include "operations.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <sys/un.h>

static void address_of(int fd, struct sockaddr_in *a)
{
	socklen_t size = sizeof(*a);

	must(!getsockname(fd, (struct sockaddr *)a, &size), "getsockname");
}

static int new_socket(bool nonblock)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	set_nonblock(fd, nonblock);
	return fd;
}

static int connect_to(int fd, const struct sockaddr_in *a, sennit_time deadline)
{
	return sennit_connect(fd, (const struct sockaddr *)a, sizeof(*a),
			      deadline);
}

/* --- connecting --------------------------------------------------------- */

static void connect_both_ways(void *argument)
{
	int                fds[2];
	struct sockaddr_in a, peer;
	socklen_t          size = sizeof(peer);
	char               b[4];

	(void)argument;
	open_listener(fds);
	address_of(fds[0], &a);
	for (int i = 0; i < 2; i++) {
		int client = new_socket(i);
		int server;

		EXPECT(connect_to(client, &a, in_ms(100000)) == 0);
		EXPECT(!!(fcntl(client, F_GETFL) & O_NONBLOCK) == i);
		server = sennit_accept(fds[0], (struct sockaddr *)&peer, &size,
				       SOCK_CLOEXEC, in_ms(100000));
		EXPECT(server >= 0);
		EXPECT(peer.sin_family == AF_INET);
		EXPECT(sennit_send(client, "abc", 3, 0, in_ms(100000)) == 3);
		EXPECT(sennit_shutdown(client, SHUT_WR) == 0);
		EXPECT(sennit_recv(server, b, 4, 0, in_ms(100000)) == 3);
		EXPECT(sennit_recv(server, b, 4, 0, in_ms(100000)) == 0);
		EXPECT(sennit_close(client) == 0);
		EXPECT(sennit_close(server) == 0);
	}
	EXPECT(sennit_close(fds[0]) == 0);
	close(fds[1]);
}

TEST_WITH_WORKERS(a_connection_is_made_and_accepted)
{
	in_each_place(connect_both_ways, NULL);
}

static void connect_to_nobody(void *argument)
{
	int                fds[2];
	struct sockaddr_in a;

	(void)argument;
	open_listener(fds);
	address_of(fds[0], &a);
	close(fds[0]);
	for (int i = 0; i < 2; i++) {
		int client = new_socket(i);

		EXPECT(connect_to(client, &a, in_ms(100000)) == -ECONNREFUSED);
		close(client);
	}
	EXPECT(connect_to(-1, &a, in_ms(1)) == -EBADF);
	close(fds[1]);
}

TEST_WITH_WORKERS(a_connection_that_is_refused_fails)
{
	in_each_place(connect_to_nobody, NULL);
}

/* A unix listener whose queue is full makes a connect wait. */
static void open_full_listener(int *fd, struct sockaddr_un *a, int *queued)
{
	socklen_t size = sizeof(*a);

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(*fd >= 0, "socket");
	/* An address that the system chooses. */
	must(!bind(*fd, (struct sockaddr *)a, sizeof(a->sun_family)), "bind");
	must(!listen(*fd, 0), "listen");
	must(!getsockname(*fd, (struct sockaddr *)a, &size), "getsockname");
	*queued = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(!connect(*queued, (struct sockaddr *)a,
		      offsetof(struct sockaddr_un, sun_path) + 6),
	     "connect");
}

static int connect_unix(int fd, const struct sockaddr_un *a,
			sennit_time deadline)
{
	return sennit_connect(fd, (const struct sockaddr *)a,
			      offsetof(struct sockaddr_un, sun_path) + 6,
			      deadline);
}

static void connect_to_full(void *argument)
{
	struct sockaddr_un a;
	int                listener, queued;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)argument;
	open_full_listener(&listener, &a, &queued);
	EXPECT(connect_unix(client, &a, 0) == -ETIMEDOUT);
	EXPECT(connect_unix(client, &a, in_ms(3)) == -ETIMEDOUT);
	close(client);
	close(queued);
	close(listener);
}

TEST_WITH_WORKERS(connecting_ends_at_the_deadline)
{
	in_each_place(connect_to_full, NULL);
}

/* --- resets ------------------------------------------------------------- */

struct connection {
	int         client, server;
	char        bytes[4];
	ptrdiff_t   received;
	atomic_bool over;
};

static void open_connection(struct connection *c)
{
	int                fds[2];
	struct sockaddr_in a;

	open_listener(fds);
	address_of(fds[0], &a);
	c->client = fds[1];
	must(!connect(c->client, (struct sockaddr *)&a, sizeof(a)), "connect");
	c->server = accept4(fds[0], NULL, NULL, SOCK_CLOEXEC);
	must(c->server >= 0, "accept");
	close(fds[0]);
	atomic_init(&c->over, false);
}

static void reset(int fd)
{
	const struct linger l = { .l_onoff = 1 };

	must(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), "linger");
	close(fd);
}

static void receive_to_the_end(void *argument)
{
	struct connection *c = argument;

	c->received = sennit_recv(c->server, c->bytes, 4, 0, in_ms(100000));
	atomic_store(&c->over, true);
}

TEST_WITH_WORKERS(a_peer_that_resets_ends_the_wait)
{
	struct connection c;

	open_connection(&c);
	must_schedule(receive_to_the_end, &c);
	assert_soon(io_waits(w->s) == 1);
	reset(c.client);
	assert_soon(atomic_load(&c.over));
	assert_int_equal(c.received, -ECONNRESET);
	close(c.server);
}

/* The first send may succeed before the reset is known. */
static void use_after_reset(void *unused)
{
	struct connection c;
	ptrdiff_t         n;

	(void)unused;
	open_connection(&c);
	reset(c.client);
	EXPECT(sennit_recv(c.server, c.bytes, 4, 0, in_ms(100000)) ==
	       -ECONNRESET);
	EXPECT(sennit_recv(c.server, c.bytes, 4, 0, in_ms(100000)) == 0);
	n = sennit_send(c.server, "abc", 3, 0, in_ms(100000));
	EXPECT(n == -EPIPE || n == -ECONNRESET);
	close(c.server);
}

TEST_WITH_WORKERS(calls_after_a_reset_say_so)
{
	in_each_place(use_after_reset, NULL);
}

/* --- messages ----------------------------------------------------------- */

union control {
	struct cmsghdr header;
	char           bytes[CMSG_SPACE(sizeof(int))];
};

static void send_descriptor(int by, int fd)
{
	char            byte = 'x';
	struct iovec    v = { &byte, 1 };
	union control   c = { .bytes = "" };
	struct msghdr   m = { .msg_iov = &v,
			      .msg_iovlen = 1,
			      .msg_control = c.bytes,
			      .msg_controllen = sizeof(c.bytes) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	EXPECT(sennit_sendmsg(by, &m, 0, in_ms(100000)) == 1);
}

struct queued_task {
	sennit_scheduler *s;
	int               by;
	int               fd;
	atomic_bool       over;
};

static void receive_descriptor(void *argument)
{
	struct queued_task *p = argument;
	char                byte;
	struct iovec        v = { &byte, 1 };
	union control       c = { .bytes = "" };
	struct msghdr       m = { .msg_iov = &v,
				  .msg_iovlen = 1,
				  .msg_control = c.bytes,
				  .msg_controllen = sizeof(c.bytes) };

	EXPECT(sennit_recvmsg(p->by, &m, MSG_CMSG_CLOEXEC, in_ms(100000)) == 1);
	EXPECT(CMSG_FIRSTHDR(&m));
	memcpy(&p->fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(p->fd));
	atomic_store(&p->over, true);
}

TEST_WITH_WORKERS(a_descriptor_is_sent_to_who_waits_for_it)
{
	struct queued_task p = { .s = w->s, .fd = -1 };
	int                by[2], ends[2];
	char               b[2];

	open_sockets(by);
	begin_pipe(ends);
	p.by = by[0];
	must_schedule(receive_descriptor, &p);
	assert_soon(io_waits(w->s) == 1);
	send_descriptor(by[1], ends[0]);
	assert_soon(atomic_load(&p.over));
	assert_int_equal(write(ends[1], "yz", 2), 2);
	assert_int_equal(sennit_read(p.fd, b, 2, in_ms(100000)), 2);
	close(p.fd);
	for (int i = 0; i < 2; i++) {
		close(by[i]);
		close(ends[i]);
	}
}

/* --- flags -------------------------------------------------------------- */

static void look_and_take(void *argument)
{
	int  fds[2];
	char b[4];

	(void)argument;
	open_sockets(fds);
	EXPECT(sennit_recv(fds[0], b, 4, MSG_DONTWAIT, SENNIT_NEVER) ==
	       -EAGAIN);
	give_two_bytes(fds);
	EXPECT(sennit_recv(fds[0], b, 4, MSG_PEEK, SENNIT_NEVER) == 2);
	EXPECT(sennit_recv(fds[0], b, 4, 0, SENNIT_NEVER) == 2);
	close(fds[1]);
	EXPECT(sennit_recv(fds[0], b, 4, 0, SENNIT_NEVER) == 0);
	EXPECT(sennit_send(fds[0], b, 4, 0, SENNIT_NEVER) == -EPIPE);
	close(fds[0]);
}

TEST_WITH_WORKERS(flags_mean_what_they_mean_to_the_system)
{
	in_each_place(look_and_take, NULL);
}

/* --- errors -------------------------------------------------------------- */

struct error_wait {
	int         fd;
	ptrdiff_t   result;
	atomic_bool over;
};

static void await_error(void *argument)
{
	static char        bytes[65536];
	struct error_wait *x = argument;

	x->result = sennit_recv(x->fd, bytes, sizeof(bytes), MSG_ERRQUEUE,
				in_ms(5000));
	atomic_store(&x->over, true);
}

/* `to` makes that bytes arrive at fd. */
static void await_bytes(struct world *w, int fd, int to, const void *bytes,
			size_t size)
{
	struct error_wait x = { .fd = fd };

	must_schedule(await_error, &x);
	assert_soon(io_waits(w->s) == 1);
	must(send(to, bytes, size, 0) == (ssize_t)size, "send");
	assert_soon(atomic_load(&x.over));
	assert_true(x.result > 0);
}

/* Asks the kernel for what it answers. */
static const struct {
	struct nlmsghdr head;
	struct rtgenmsg of;
} question = { { .nlmsg_len = sizeof(question),
		 .nlmsg_type = RTM_GETLINK,
		 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
	       { AF_UNSPEC } };

TEST_WITHOUT(sockets_without_a_queue_of_errors_receive_bytes)
{
	int fds[2];
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			     NETLINK_ROUTE);

	open_sockets(fds);
	await_bytes(w, fds[0], fds[1], "ab", 2);
	close(fds[0]);
	close(fds[1]);
	if (netlink < 0)
		return;
	await_bytes(w, netlink, netlink, &question, sizeof(question));
	close(netlink);
}

/* SIGPIPE is not ignored here: sennit_send must not raise it. */
USES_BACKEND;
