/* SPDX-License-Identifier: Apache-2.0 */
/* socket_option.c - each option by its name is the one of setsockopt(), on each
 * kind of descriptor.
 */
#include "operations.h"

#include "sennit/listen.h"
#include "sennit/socket_option.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static const struct known {
	sennit_socket_option option;
	int                  level, name;
	int                  value;  /* to set */
	int                  factor; /* of what is read back */
} known[] = {
	{ SENNIT_SOCKET_NO_DELAY, IPPROTO_TCP, TCP_NODELAY, 1, 1 },
	{ SENNIT_SOCKET_CORK, IPPROTO_TCP, TCP_CORK, 1, 1 },
	{ SENNIT_SOCKET_KEEP_ALIVE, SOL_SOCKET, SO_KEEPALIVE, 1, 1 },
	{ SENNIT_SOCKET_KEEP_ALIVE_IDLE, IPPROTO_TCP, TCP_KEEPIDLE, 77, 1 },
	{ SENNIT_SOCKET_KEEP_ALIVE_INTERVAL, IPPROTO_TCP, TCP_KEEPINTVL, 11,
	  1 },
	{ SENNIT_SOCKET_KEEP_ALIVE_COUNT, IPPROTO_TCP, TCP_KEEPCNT, 4, 1 },
	{ SENNIT_SOCKET_USER_TIMEOUT, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000, 1 },
	{ SENNIT_SOCKET_DEFER_ACCEPT, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1, 1 },
	{ SENNIT_SOCKET_FAST_OPEN, IPPROTO_TCP, TCP_FASTOPEN, 16, 1 },
	{ SENNIT_SOCKET_SEND_BUFFER, SOL_SOCKET, SO_SNDBUF, 30000, 2 },
	{ SENNIT_SOCKET_RECEIVE_BUFFER, SOL_SOCKET, SO_RCVBUF, 30000, 2 },
	{ SENNIT_SOCKET_REUSE_ADDRESS, SOL_SOCKET, SO_REUSEADDR, 1, 1 },
	{ SENNIT_SOCKET_REUSE_PORT, SOL_SOCKET, SO_REUSEPORT, 1, 1 },
	{ SENNIT_SOCKET_BROADCAST, SOL_SOCKET, SO_BROADCAST, 1, 1 },
	{ SENNIT_SOCKET_V6_ONLY, IPPROTO_IPV6, IPV6_V6ONLY, 1, 1 },
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static const struct kind {
	const char *name;
	int         family, type;
} kinds[] = {
	{ "TCP", AF_INET, SOCK_STREAM },
	{ "TCP 6", AF_INET6, SOCK_STREAM },
	{ "UDP", AF_INET, SOCK_DGRAM },
	{ "unix", AF_UNIX, SOCK_STREAM },
	{ "unix datagrams", AF_UNIX, SOCK_DGRAM },
};

/* By the system's call. */
static int plain(int fd, const struct known *k, int *value)
{
	socklen_t size = sizeof(*value);

	return getsockopt(fd, k->level, k->name, value, &size) ? -errno : 0;
}

/* The same option of two sockets of one kind: set here by its name and there by
 * setsockopt(), it has the same result and the same value. */
static void compare(const struct kind *kind, const struct known *k)
{
	const int ours = socket(kind->family, kind->type | SOCK_CLOEXEC, 0);
	const int theirs = socket(kind->family, kind->type | SOCK_CLOEXEC, 0);
	int       set, wanted, a = -7, b = -7, c = -7;

	if (ours < 0 && errno == EAFNOSUPPORT)
		return;
	must(ours >= 0 && theirs >= 0, kind->name);
	wanted = setsockopt(theirs, k->level, k->name, &k->value,
			    sizeof(k->value))
			 ? -errno
			 : 0;
	set = sennit_socket_set(ours, k->option, k->value);
	if (set != wanted)
		fail_msg("%s, option %d: %d, not %d", kind->name,
			 (int)k->option, set, wanted);
	assert_int_equal(sennit_socket_get(ours, k->option, &a),
			 plain(ours, k, &b));
	assert_int_equal(a, b);
	plain(theirs, k, &c);
	assert_int_equal(b, c);
	close(ours);
	close(theirs);
}

TEST(each_name_is_the_option_of_the_system)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t j = 0; j < KNOWN; j++)
			compare(&kinds[i], &known[j]);
}

TEST(a_value_is_read_back)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	for (size_t i = 0; i < KNOWN; i++) {
		const struct known *k = &known[i];
		int                 value = -7;

		if (k->level == IPPROTO_IPV6)
			continue;
		assert_int_equal(sennit_socket_set(fd, k->option, k->value), 0);
		assert_int_equal(sennit_socket_get(fd, k->option, &value), 0);
		assert_int_equal(value, k->value * k->factor);
	}
	close(fd);
}

TEST(a_linger_is_a_number_of_seconds)
{
	static const int seconds[] = { -1, 0, 1, 30, -1 };
	const int        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	for (size_t i = 0; i < 5; i++) {
		struct linger l;
		socklen_t     size = sizeof(l);
		int           value = -7;

		assert_int_equal(
			sennit_socket_set(fd, SENNIT_SOCKET_LINGER, seconds[i]),
			0);
		assert_int_equal(
			sennit_socket_get(fd, SENNIT_SOCKET_LINGER, &value), 0);
		assert_int_equal(value, seconds[i]);
		assert_int_equal(
			getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &size), 0);
		assert_int_equal(!!l.l_onoff, seconds[i] >= 0);
	}
	assert_int_equal(sennit_socket_set(fd, SENNIT_SOCKET_LINGER, -2),
			 -EINVAL);
	close(fd);
}

/* A listener of the library sends small packets at once, and so do the
 * connections that it accepts, until they are told not to. */
TEST(the_default_can_be_turned_off)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = sennit_listen((struct sockaddr *)&at, sizeof(at), 0, 0);
	int       value = -7;

	must(fd >= 0, "listen");
	assert_int_equal(sennit_socket_get(fd, SENNIT_SOCKET_NO_DELAY, &value),
			 0);
	assert_int_equal(value, 1);
	assert_int_equal(sennit_socket_set(fd, SENNIT_SOCKET_NO_DELAY, 0), 0);
	assert_int_equal(sennit_socket_get(fd, SENNIT_SOCKET_NO_DELAY, &value),
			 0);
	assert_int_equal(value, 0);
	close(fd);
}

TEST(errors_leave_the_output)
{
	static const int wrong[] = { 0, -1, SENNIT_SOCKET_V6_ONLY + 1,
				     1 << 30 };
	const int        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int              ends[2], value = -7;

	must(fd >= 0 && !pipe(ends), "descriptors");
	for (size_t i = 0; i < 4; i++) {
		const sennit_socket_option o = (sennit_socket_option)wrong[i];

		assert_int_equal(sennit_socket_set(fd, o, 1), -EINVAL);
		assert_int_equal(sennit_socket_get(fd, o, &value), -EINVAL);
	}
	for (int o = 1; o <= SENNIT_SOCKET_V6_ONLY; o++) {
		const sennit_socket_option option = (sennit_socket_option)o;

		assert_int_equal(sennit_socket_set(ends[0], option, 1),
				 -ENOTSOCK);
		assert_int_equal(sennit_socket_get(ends[0], option, &value),
				 -ENOTSOCK);
		assert_int_equal(sennit_socket_set(-1, option, 1), -EBADF);
		assert_int_equal(sennit_socket_get(-1, option, &value), -EBADF);
	}
	assert_int_equal(value, -7);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}
