/* SPDX-License-Identifier: Apache-2.0 */
/* connect_host.c - a connection to a name, by any of its addresses that
 * answers.
 *
 * getaddrinfo() is replaced for the name "here".
 */
#include "operations.h"

#include "sennit/resolve.h"

#include <dlfcn.h>
#include <netdb.h>

typedef int resolver(const char *, const char *, const struct addrinfo *,
		     struct addrinfo **);

/* --- a resolver --------------------------------------------------------- */

enum { MOST = 12 };

static struct sockaddr_in addresses[MOST]; /* of "here" */
static int                count;
static in_port_t          six; /* the port of ::1, which comes last; 0: none */

static resolver *libc_resolver(void)
{
	void     *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
	resolver *found;

	memcpy(&found, &symbol, sizeof(found));
	return found;
}

/* Make a list that freeaddrinfo() can free: libc makes each entry. */
int getaddrinfo(const char *host, const char *service,
		const struct addrinfo *hints, struct addrinfo **out)
{
	struct addrinfo *list = NULL;
	char             port[8];

	if (!host || strcmp(host, "here") != 0 ||
	    hints->ai_flags & AI_NUMERICHOST)
		return libc_resolver()(host, service, hints, out);
	snprintf(port, sizeof(port), "%d", ntohs(six));
	if (six && libc_resolver()("::1", port, hints, &list))
		return EAI_FAIL;
	for (int i = count; i-- > 0;) {
		struct addrinfo *one;
		int err = libc_resolver()("127.0.0.1", "1", hints, &one);

		if (err)
			return err;
		memcpy(one->ai_addr, &addresses[i], sizeof(addresses[i]));
		one->ai_next = list;
		list = one;
	}
	*out = list;
	return 0;
}

/* --- servers ------------------------------------------------------------ */

/* The servers that connections reach: 127.0.0.x, all with one port. */
static int open_server(int last, in_port_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = *port };
	socklen_t          size = sizeof(a);
	int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + (in_addr_t)last);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&a, size), "bind");
	must(!getsockname(fd, (struct sockaddr *)&a, &size), "getsockname");
	*port = a.sin_port;
	return fd;
}

static void say(int i, int last, in_port_t port)
{
	addresses[i] = (struct sockaddr_in){ .sin_family = AF_INET,
					     .sin_port = port };
	addresses[i].sin_addr.s_addr =
		htonl(INADDR_LOOPBACK - 1 + (in_addr_t)last);
	if (i >= count)
		count = i + 1;
}

/* The last byte of the address that was reached. */
static int peer_of(int fd)
{
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);

	EXPECT(!getpeername(fd, (struct sockaddr *)&a, &size));
	return (int)(ntohl(a.sin_addr.s_addr) & 0xff);
}

static int must_reach(sennit_time deadline)
{
	int fd = sennit_connect_host("here", "1", deadline);
	int peer;

	EXPECT(fd >= 0);
	if (fd < 0)
		return fd;
	EXPECT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	peer = peer_of(fd);
	close(fd);
	return peer;
}

/* --- tests -------------------------------------------------------------- */

static void reach_second(void *unused)
{
	in_port_t port = 0;
	int       closed = open_server(1, &port); /* no socket listens there */
	int       open = open_server(2, &port);

	(void)unused;
	must(!listen(open, 8), "listen");
	count = 0;
	say(0, 1, port);
	say(1, 2, port);
	EXPECT(must_reach(sennit_after(100 * SENNIT_SECOND)) == 2);
	close(open);
	close(closed);
}

TEST_WITH_WORKERS(a_refused_address_is_followed_by_the_next)
{
	in_each_place(reach_second, NULL);
}

/* A listener with a full queue drops connection requests, so there is no
 * answer. */
static int open_silent(int last, in_port_t *port, int fillers[2])
{
	int                fd = open_server(last, port);
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);

	must(!listen(fd, 0), "listen");
	must(!getsockname(fd, (struct sockaddr *)&a, &size), "getsockname");
	for (int i = 0; i < 2; i++) {
		fillers[i] = socket(
			AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(fillers[i], (struct sockaddr *)&a, size);
	}
	return fd;
}

static void reach_past_silence(void *unused)
{
	in_port_t port = 0;
	int       fillers[2];
	int       silent = open_silent(1, &port, fillers);
	int       open = open_server(2, &port);

	(void)unused;
	must(!listen(open, 8), "listen");
	count = 0;
	say(0, 1, port);
	say(1, 2, port);
	EXPECT(must_reach(sennit_after(100 * SENNIT_SECOND)) == 2);
	count = 1;
	EXPECT(sennit_connect_host("here", "1", in_ms(20)) == -ETIMEDOUT);
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
	close(open);
}

TEST_WITH_WORKERS(a_silent_address_is_overtaken)
{
	in_each_place(reach_past_silence, NULL);
}

/* A listener at ::1; -1: there is no IPv6 here. */
static int open_six(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	socklen_t           size = sizeof(a);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size)) {
		close(fd);
		return -1;
	}
	must(!listen(fd, 8), "listen");
	must(!getsockname(fd, (struct sockaddr *)&a, &size), "getsockname");
	six = a.sin6_port;
	return fd;
}

static int family_of(int fd)
{
	struct sockaddr_storage a = { .ss_family = AF_UNSPEC };
	socklen_t               size = sizeof(a);

	EXPECT(!getpeername(fd, (struct sockaddr *)&a, &size));
	return a.ss_family;
}

/* The third address of the list is tried before the second. */
static void reach_other_family(void *unused)
{
	in_port_t port = 0;
	int       fillers[2];
	int       silent = open_silent(1, &port, fillers);
	int       open = open_server(2, &port);
	int       other = open_six();
	int       fd;

	(void)unused;
	must(!listen(open, 8), "listen");
	count = 0;
	say(0, 1, port);
	say(1, 2, port);
	fd = sennit_connect_host("here", "1",
				 sennit_after(100 * SENNIT_SECOND));
	EXPECT(fd >= 0 && family_of(fd) == (other >= 0 ? AF_INET6 : AF_INET));
	six = 0;
	close(fd);
	close(other);
	close(open);
	close(silent);
	close(fillers[0]);
	close(fillers[1]);
}

TEST_WITH_WORKERS(families_take_turns)
{
	in_each_place(reach_other_family, NULL);
}

static void reach_nobody(void *unused)
{
	in_port_t port = 0;
	int       closed = open_server(1, &port);

	(void)unused;
	count = 0;
	for (int i = 0; i < MOST; i++)
		say(i, 1, port);
	EXPECT(sennit_connect_host("here", "1", SENNIT_NEVER) == -ECONNREFUSED);
	EXPECT(sennit_connect_host("::1:", "1", 0) == -ETIMEDOUT);
	close(closed);
}

TEST_WITH_WORKERS(the_last_error_is_returned)
{
	in_each_place(reach_nobody, NULL);
}

static int connect_as_member(void *result)
{
	*(int *)result = sennit_connect_host("here", "1", SENNIT_NEVER);
	return 0;
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST_WITH_WORKERS(cancelling_ends_it_and_leaves_no_descriptor)
{
	in_port_t port = 0;
	int       fillers[2], before = 0;
	int       silent = open_silent(1, &port, fillers);

	count = 0;
	say(0, 1, port);
	for (int i = 0; i < 3; i++) { /* the first one creates pollers */
		sennit_group g;
		int          result = 0;

		before = i < 2 ? descriptors() : before;
		sennit_group_init(&g, SENNIT_NEVER, 0);
		assert_int_equal(
			sennit_group_spawn(&g, connect_as_member, &result), 0);
		assert_soon(io_waits(w->s) == 1);
		sennit_group_cancel(&g);
		assert_int_equal(sennit_group_wait(&g), -ECANCELED);
		assert_int_equal(result, -ECANCELED);
	}
	if (w->threads < 2)
		assert_int_equal(descriptors(), before);
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
}

USES_BACKEND;
