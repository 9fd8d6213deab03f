/* SPDX-License-Identifier: Apache-2.0 */
/* socket.c - the socket of a connection, plain or with TLS. */
#include "connection.h"

#include "host.h"
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/resolve.h"
#include "sennit/select.h"
#include "sennit/socket_option.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#ifdef SENNIT_HTTP_TLS
#include "sennit/tls.h"
#endif

struct socket {
	int                        fd; /* -1: not connected */
	struct sennit_tls         *tls;
	bool                       ready;   /* the handshake is complete */
	struct sennit_tls_context *context; /* NULL: plain */
	bool                       own_context;
	char                       host[]; /* of a client's URL */
};

/* The maximum size of the host of a URL with its port. */
#define HOST_MAX 320

/* --- plain -------------------------------------------------------------- */

static ptrdiff_t receive_plain(void *context, void *to, size_t size,
			       sennit_time deadline)
{
	const struct socket *s = context;

	return s->fd < 0 ? -ENOTCONN
			 : sennit_recv(s->fd, to, size, 0, deadline);
}

static ptrdiff_t send_plain(void *context, const struct iovec *pieces,
			    int count, int flags, sennit_time deadline)
{
	const struct socket *s = context;
	struct msghdr        m = { .msg_iov = (void *)(uintptr_t)pieces,
				   .msg_iovlen = (size_t)count };

	return s->fd < 0 ? -ENOTCONN
			 : sennit_sendmsg(s->fd, &m, flags, deadline);
}

/* Report whether the peer has ended the connection, or has sent something. */
static bool is_plain_gone(const struct socket *s)
{
	char            byte;
	const ptrdiff_t n = sennit_recv(s->fd, &byte, 1,
					MSG_PEEK | MSG_DONTWAIT, 0);

	return n != -EAGAIN && n != -ECANCELED && n != -ETIMEDOUT;
}

/* --- TLS ---------------------------------------------------------------- */

#ifdef SENNIT_HTTP_TLS

/* HTTP itself says where a message ends. A body up to the end of the connection
 * alone needs the closing alert. */
static ptrdiff_t receive_tls(void *context, void *to, size_t size,
			     sennit_time deadline)
{
	const struct socket *s = context;

	return s->tls ? sennit_tls_read(s->tls, to, size, deadline) : -ENOTCONN;
}

static ptrdiff_t send_tls(void *context, const struct iovec *pieces, int count,
			  int flags, sennit_time deadline)
{
	const struct socket *s = context;

	(void)count;
	(void)flags;
	if (!s->tls)
		return -ENOTCONN;
	return sennit_tls_write(s->tls, pieces->iov_base, pieces->iov_len,
				deadline);
}

static int begin_tls(struct socket *s, const char *host, sennit_time deadline)
{
	int err = sennit_tls_create(&s->tls, s->context, s->fd);

	if (err)
		return err;
	err = host ? sennit_tls_connect(s->tls, host, deadline)
		   : sennit_tls_accept(s->tls, deadline);
	s->ready = !err;
	return err;
}

static void end_tls(struct socket *s, sennit_time deadline)
{
	if (s->ready && deadline)
		(void)sennit_tls_shutdown(s->tls, deadline);
	sennit_tls_destroy(s->tls);
	s->tls = NULL;
	s->ready = false;
}

static bool is_tls_gone(const struct socket *s)
{
	return sennit_tls_wait_readable(s->tls, 0) != -ETIMEDOUT;
}

/* A context that trusts what the system trusts. */
static int make_context(struct socket *s)
{
	s->own_context = true;
	return sennit_tls_context_create(
		&s->context, SENNIT_TLS_CONFIG(.protocols = "http/1.1"), NULL,
		0);
}

static void free_context(struct socket *s)
{
	if (s->own_context)
		sennit_tls_context_destroy(s->context);
}

#else

static ptrdiff_t receive_tls(void *context, void *to, size_t size,
			     sennit_time deadline)
{
	(void)context, (void)to, (void)size, (void)deadline;
	return -ENOTSUP;
}

static ptrdiff_t send_tls(void *context, const struct iovec *pieces, int count,
			  int flags, sennit_time deadline)
{
	(void)context, (void)pieces, (void)count, (void)flags, (void)deadline;
	return -ENOTSUP;
}

static int begin_tls(struct socket *s, const char *host, sennit_time deadline)
{
	(void)s, (void)host, (void)deadline;
	return -ENOTSUP;
}

static void end_tls(struct socket *s, sennit_time deadline)
{
	(void)s, (void)deadline;
}

static bool is_tls_gone(const struct socket *s)
{
	(void)s;
	return true;
}

static int make_context(struct socket *s)
{
	(void)s;
	return -ENOTSUP;
}

static void free_context(struct socket *s)
{
	(void)s;
}

#endif

/* --- begin -------------------------------------------------------------- */

static struct socket *make_socket(const char *host, size_t size)
{
	struct socket *s = calloc(1, sizeof(*s) + size + 1);

	if (!s)
		return NULL;
	s->fd = -1;
	if (size)
		memcpy(s->host, host, size);
	return s;
}

static void use_socket(sennit_http *h)
{
	const bool tls = h->socket->context;

	h->link = (sennit_http_link){ tls ? receive_tls : receive_plain,
				      tls ? send_tls : send_plain, h->socket };
}

int sn_http_accept_socket(sennit_http *h, int fd,
			  struct sennit_tls_context *context,
			  sennit_time                deadline)
{
	h->socket = make_socket(NULL, 0);
	if (!h->socket) {
		sennit_close(fd);
		return -ENOMEM;
	}
	h->socket->fd = fd;
	h->socket->context = context;
	use_socket(h);
	return context ? begin_tls(h->socket, NULL, deadline) : 0;
}

/* --- clients ------------------------------------------------------------ */

const char *sn_http_socket_host(const sennit_http *h)
{
	return h->socket && *h->socket->host ? h->socket->host : NULL;
}

/* Where the port begins in "host:port" or "[host]:port", or the end. */
static size_t find_port(const char *host)
{
	const char *end = strchr(host, ']');
	const char *colon = strchr(end ? end : host, ':');

	return colon ? (size_t)(colon - host) : strlen(host);
}

/* Copy the name or the address without brackets and port. */
static void copy_name(char *to, const char *host)
{
	size_t size = find_port(host);

	if (size >= 2 && *host == '[') {
		host++;
		size -= 2;
	}
	memcpy(to, host, size);
	to[size] = '\0';
}

static void disconnect(struct socket *s)
{
	end_tls(s, 0);
	if (s->fd >= 0)
		sennit_close(s->fd);
	s->fd = -1;
}

static int connect_again(struct socket *s, sennit_time deadline)
{
	char        name[HOST_MAX];
	const char *port = s->host + find_port(s->host);
	int         err;

	copy_name(name, s->host);
	port = *port && port[1] ? port + 1 : s->context ? "443" : "80";
	s->fd = sennit_connect_host(name, port, deadline);
	if (s->fd < 0) {
		err = s->fd;
		s->fd = -1;
		return err;
	}
	err = s->context ? begin_tls(s, name, deadline) : 0;
	if (err)
		disconnect(s);
	return err;
}

/* Report whether a client can connect to the host. */
static bool is_server(sennit_http_text host)
{
	char text[HOST_MAX];

	if (!host.at || !host.size || host.size >= HOST_MAX ||
	    *host.at == ':' || !sn_http_host_is_valid(host))
		return false;
	memcpy(text, host.at, host.size);
	text[host.size] = '\0';
	host.at = strchr(text + find_port(text), ':');
	return !host.at || strtoul(host.at + 1, NULL, 10) <= UINT16_MAX;
}

int sn_http_connect_socket(sennit_http *h, const char *url,
			   struct sennit_tls_context *context,
			   sennit_time                deadline)
{
	const sennit_http_text host =
		sn_http_host_of((sennit_http_text){ url, strlen(url) });
	const bool     tls = !strncasecmp(url, "https", 5);
	struct socket *s;
	int            err = 0;

	if (!is_server(host))
		return -EINVAL;
	s = make_socket(host.at, host.size);
	if (!s)
		return -ENOMEM;
	h->socket = s;
	if (tls)
		s->context = context;
	if (tls && !context)
		err = make_context(s);
	use_socket(h);
	return err ? err : connect_again(s, deadline);
}

static sennit_case readable_case(const struct socket *s)
{
#ifdef SENNIT_HTTP_TLS
	if (s->tls)
		return sennit_case_tls(s->tls);
#endif
	return sennit_case_readable(s->fd);
}

int sn_http_socket_await(sennit_http *h, sennit_time deadline)
{
	sennit_case cases[2];
	size_t      which = 0;
	int         err;

	if (!h->socket)
		return !sennit_event_is_set(h->stop);
	cases[0] = readable_case(h->socket); /* what has come is served */
	cases[1] = sennit_case_event(h->stop);
	err = sennit_select_until(cases, 2, &which, deadline);
	return err ? err : !which;
}

bool sn_http_socket_is_gone(const sennit_http *h)
{
	const struct socket *s = h->socket;

	if (h->in_err || h->out_err || h->from < h->to)
		return true;
	if (!s)
		return false;
	if (s->fd < 0)
		return true;
	return s->tls ? is_tls_gone(s) : is_plain_gone(s);
}

int sn_http_socket_again(sennit_http *h, sennit_time deadline)
{
	struct socket *s = h->socket;

	if (!s)
		return -ENOTCONN;
	disconnect(s);
	sn_http_begin_again(h);
	return connect_again(s, deadline);
}

/* --- the end ------------------------------------------------------------ */

static void drop_what_comes(sennit_http *h, sennit_time deadline)
{
	char      bytes[4096];
	size_t    dropped = 0;
	ptrdiff_t n;

	do {
		n = sennit_recv(h->socket->fd, bytes, sizeof(bytes), 0,
				deadline);
		dropped += n > 0 ? (size_t)n : 0;
	} while (n > 0 && dropped < 16 << 20);
}

/* A body is cut off. Where its end is that of the connection, only a reset
 * tells the peer. */
static void reset_at_close(const struct socket *s)
{
	(void)!sennit_socket_set(s->fd, SENNIT_SOCKET_LINGER, 0);
}

void sn_http_socket_finish(sennit_http *h)
{
	const sennit_time deadline = sennit_after(SENNIT_SECOND);
	struct socket    *s = h->socket;

	if (h->sending != NOTHING) {
		reset_at_close(s);
		return;
	}
	(void)!sennit_http_flush(h, deadline);
	end_tls(s, deadline);
	if (h->out_err || (!h->linger && h->from == h->to))
		return;
	(void)sennit_shutdown(s->fd, SHUT_WR);
	drop_what_comes(h, deadline);
}

void sn_http_socket_close(sennit_http *h)
{
	if (!h->socket)
		return;
	disconnect(h->socket);
	free_context(h->socket);
	free(h->socket);
	h->socket = NULL;
}
