/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.c - an acceptor on every worker, connections to a name, and messages
 * of several pieces. The server receives by a stream, which has no buffer while
 * nothing comes.
 */
#include "../calls/calls.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>
#include <sennit/resolve.h>
#include <sennit/socket_option.h>
#include <sennit/stream.h>
#include <string.h>
#include <unistd.h>

/* Send back what comes. */
static void echo(void *unused, int fd)
{
	sennit_stream *stream;
	void          *bytes;
	ptrdiff_t      n;

	(void)unused;
	CHECK(sennit_stream_open(&stream, fd) == 0);
	while ((n = sennit_stream_next(stream, &bytes, soon())) > 0) {
		if (sennit_send_all(fd, bytes, (size_t)n, 0, NULL, soon()))
			break;
		sennit_stream_give_back(stream); /* until the next bytes */
	}
	sennit_stream_close(stream);
	(void)sennit_close(fd);
}

/* A socket that listens at a free port of this machine. */
static int listen_here(char *service, size_t size)
{
	struct addrinfo    hints = { .ai_flags = AI_NUMERICHOST,
				     .ai_socktype = SOCK_STREAM };
	struct addrinfo   *found;
	struct sockaddr_in at;
	socklen_t          length = sizeof(at);
	int                fd;

	CHECK(sennit_resolve("127.0.0.1", "0", &hints, &found, soon()) == 0);
	fd = sennit_listen(found->ai_addr, found->ai_addrlen, 0,
			   SENNIT_LISTEN_SHARED);
	freeaddrinfo(found);
	CHECK(fd >= 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &length) == 0);
	snprintf(service, size, "%u", (unsigned int)ntohs(at.sin_port));
	return fd;
}

/* What the two ends are called. */
static void check_names(int fd, const char *service)
{
	char               text[SENNIT_ADDRESS_TEXT], own[SENNIT_ADDRESS_TEXT];
	struct sockaddr_in at;
	socklen_t          size = sizeof(at);

	CHECK(sennit_peer_address(fd, text, sizeof(text)) == 0);
	CHECK(strcmp(strrchr(text, ':') + 1, service) == 0);
	CHECK(sennit_local_address(fd, own, sizeof(own)) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
	CHECK(sennit_address_text((struct sockaddr *)&at, size, text,
				  sizeof(text)) == 0);
	CHECK(strcmp(text, own) == 0);
}

/* A long connection that notices within two minutes that its peer is gone. */
static void keep_alive(int fd)
{
	int on = 0;

	CHECK(sennit_socket_set(fd, SENNIT_SOCKET_KEEP_ALIVE, 1) == 0);
	CHECK(sennit_socket_set(fd, SENNIT_SOCKET_KEEP_ALIVE_IDLE, 60) == 0);
	CHECK(sennit_socket_set(fd, SENNIT_SOCKET_KEEP_ALIVE_INTERVAL, 15) ==
	      0);
	CHECK(sennit_socket_set(fd, SENNIT_SOCKET_KEEP_ALIVE_COUNT, 4) == 0);
	CHECK(sennit_socket_get(fd, SENNIT_SOCKET_NO_DELAY, &on) == 0 && on);
}

static void talk(const char *service)
{
	char          text[10];
	struct iovec  pieces[] = { { "hello", 5 }, { "world", 5 } };
	struct iovec  room = { text, sizeof(text) };
	struct msghdr out = { .msg_iov = pieces, .msg_iovlen = 2 };
	struct msghdr in = { .msg_iov = &room, .msg_iovlen = 1 };
	int           fd = sennit_connect_host("127.0.0.1", service, soon());
	sennit_case   cases[] = { sennit_case_readable(fd), /* not yet */
				  sennit_case_writable(fd) };
	size_t        which;

	CHECK(fd >= 0);
	CHECK(sennit_select_until(cases, 2, &which, soon()) == 0);
	CHECK(which == 1 && cases[1].result == POLLOUT);
	check_names(fd, service);
	keep_alive(fd);
	CHECK(sennit_sendmsg(fd, &out, 0, soon()) == 10);
	CHECK(sennit_recvmsg(fd, &in, MSG_WAITALL, soon()) == 10);
	CHECK(memcmp(text, "helloworld", 10) == 0);
	(void)sennit_close(fd);
}

static void show(sennit_scheduler *s)
{
	sennit_group acceptors, connections;
	char         service[8];
	int          fd = listen_here(service, sizeof(service));

	(void)s;
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	CHECK(sennit_listen_each(fd, &acceptors, &connections, echo, NULL) ==
	      0);
	for (int i = 0; i < 3; i++)
		talk(service);
	sennit_group_cancel(&acceptors);
	(void)sennit_group_wait(&acceptors); /* -ECANCELED */
	CHECK(sennit_group_wait(&connections) == 0);
	(void)sennit_close(fd);
}

int main(void)
{
	return run(show);
}
