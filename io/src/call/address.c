/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - the calls of sennit/address.h: addresses as text. */
#include "sennit/address.h"
#include "sennit/io.h"
#include "sennit/listen.h"
#include "sennit/net.h"
#include "sennit/resolve.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

/* A socket address of any family. */
union socket_address {
	struct sockaddr         any;
	struct sockaddr_in      four;
	struct sockaddr_in6     six;
	struct sockaddr_un      path;
	struct sockaddr_storage room;
};

/* --- from text ---------------------------------------------------------- */

static const char unix_prefix[] = "unix:";

struct place {
	const char          *service;          /* NULL: a unix socket */
	char                 text[NI_MAXHOST]; /* the host; "": none */
	union socket_address where; /* the address of a unix socket */
	socklen_t            size;  /* of `where`, in bytes */
};

/* An abstract name begins with a zero byte and has no terminating one. */
static int parse_unix_path(struct place *p, const char *path)
{
	const bool   abstract = *path == '@';
	const size_t length = strlen(path);
	const size_t size = length + !abstract;

	if (!length)
		return -EINVAL;
	if (size > sizeof(p->where.path.sun_path))
		return -ENAMETOOLONG;
	p->where.path.sun_family = AF_UNIX;
	memcpy(p->where.path.sun_path, path, size);
	if (abstract)
		p->where.path.sun_path[0] = '\0';
	p->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
	return 0;
}

/* Whether text is a 16-bit port number or a service name, which has at least
 * one letter. libc would accept "-1" as a number. */
static bool is_port_or_service(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	if (digits && !text[digits])
		return digits <= 5 && atoi(text) <= 65535;
	while (*text && !isalpha((unsigned char)*text))
		text++;
	return *text;
}

/* Return the ':' before the port, or NULL if there is none. An IPv6 address,
 * and nothing else, must be in brackets. */
static const char *find_port_separator(const char *text)
{
	const char *end = strrchr(text, ':');
	const char *inner = memchr(text, ':', end ? (size_t)(end - text) : 0);
	const bool  six = *text == '[';

	if (!end || six != !!inner)
		return NULL;
	return !six || end[-1] == ']' ? end : NULL;
}

static int parse_address(struct place *p, const char *text)
{
	const char *port;
	size_t      length;

	*p = (struct place){ 0 };
	if (!strncmp(text, unix_prefix, strlen(unix_prefix)))
		return parse_unix_path(p, text + strlen(unix_prefix));
	port = find_port_separator(text);
	if (!port || !is_port_or_service(port + 1))
		return -EINVAL;
	length = (size_t)(port - text);
	if (*text == '[') {
		text++;
		length -= 2;
	}
	if (length >= sizeof(p->text))
		return -ENAMETOOLONG;
	memcpy(p->text, text, length);
	p->service = port + 1;
	return 0;
}

static const char *host_or_null(const struct place *p)
{
	return *p->text ? p->text : NULL;
}

/* --- listening ---------------------------------------------------------- */

static int listen_at_first_address(const struct place *p, int family,
				   uint32_t flags, sennit_time deadline)
{
	const struct addrinfo hints = { .ai_family = family,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE };
	struct addrinfo      *all;
	int fd = sennit_resolve(host_or_null(p), p->service, &hints, &all,
				deadline);

	if (fd)
		return fd;
	fd = -ENOENT;
	for (struct addrinfo *a = all; a && fd < 0; a = a->ai_next)
		fd = sennit_listen(a->ai_addr, a->ai_addrlen, 0, flags);
	freeaddrinfo(all);
	return fd;
}

/* The errors of a system where IPv6 is missing or disabled. */
static bool is_ipv6_missing(int err)
{
	return err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL;
}

int sennit_listen_at(const char *text, uint32_t flags, sennit_time deadline)
{
	struct place p;
	int          fd = parse_address(&p, text);

	if (fd)
		return fd;
	if (!p.service)
		return sennit_listen(&p.where.any, p.size, 0, flags);
	if (host_or_null(&p))
		return listen_at_first_address(&p, AF_UNSPEC, flags, deadline);
	fd = listen_at_first_address(&p, AF_INET6, flags, deadline);
	return is_ipv6_missing(fd)
		       ? listen_at_first_address(&p, AF_INET, flags, deadline)
		       : fd;
}

/* --- connecting --------------------------------------------------------- */

static int connect_unix_path(const struct place *p, sennit_time deadline)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = sennit_connect(fd, &p->where.any, p->size, deadline);
	if (err)
		sennit_close(fd);
	return err ? err : fd;
}

int sennit_connect_to(const char *text, sennit_time deadline)
{
	struct place p;
	int          err = parse_address(&p, text);

	if (err)
		return err;
	return p.service ? sennit_connect_host(host_or_null(&p), p.service,
					       deadline)
			 : connect_unix_path(&p, deadline);
}

/* --- to text ------------------------------------------------------------ */

static int write_unix_path(const struct sockaddr_un *a, socklen_t size,
			   char *text, size_t room)
{
	const size_t before = offsetof(struct sockaddr_un, sun_path);
	size_t       length = size > before ? size - before : 0;
	const bool   abstract = length && !a->sun_path[0];
	const char  *at = a->sun_path + abstract;
	int          n;

	length -= abstract;
	if (!abstract)
		length = strnlen(at, length);
	n = snprintf(text, room, "%s%s%.*s", unix_prefix, abstract ? "@" : "",
		     (int)length, at);
	return n < (int)room ? 0 : -ENOSPC;
}

/* Convert an IPv4-mapped IPv6 address to an IPv4 address. IPv6 sockets report
 * IPv4 peers in this form. */
static void unmap_ipv4(union socket_address *a, socklen_t *size)
{
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = a->six.sin6_port };

	if (!IN6_IS_ADDR_V4MAPPED(&a->six.sin6_addr))
		return;
	memcpy(&four.sin_addr, &a->six.sin6_addr.s6_addr[12], 4);
	a->four = four;
	*size = sizeof(four);
}

static int write_numeric_address(union socket_address *a, socklen_t size,
				 char *text, size_t room)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	int  n;

	if (a->any.sa_family == AF_INET6)
		unmap_ipv4(a, &size);
	if (getnameinfo(&a->any, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	n = snprintf(text, room,
		     a->any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
		     port);
	return n < (int)room ? 0 : -ENOSPC;
}

/* On error *text is unchanged. */
int sennit_address_text(const struct sockaddr *address, socklen_t size,
			char *text, size_t room)
{
	char                 whole[SENNIT_ADDRESS_TEXT];
	union socket_address a;
	int                  err;

	if (size < sizeof(address->sa_family) || size > sizeof(a))
		return -EINVAL;
	memcpy(&a, address, size);
	if (a.any.sa_family == AF_UNIX)
		err = write_unix_path(&a.path, size, whole, sizeof(whole));
	else if (a.any.sa_family == AF_INET || a.any.sa_family == AF_INET6)
		err = write_numeric_address(&a, size, whole, sizeof(whole));
	else
		err = -EAFNOSUPPORT;
	if (!err && strlen(whole) >= room)
		err = -ENOSPC;
	if (!err)
		strcpy(text, whole);
	return err;
}

int sennit_local_address(int fd, char *text, size_t room)
{
	union socket_address a;
	socklen_t            size = sizeof(a);

	if (getsockname(fd, &a.any, &size))
		return -errno;
	return sennit_address_text(&a.any, size, text, room);
}

int sennit_peer_address(int fd, char *text, size_t room)
{
	union socket_address a;
	socklen_t            size = sizeof(a);

	if (getpeername(fd, &a.any, &size))
		return -errno;
	return sennit_address_text(&a.any, size, text, room);
}
