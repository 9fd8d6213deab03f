/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - sockets that transfer whole messages: a message that has to wait
 * for room arrives unchanged, and a receiver returns when its socket is shut
 * down.
 */
#include "operations.h"

#include <stddef.h>
#include <sys/un.h>

/* --- sending ------------------------------------------------------------ */

#define TEXT      "message"
#define TEXT_SIZE ((ptrdiff_t)sizeof(TEXT) - 1)

static struct sockaddr_un name; /* of the receiver, if it has one */
static socklen_t          name_size;

static ptrdiff_t send_text(int fd)
{
	return sennit_send(fd, TEXT, (size_t)TEXT_SIZE, 0, SENNIT_NEVER);
}

static ptrdiff_t write_text(int fd)
{
	return sennit_write(fd, TEXT, (size_t)TEXT_SIZE, SENNIT_NEVER);
}

static ptrdiff_t writev_text(int fd)
{
	const struct iovec v[2] = { { TEXT, 3 }, { &TEXT[3], 4 } };

	return sennit_writev(fd, v, 2, SENNIT_NEVER);
}

static ptrdiff_t send_pieces(int fd, struct sockaddr_un *to)
{
	struct iovec        v[2] = { { TEXT, 3 }, { &TEXT[3], 4 } };
	const struct msghdr m = { .msg_name = to,
				  .msg_namelen = to ? name_size : 0,
				  .msg_iov = v,
				  .msg_iovlen = 2 };

	return sennit_sendmsg(fd, &m, 0, SENNIT_NEVER);
}

static ptrdiff_t sendmsg_text(int fd)
{
	return send_pieces(fd, NULL);
}

static ptrdiff_t sendmsg_text_to(int fd)
{
	return send_pieces(fd, &name);
}

/* --- sockets ------------------------------------------------------------ */

static void open_pair(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), "pair");
}

static void open_packets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	     "pair");
}

static void open_named(int fds[2])
{
	name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	name_size = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
		    (socklen_t)snprintf(name.sun_path + 1, 40,
					"sennit-messages-%d", getpid());
	fds[0] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(!bind(fds[1], (struct sockaddr *)&name, name_size), "bind");
}

static void open_connected(int fds[2])
{
	open_named(fds);
	must(!connect(fds[0], (struct sockaddr *)&name, name_size), "connect");
}

static const struct way {
	const char *call;
	ptrdiff_t (*send)(int fd);
	const char *socket;
	void (*open)(int fds[2]);
} ways[] = {
#define WAYS(call, send)                                 \
	{ call, send, "pair", open_pair },               \
		{ call, send, "packets", open_packets }, \
	{                                                \
		call, send, "connected", open_connected  \
	}
	WAYS("send", send_text),
	WAYS("write", write_text),
	WAYS("writev", writev_text),
	WAYS("sendmsg", sendmsg_text),
	{ "sendmsg", sendmsg_text_to, "named", open_named },
};

/* --- one message -------------------------------------------------------- */

struct message {
	const struct way *way;
	int               fds[2];
	ptrdiff_t         sent;
	atomic_bool       over;
};

static void send_one(void *argument)
{
	struct message *m = argument;

	m->sent = m->way->send(m->fds[0]);
	atomic_store(&m->over, true);
}

/* One byte each. */
static void fill_with_messages(const struct message *m)
{
	const struct sockaddr *to = NULL;

	if (m->way->open == open_named)
		to = (struct sockaddr *)&name;
	while (sendto(m->fds[0], "x", 1, MSG_DONTWAIT, to,
		      to ? name_size : 0) == 1)
		;
	must(errno == EAGAIN, "sendto");
}

/* Whether the text was received, and nothing else except what filled the
 * queue. */
static bool has_come(int fd)
{
	char    bytes[64];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) == 1)
		continue;
	if (n < 0)
		return false;
	EXPECT(n == TEXT_SIZE && !memcmp(bytes, TEXT, (size_t)n));
	return true;
}

static void send_to_full(struct world *w, const struct way *way, bool nonblock)
{
	struct message m = { .way = way };
	const unsigned before = broken_claims;

	way->open(m.fds);
	fill_with_messages(&m);
	set_nonblock(m.fds[0], nonblock);
	must_schedule(send_one, &m);
	EXPECT_SOON(io_waits(w->s) == 1 || way->open == open_named);
	EXPECT_SOON(has_come(m.fds[1]));
	EXPECT_SOON(atomic_load(&m.over));
	EXPECT(m.sent == TEXT_SIZE);
	if (broken_claims != before)
		fprintf(stderr, "%s by %s%s: %td\n", way->socket, way->call,
			nonblock ? " with O_NONBLOCK" : "", m.sent);
	close(m.fds[0]);
	close(m.fds[1]);
}

TEST_WITH_ONE(a_message_that_has_to_wait_arrives_whole)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		send_to_full(w, &ways[i], false);
		send_to_full(w, &ways[i], true);
	}
}

/* --- shut down ---------------------------------------------------------- */

static void open_udp(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(!bind(fds[1], (struct sockaddr *)&a, size) &&
		     !getsockname(fds[1], (struct sockaddr *)&a, &size) &&
		     !connect(fds[0], (struct sockaddr *)&a, size),
	     "udp");
}

static void (*const sockets[])(int fds[2]) = { open_udp, open_pair,
					       open_packets, open_sockets };

static ptrdiff_t (*const receives[])(int fd, sennit_time deadline) = {
	call_recv, call_recvmsg, call_read, call_readv
};

struct receiver {
	int fds[2];
	ptrdiff_t (*receive)(int fd, sennit_time deadline);
	ptrdiff_t   result;
	atomic_bool begun, over;
};

static void receive_one(void *argument)
{
	struct receiver *r = argument;

	atomic_store(&r->begun, true);
	r->result = r->receive(r->fds[0], SENNIT_NEVER);
	atomic_store(&r->over, true);
}

static void *receive_as_thread(void *r)
{
	receive_one(r);
	return NULL;
}

/* Before the receiver waits, or while it waits. */
static void shut(struct receiver *r)
{
	EXPECT(!sennit_shutdown(r->fds[0], SHUT_RD));
	EXPECT_SOON(atomic_load(&r->over));
	if (!atomic_load(&r->over))
		_exit(1); /* it would keep the test process alive */
	EXPECT(r->result == 0);
}

static void shut_while_waiting(struct world *w, struct receiver *r, int how)
{
	pthread_t t;

	if (how == 0) {
		must_schedule(receive_one, r);
		EXPECT_SOON(io_waits(w->s) == 1);
		shut(r);
	} else if (how == 1) {
		t = must_start_thread(receive_as_thread, r);
		EXPECT_SOON(atomic_load(&r->begun));
		shut(r);
		pthread_join(t, NULL);
	} else {
		EXPECT(!sennit_shutdown(r->fds[0], SHUT_RD));
		must_schedule(receive_one, r);
		shut(r);
	}
}

TEST_WITH_ONE(a_receiver_whose_socket_is_shut_gets_the_end)
{
	for (unsigned i = 0; i < 4u * 4 * 3 * 2; i++) {
		struct receiver r = { .receive = receives[i % 4] };

		sockets[i / 4 % 4](r.fds);
		set_nonblock(r.fds[0], i / 16 % 2);
		shut_while_waiting(w, &r, (int)(i / 32));
		close(r.fds[0]);
		close(r.fds[1]);
	}
}

USES_BACKEND;
