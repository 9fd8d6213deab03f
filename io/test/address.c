/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - an address text at which a socket can listen can also be
 * connected to.
 *
 * getaddrinfo() is replaced for the names "nowhere" and "several", and for the
 * service "known".
 */
#include "operations.h"

#include "sennit/address.h"
#include "sennit/listen.h"
#include "sennit/resolve.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/un.h>

/* --- a resolver --------------------------------------------------------- */

typedef int resolver(const char *, const char *, const struct addrinfo *,
		     struct addrinfo **);

static char known[8]; /* the port of the service "known" */

static resolver *libc_resolver(void)
{
	void     *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
	resolver *found;

	memcpy(&found, &symbol, sizeof(found));
	return found;
}

/* An address of another machine, then one of this machine. */
static int find_several(const char *service, const struct addrinfo *hints,
			struct addrinfo **out)
{
	int err = libc_resolver()("192.0.2.1", service, hints, out);

	return err ? err
		   : libc_resolver()("127.0.0.1", service, hints,
				     &(*out)->ai_next);
}

int getaddrinfo(const char *host, const char *service,
		const struct addrinfo *hints, struct addrinfo **out)
{
	if (service && !strcmp(service, "known")) {
		if (hints->ai_flags & AI_NUMERICSERV)
			return EAI_NONAME;
		service = known;
	}
	if (host && !strcmp(host, "nowhere"))
		return EAI_NONAME;
	if (host && !strcmp(host, "several") &&
	    !(hints->ai_flags & AI_NUMERICHOST))
		return find_several(service, hints, out);
	return libc_resolver()(host, service, hints, out);
}

/* --- both ends ---------------------------------------------------------- */

static sennit_time later(void)
{
	return sennit_after(100 * SENNIT_SECOND);
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static const char *port_of(const char *text)
{
	return strrchr(text, ':') + 1;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Connect to the text `to`, and check that both ends know each other's address.
 * *peer: the peer's address as the listener's side sees it. */
static void connect_and_talk(int listener, const char *to, char *peer)
{
	char text[SENNIT_ADDRESS_TEXT], other[SENNIT_ADDRESS_TEXT], byte;
	int  client = sennit_connect_to(to, later());
	int  server = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
                                   client < 0 ? 0 : later());

	EXPECT(client >= 0 && server >= 0);
	EXPECT(fcntl(client, F_GETFD) & FD_CLOEXEC);
	EXPECT(!(fcntl(client, F_GETFL) & O_NONBLOCK));
	EXPECT(sennit_send_all(client, "x", 1, 0, NULL, later()) == 0);
	EXPECT(sennit_read_exactly(server, &byte, 1, NULL, later()) == 0);
	EXPECT(sennit_peer_address(server, peer, SENNIT_ADDRESS_TEXT) == 0);
	EXPECT(sennit_local_address(client, text, sizeof(text)) == 0);
	EXPECT(!strcmp(port_of(text), port_of(peer)));
	EXPECT(sennit_peer_address(client, text, sizeof(text)) == 0);
	EXPECT(sennit_local_address(listener, other, sizeof(other)) == 0);
	EXPECT(!strcmp(port_of(text), port_of(other)));
	close(client);
	close(server);
}

/* Make a listener; *text: the text of its address. */
static int must_listen(const char *at, char text[SENNIT_ADDRESS_TEXT])
{
	int fd = sennit_listen_at(at, 0, SENNIT_NEVER);

	EXPECT(fd >= 0);
	must(fd >= 0, at);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT(sennit_local_address(fd, text, SENNIT_ADDRESS_TEXT) == 0);
	return fd;
}

static bool has_six(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int  fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a));

	close(fd);
	return has;
}

/* --- TCP ---------------------------------------------------------------- */

static void reach_four(void *unused)
{
	char text[SENNIT_ADDRESS_TEXT], peer[SENNIT_ADDRESS_TEXT];
	int  fd = must_listen("127.0.0.1:0", text);

	(void)unused;
	EXPECT(begins(text, "127.0.0.1:") && strcmp(port_of(text), "0") != 0);
	connect_and_talk(fd, text, peer);
	EXPECT(begins(peer, "127.0.0.1:"));
	EXPECT(sennit_listen_at(text, 0, SENNIT_NEVER) == -EADDRINUSE);
	close(fd);
	EXPECT(sennit_connect_to(text, later()) == -ECONNREFUSED);
}

TEST_WITH_WORKERS(port_0_is_one_that_can_be_connected_to)
{
	in_each_place(reach_four, NULL);
}

static void reach_six(void *unused)
{
	char text[SENNIT_ADDRESS_TEXT], peer[SENNIT_ADDRESS_TEXT];
	int  fd = must_listen("[::1]:0", text);

	(void)unused;
	EXPECT(begins(text, "[::1]:"));
	connect_and_talk(fd, text, peer);
	EXPECT(begins(peer, "[::1]:"));
	close(fd);
}

TEST_WITH_WORKERS(addresses_of_six_have_brackets)
{
	(void)w;
	if (!has_six()) {
		print_message("skipped: this machine has no IPv6\n");
		skip();
	}
	in_each_place(reach_six, NULL);
}

static void reach_any(void *unused)
{
	char any[SENNIT_ADDRESS_TEXT], to[SENNIT_ADDRESS_TEXT],
		peer[SENNIT_ADDRESS_TEXT];
	int fd = must_listen(":0", any);

	(void)unused;
	EXPECT(begins(any, has_six() ? "[::]:" : "0.0.0.0:"));
	connect_and_talk(fd, any, peer);
	snprintf(to, sizeof(to), "127.0.0.1:%s", port_of(any));
	connect_and_talk(fd, to, peer);
	EXPECT(begins(peer, "127.0.0.1:")); /* not in the form
					     * ::ffff:127.0.0.1 */
	snprintf(to, sizeof(to), ":%s", port_of(any));
	connect_and_talk(fd, to, peer);
	if (has_six()) {
		snprintf(to, sizeof(to), "[::1]:%s", port_of(any));
		connect_and_talk(fd, to, peer);
		EXPECT(begins(peer, "[::1]:"));
	}
	close(fd);
}

TEST_WITH_WORKERS(no_host_is_this_machine_by_four_and_six)
{
	in_each_place(reach_any, NULL);
}

static void reach_by_name(void *unused)
{
	char text[SENNIT_ADDRESS_TEXT], peer[SENNIT_ADDRESS_TEXT];
	int  fd = must_listen("several:0", text);

	(void)unused;
	EXPECT(begins(text, "127.0.0.1:")); /* the other address is not of this
					     * machine */
	snprintf(known, sizeof(known), "%s", port_of(text));
	connect_and_talk(fd, "127.0.0.1:known", peer);
	EXPECT(sennit_listen_at("nowhere:80", 0, SENNIT_NEVER) == -ENOENT);
	EXPECT(sennit_connect_to("nowhere:80", later()) == -ENOENT);
	EXPECT(sennit_connect_to("127.0.0.1:known", 0) == -ETIMEDOUT);
	close(fd);
	EXPECT(sennit_listen_at("127.0.0.1:known", 0, 0) == -ETIMEDOUT);
	fd = sennit_listen_at("127.0.0.1:0", 0, 0);
	EXPECT(fd >= 0);
	close(fd);
	fd = sennit_listen_at(":0", 0, 0);
	EXPECT(fd >= 0);
	close(fd);
}

TEST_WITH_WORKERS(hosts_and_services_have_names)
{
	in_each_place(reach_by_name, NULL);
}

/* Whether the socket has TCP_NODELAY; -1: it is not a TCP socket. */
static int is_at_once(int fd)
{
	int       on = -1;
	socklen_t size = sizeof(on);

	return getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) ? -1 : !!on;
}

static int connect_host(const char *text)
{
	char host[SENNIT_ADDRESS_TEXT];

	snprintf(host, sizeof(host), "%.*s",
		 (int)(strrchr(text, ':') - text - 2 * (*text == '[')),
		 text + (*text == '['));
	return sennit_connect_host(host, port_of(text), later());
}

/* For a listener with the option, and for one whose owner has cleared it. Only
 * connections that these listeners accept inherit it. */
static void compare_ends(const char *at, uint32_t flags, int wanted)
{
	char text[SENNIT_ADDRESS_TEXT];
	int  listener = sennit_listen_at(at, flags, SENNIT_NEVER);

	must(listener >= 0, at);
	EXPECT(is_at_once(listener) == wanted);
	EXPECT(!sennit_local_address(listener, text, sizeof(text)));
	for (int i = 0; i < 4; i++) {
		const bool by_host = i % 2 && wanted >= 0;
		const int off = 0, accepted = i >= 2 && wanted > 0 ? 0 : wanted;
		int       client, server;

		if (i == 2)
			(void)setsockopt(listener, IPPROTO_TCP, TCP_NODELAY,
					 &off, sizeof(off));
		client = by_host ? connect_host(text)
				 : sennit_connect_to(text, later());
		server = sennit_accept(listener, NULL, NULL, 0, later());
		EXPECT(is_at_once(client) == wanted);
		EXPECT(is_at_once(server) == accepted);
		close(client);
		close(server);
	}
	close(listener);
}

static void send_at_once(void *unused)
{
	char path[SENNIT_ADDRESS_TEXT];

	(void)unused;
	snprintf(path, sizeof(path), "unix:@sennit-at-once-%ld",
		 (long)getpid());
	for (uint32_t flags = 0; flags <= SENNIT_LISTEN_SHARED; flags++) {
		compare_ends("127.0.0.1:0", flags, 1);
		if (has_six())
			compare_ends("[::1]:0", flags, 1);
		compare_ends(path, flags, -1);
	}
}

TEST_WITH_WORKERS(tcp_sockets_of_ours_send_small_pieces_at_once)
{
	(void)w;
	in_each_place(send_at_once, NULL);
}

static int connect_as_member(void *text)
{
	EXPECT(sennit_connect_to(text, SENNIT_NEVER) == -ECANCELED);
	return 0;
}

/* A listener with a full queue drops connection requests, so there is no
 * answer. */
TEST_WITH_WORKERS(cancelling_ends_a_connect)
{
	char         text[SENNIT_ADDRESS_TEXT];
	int          fd = must_listen("127.0.0.1:0", text);
	int          fillers[2];
	sennit_group g;

	must(!listen(fd, 0), "listen");
	for (int i = 0; i < 2; i++) {
		fillers[i] = sennit_connect_to(text, in_ms(i ? 20 : 100000));
		assert_true(fillers[i] >= 0 || i);
	}
	assert_int_equal(sennit_connect_to(text, in_ms(2)), -ETIMEDOUT);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, connect_as_member, text), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	for (int i = 0; i < 2; i++)
		if (fillers[i] >= 0)
			close(fillers[i]);
	close(fd);
}

/* --- unix sockets ------------------------------------------------------- */

static void reach_path(void *unused)
{
	char folder[] = "/tmp/sennit-address-XXXXXX";
	char at[SENNIT_ADDRESS_TEXT], text[SENNIT_ADDRESS_TEXT],
		peer[SENNIT_ADDRESS_TEXT];
	int fd;

	(void)unused;
	must(mkdtemp(folder), "mkdtemp");
	snprintf(at, sizeof(at), "unix:%s/socket", folder);
	fd = must_listen(at, text);
	EXPECT(!strcmp(text, at));
	connect_and_talk(fd, at, peer);
	EXPECT(!strcmp(peer, "unix:"));
	EXPECT(sennit_listen_at(at, 0, SENNIT_NEVER) == -EADDRINUSE);
	close(fd);
	EXPECT(sennit_connect_to(at, later()) == -ECONNREFUSED);
	unlink(at + 5);
	EXPECT(sennit_connect_to(at, later()) == -ENOENT);
	rmdir(folder);
}

TEST_WITH_WORKERS(paths_are_unix_sockets)
{
	in_each_place(reach_path, NULL);
}

static void reach_abstract(void *unused)
{
	char at[SENNIT_ADDRESS_TEXT], text[SENNIT_ADDRESS_TEXT],
		peer[SENNIT_ADDRESS_TEXT];
	int fd;

	(void)unused;
	snprintf(at, sizeof(at), "unix:@sennit-test-%ld", (long)getpid());
	fd = must_listen(at, text);
	EXPECT(!strcmp(text, at));
	connect_and_talk(fd, at, peer);
	close(fd);
	EXPECT(sennit_connect_to(at, later()) == -ECONNREFUSED);
}

TEST_WITH_WORKERS(abstract_names_are_no_files)
{
	in_each_place(reach_abstract, NULL);
}

/* --- malformed texts ---------------------------------------------------- */

static void refuse(const char *text, int err)
{
	int listened = sennit_listen_at(text, 0, SENNIT_NEVER);
	int connected = sennit_connect_to(text, later());

	if (listened == err && connected == err)
		return;
	fprintf(stderr, "\"%s\": %d, %d\n", text, listened, connected);
	EXPECT(false);
}

static void refuse_all(void *unused)
{
	static const char *const malformed[] = {
		"",        "host",       "host:",
		"::1:80",  "::1",        "[::1]",
		"[::1]80", "[::1:80",    "::1]:80",
		"[]:80",   "host:-1",    "host:+1",
		"host: 1", "host:65536", "host:999999999999999",
		"unix:",   "[host]:80",  ":",
	};
	char long_path[200] = "unix:", long_host[1200] = "";
	int  before = descriptors();

	(void)unused;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		refuse(malformed[i], -EINVAL);
	memset(long_path + 5, 'a', 109); /* one more than sun_path has room
					  * for */
	refuse(long_path, -ENAMETOOLONG);
	memset(long_host, 'a', 1100);
	strcat(long_host, ":80");
	refuse(long_host, -ENAMETOOLONG);
	EXPECT(sennit_listen_at("127.0.0.1:0", UINT32_C(1) << 31,
				SENNIT_NEVER) == -EINVAL);
	EXPECT(descriptors() == before);
}

TEST_WITHOUT(malformed_texts_are_refused)
{
	(void)w;
	refuse_all(NULL);
}

TEST_WITHOUT(a_path_may_fill_the_address)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char               text[SENNIT_ADDRESS_TEXT];

	(void)w;
	memset(a.sun_path, 'a', sizeof(a.sun_path)); /* no terminating zero */
	assert_int_equal(sennit_address_text((struct sockaddr *)&a, sizeof(a),
					     text, sizeof(text)),
			 0);
	assert_int_equal(strlen(text), 5 + sizeof(a.sun_path));
}

TEST_WITHOUT(a_text_is_whole_or_not_there)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(80) };
	char               text[SENNIT_ADDRESS_TEXT] = "before";

	(void)w;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (size_t room = 0; room < sizeof("127.0.0.1:80"); room++)
		assert_int_equal(sennit_address_text((struct sockaddr *)&a,
						     sizeof(a), text, room),
				 -ENOSPC);
	assert_int_equal(sennit_address_text((struct sockaddr *)&a, 1, text,
					     sizeof(text)),
			 -EINVAL);
	assert_int_equal(sennit_address_text((struct sockaddr *)&a, 4, text,
					     sizeof(text)),
			 -EINVAL);
	a.sin_family = AF_PACKET;
	assert_int_equal(sennit_address_text((struct sockaddr *)&a, sizeof(a),
					     text, sizeof(text)),
			 -EAFNOSUPPORT);
	assert_int_equal(sennit_local_address(-1, text, sizeof(text)), -EBADF);
	assert_int_equal(sennit_peer_address(-1, text, sizeof(text)), -EBADF);
	assert_string_equal(text, "before");
	a.sin_family = AF_INET;
	assert_int_equal(sennit_address_text((struct sockaddr *)&a, sizeof(a),
					     text, sizeof("127.0.0.1:80")),
			 0);
	assert_string_equal(text, "127.0.0.1:80");
}

USES_BACKEND;
