/* SPDX-License-Identifier: Apache-2.0 */
/* network_calls.c - what calls say in the simulated network: of connections
 * that are refused, reset, half closed or closed by close(), of addresses and
 * flags, and of descriptors that are not in it.
 */
#include "network.h"

#include "sennit/file.h"
#include "sennit/splice.h"
#include "sennit/stream.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Longer than anything takes to arrive. */
static void settle(void)
{
	sennit_sleep(SENNIT_SECOND);
}

static void try_calls(void *test)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 1));

	REQUIRE(!sennit_simulation_begin(SENNIT_SIMULATION_CONFIG(.whole = 1)));
	(*(void (**)(void))test)();
	end(s);
}

static void explore_calls(void (*test)(void))
{
	explore_some(try_calls, &test, SCHEDULES / 30);
}

#define CASE(name, test)             \
	TEST(name)                   \
	{                            \
		explore_calls(test); \
	}

/* --- connections -------------------------------------------------------- */

static void connect_to_nobody(void)
{
	struct sockaddr_in address;
	int                listener = listen_somewhere(&address);
	int                fd = new_socket();

	REQUIRE(sennit_recv(fd, &address, 1, 0, 0) == -ENOTCONN);
	REQUIRE(sennit_send(fd, &address, 1, 0, 0) == -ENOTCONN);
	REQUIRE(sennit_shutdown(fd, SHUT_RDWR) == -ENOTCONN);
	REQUIRE(sennit_accept(fd, NULL, NULL, 0, 0) == -EINVAL);
	sennit_close(listener);
	REQUIRE(connect_to(fd, &address) == -ECONNREFUSED);
	REQUIRE(connect_to(fd, &address) == -ECONNREFUSED);
	REQUIRE(sennit_connect(fd, (struct sockaddr *)&address, sizeof(address),
			       0) == -ETIMEDOUT);
	REQUIRE(sennit_recv(fd, &address, 1, 0, SENNIT_NEVER) == -ECONNREFUSED);
	sennit_close(fd);
}

static void connect_and_look(void)
{
	struct sockaddr_in address, peer;
	socklen_t          size = sizeof(peer);
	int                listener = listen_somewhere(&address);
	int                fd = new_socket();
	int                on = 1, server;

	REQUIRE(sennit_connect(fd, (struct sockaddr *)&address, sizeof(address),
			       0) == -ETIMEDOUT);
	REQUIRE(connect_to(fd, &address) == 0);
	REQUIRE(connect_to(fd, &address) == -EISCONN);
	server = sennit_accept(listener, (struct sockaddr *)&peer, &size,
			       SOCK_CLOEXEC | SOCK_NONBLOCK, SENNIT_NEVER);
	REQUIRE(server >= 0 && size == sizeof(peer));
	REQUIRE(peer.sin_family == AF_INET && peer.sin_port);
	REQUIRE(peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	REQUIRE(fcntl(server, F_GETFL) & O_NONBLOCK);
	REQUIRE(fcntl(server, F_GETFD) & FD_CLOEXEC);
	REQUIRE(!setsockopt(server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
	sennit_close(fd);
	sennit_close(server);
	sennit_close(listener);
}

/* A listener that is closed resets who was queued there. */
static void close_the_listener(void)
{
	struct sockaddr_in address;
	int                listener = listen_somewhere(&address);
	int                fd = new_socket();
	char               byte;

	REQUIRE(connect_to(fd, &address) == 0);
	sennit_close(listener);
	REQUIRE(sennit_recv(fd, &byte, 1, 0, SENNIT_NEVER) == -ECONNRESET);
	sennit_close(fd);
}

CASE(without_a_listener_a_connect_is_refused, connect_to_nobody)
CASE(a_connection_has_addresses_and_options, connect_and_look)
CASE(a_listener_that_closes_resets_who_is_queued, close_the_listener)

/* --- ends of connections ------------------------------------------------ */

static void reset_it(void)
{
	char bytes[4];
	int  fds[2];

	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(sennit_send(fds[0], "abc", 3, 0, SENNIT_NEVER) == 3);
	settle();
	REQUIRE(!sennit_simulation_reset(fds[0]));
	settle();
	/* What had arrived is received first, then the error once. */
	REQUIRE(sennit_recv(fds[1], bytes, 4, 0, 0) == 3);
	REQUIRE(sennit_poll(fds[1], POLLIN, 0) == (POLLIN | POLLERR | POLLHUP));
	REQUIRE(sennit_recv(fds[1], bytes, 4, 0, 0) == -ECONNRESET);
	REQUIRE(sennit_recv(fds[1], bytes, 4, 0, 0) == 0);
	REQUIRE(sennit_send(fds[1], bytes, 4, 0, 0) == -EPIPE);
	REQUIRE(sennit_send(fds[0], bytes, 4, 0, 0) == -ECONNRESET);
	REQUIRE(sennit_shutdown(fds[0], SHUT_WR) == -ENOTCONN);
	sennit_close(fds[0]);
	sennit_close(fds[1]);
}

static void close_half(void)
{
	char bytes[4];
	int  fds[2];

	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(sennit_send(fds[0], "abc", 3, 0, SENNIT_NEVER) == 3);
	REQUIRE(sennit_shutdown(fds[0], 77) == -EINVAL);
	REQUIRE(!sennit_shutdown(fds[0], SHUT_WR));
	REQUIRE(sennit_send(fds[0], bytes, 1, 0, SENNIT_NEVER) == -EPIPE);
	REQUIRE(sennit_recv(fds[1], bytes, 4, 0, SENNIT_NEVER) == 3);
	REQUIRE(sennit_recv(fds[1], bytes, 4, 0, SENNIT_NEVER) == 0);
	REQUIRE(sennit_poll(fds[1], POLLIN | POLLRDHUP, 0) ==
		(POLLIN | POLLRDHUP));
	REQUIRE(sennit_send(fds[1], "xy", 2, 0, SENNIT_NEVER) == 2);
	REQUIRE(sennit_recv(fds[0], bytes, 4, 0, SENNIT_NEVER) == 2);
	REQUIRE(!sennit_shutdown(fds[0], SHUT_RD));
	REQUIRE(sennit_recv(fds[0], bytes, 4, 0, SENNIT_NEVER) == 0);
	sennit_close(fds[1]);
	sennit_close(fds[0]);
}

/* Whoever closes without having received all resets the connection. */
static void close_unread(void)
{
	char byte;
	int  fds[2];

	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(sennit_send(fds[0], "abc", 3, 0, SENNIT_NEVER) == 3);
	sennit_close(fds[1]);
	REQUIRE(sennit_recv(fds[0], &byte, 1, 0, SENNIT_NEVER) == -ECONNRESET);
	sennit_close(fds[0]);
}

static void send_in_vain(void)
{
	int fds[2];

	REQUIRE(!sennit_simulation_pair(fds));
	sennit_close(fds[1]);
	settle();
	REQUIRE(sennit_send(fds[0], "abc", 3, 0, SENNIT_NEVER) == 3);
	settle();
	REQUIRE(sennit_send(fds[0], "abc", 3, 0, SENNIT_NEVER) == -EPIPE);
	sennit_close(fds[0]);
}

static volatile sig_atomic_t signals;

static void count(int number)
{
	(void)number;
	signals++;
}

static void write_in_vain(void)
{
	int fds[2];

	signals = 0;
	signal(SIGPIPE, count);
	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(!sennit_shutdown(fds[0], SHUT_WR));
	REQUIRE(sennit_send(fds[0], "a", 1, 0, SENNIT_NEVER) == -EPIPE);
	REQUIRE(!signals);
	REQUIRE(sennit_write(fds[0], "a", 1, SENNIT_NEVER) == -EPIPE);
	REQUIRE(signals == 1);
	sennit_close(fds[0]);
	sennit_close(fds[1]);
}

/* close(), behind the network's back. */
static void close_plainly(void)
{
	char byte;
	int  fds[2], again;

	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(!close(fds[1]));
	REQUIRE(sennit_recv(fds[0], &byte, 1, 0, SENNIT_NEVER) == 0);
	REQUIRE(!close(fds[0]));
	again = new_socket(); /* a number that is used again */
	REQUIRE(again == fds[0] || again == fds[1]);
	REQUIRE(sennit_recv(again, &byte, 1, 0, 0) == -ENOTCONN);
	close(again);
}

CASE(a_reset_loses_what_has_not_arrived_alone, reset_it)
CASE(one_direction_ends_alone, close_half)
CASE(closing_unread_resets, close_unread)
CASE(sending_to_nobody_comes_back_as_an_error, send_in_vain)
CASE(write_raises_a_signal_and_send_does_not, write_in_vain)
CASE(a_plain_close_is_noticed, close_plainly)

/* --- flags and messages ------------------------------------------------- */

static void use_flags(void)
{
	char                b[4], c[CMSG_SPACE(sizeof(int))] = "";
	struct iovec        v[2] = { { "a", 1 }, { "bc", 2 } };
	const struct msghdr out = { .msg_iov = v, .msg_iovlen = 2 };
	struct msghdr       in = { .msg_iov = &(struct iovec){ b, 4 },
				   .msg_iovlen = 1,
				   .msg_control = c,
				   .msg_controllen = sizeof(c) };
	int                 fds[2];

	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(sennit_recv(fds[0], b, 4, MSG_DONTWAIT, SENNIT_NEVER) ==
		-EAGAIN);
	REQUIRE(sennit_sendmsg(fds[0], &out, 0, SENNIT_NEVER) == 3);
	REQUIRE(sennit_recv(fds[1], b, 4, MSG_PEEK, SENNIT_NEVER) == 3);
	REQUIRE(sennit_recvmsg(fds[1], &in, 0, SENNIT_NEVER) == 3);
	REQUIRE(!memcmp(b, "abc", 3) && !in.msg_controllen);
	in.msg_controllen = sizeof(c);
	REQUIRE(sennit_sendmsg(fds[1], &in, 0, SENNIT_NEVER) == -EOPNOTSUPP);
	REQUIRE(sennit_send(fds[0], b, 1, MSG_OOB, SENNIT_NEVER) ==
		-EOPNOTSUPP);
	REQUIRE(sennit_recv(fds[1], b, 0, 0, SENNIT_NEVER) == 0);
	REQUIRE(sennit_send(fds[1], b, 0, 0, SENNIT_NEVER) == 0);
	REQUIRE(sennit_pread(fds[1], b, 1, 0, SENNIT_NEVER) == -ESPIPE);
	sennit_close(fds[0]);
	sennit_close(fds[1]);
}

CASE(flags_mean_what_they_mean_to_the_system, use_flags)

/* --- what is not in the network ----------------------------------------- */

static void use_others(void)
{
	char          name[] = "/tmp/sennit-simulation-XXXXXX";
	char          b[4];
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int           fds[2], file = mkstemp(name);

	REQUIRE(file >= 0 && !unlink(name));
	REQUIRE(sennit_write(file, "abcd", 4, SENNIT_NEVER) == 4);
	REQUIRE(sennit_pread(file, b, 4, 1, SENNIT_NEVER) == 3);
	REQUIRE(sennit_poll(file, POLLIN, SENNIT_NEVER) == POLLIN);
	REQUIRE(!pipe2(fds, O_CLOEXEC));
	REQUIRE(sennit_read(fds[0], b, 1, SENNIT_NEVER) == -EOPNOTSUPP);
	REQUIRE(sennit_poll(fds[0], POLLIN, SENNIT_NEVER) == -EOPNOTSUPP);
	p[0].fd = file;
	p[1].fd = fds[0];
	REQUIRE(sennit_poll_many(p, 2, SENNIT_NEVER) == -EOPNOTSUPP);
	p[1].fd = 1000;
	REQUIRE(sennit_poll_many(p, 2, SENNIT_NEVER) == 2);
	REQUIRE(p[0].revents == POLLIN && p[1].revents == POLLNVAL);
	REQUIRE(!sennit_close(fds[0]) && !sennit_close(fds[1]));
	REQUIRE(!sennit_close(file) && sennit_close(file) == -EBADF);
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	REQUIRE(sennit_send(fds[0], b, 1, 0, SENNIT_NEVER) == -EOPNOTSUPP);
	REQUIRE(sennit_simulation_reset(fds[0]) == -EOPNOTSUPP);
	REQUIRE(!sennit_close(fds[0]) && !sennit_close(fds[1]));
	REQUIRE(sennit_recv(fds[0], b, 1, 0, SENNIT_NEVER) == -EBADF);
	REQUIRE(sennit_recv(-1, b, 1, 0, SENNIT_NEVER) == -EBADF);
	REQUIRE(sennit_poll(-1, POLLIN, SENNIT_NEVER) == -EBADF);
	REQUIRE(!strcmp(sennit_io_backend(), "simulated"));
}

/* From a file to a socket, and received by a stream. */
static void send_a_file(void)
{
	int            file = sennit_open("/tmp", O_TMPFILE | O_RDWR, 0600, 0);
	sennit_stream *s;
	off_t          at = 2;
	void          *bytes;
	int            fds[2];

	REQUIRE(file >= 0 && sennit_write(file, "abcdef", 6, 0) == 6);
	REQUIRE(!sennit_fsync(file, SENNIT_NEVER));
	REQUIRE(!sennit_simulation_pair(fds));
	REQUIRE(!sennit_stream_open(&s, fds[1]));
	REQUIRE(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	REQUIRE(sennit_sendfile(fds[0], file, &at, 100, SENNIT_NEVER) == 4);
	REQUIRE(at == 6);
	REQUIRE(sennit_sendfile(fds[0], file, &at, 100, SENNIT_NEVER) == 0);
	REQUIRE(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 4);
	REQUIRE(!memcmp(bytes, "cdef", 4));
	REQUIRE(lseek(file, 5, SEEK_SET) == 5);
	REQUIRE(sennit_splice(file, NULL, fds[0], NULL, 1, 0, SENNIT_NEVER) ==
		-EOPNOTSUPP);
	REQUIRE(sennit_sendfile(fds[0], file, NULL, 9, SENNIT_NEVER) == 1);
	REQUIRE(lseek(file, 0, SEEK_CUR) == 6);
	REQUIRE(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 1);
	REQUIRE(!sennit_close(fds[0]));
	REQUIRE(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 0);
	sennit_stream_close(s);
	REQUIRE(!sennit_close(fds[1]) && !sennit_close(file));
}

static int wait_for_byte(void *fd)
{
	char      byte;
	ptrdiff_t n = sennit_recv(*(int *)fd, &byte, 1, 0, SENNIT_NEVER);

	return n < 0 ? (int)n : 0;
}

static void begin_wrongly(void)
{
	struct {
		sennit_simulation_config known;
		uint64_t                 more;
	} newer = { .known = { .size = sizeof(newer) } };
	const sennit_simulation_config unknown = { .size = 1 };
	sennit_group                   g;
	int                            fds[2];

	REQUIRE(sennit_simulation_begin(
			SENNIT_SIMULATION_CONFIG(.delay_min_ns = 2,
						 .delay_max_ns = 1)) ==
		-EINVAL);
	REQUIRE(sennit_simulation_begin(&unknown) == -EINVAL);
	REQUIRE(!sennit_simulation_begin(&newer.known));
	newer.more = 1;
	REQUIRE(sennit_simulation_begin(&newer.known) == -E2BIG);
	REQUIRE(!sennit_simulation_pair(fds));
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, wait_for_byte, &fds[0]));
	while (!somebody_waits())
		sennit_yield();
	REQUIRE(sennit_simulation_begin(NULL) == -EBUSY);
	REQUIRE(sennit_send(fds[1], "a", 1, 0, SENNIT_NEVER) == 1);
	sennit_group_wait(&g);
	REQUIRE(!sennit_simulation_begin(NULL));
	REQUIRE(sennit_send(fds[1], "a", 1, 0, SENNIT_NEVER) == -ENOTCONN);
	REQUIRE(!sennit_close(fds[0]) && !sennit_close(fds[1]));
}

CASE(files_work_and_other_descriptors_are_refused, use_others)
CASE(a_file_is_sent_and_received_by_a_stream, send_a_file)
CASE(a_network_begins_anew_while_nobody_waits, begin_wrongly)
