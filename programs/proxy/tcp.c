/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - passes bytes in both directions, without HTTP. */
#include "proxy/proxy.h"

#include <sennit/net.h>

#include <errno.h>
#include <sys/socket.h>

/* The two directions, with a fiber each. The end of one direction is passed on,
 * and the other continues. */
struct both {
	struct http_stream client, server;
	uint64_t           patience; /* ns without a byte in either direction */
	uint64_t           send_patience;
	atomic_ullong      last;  /* time of the last byte */
	bool               spoke; /* the client has sent a byte */
	struct http_user  *user;
};

/* Nothing has arrived: report whether the other direction has been idle,
 * too. */
static bool is_idle(const struct both *b)
{
	return sennit_now() - atomic_load(&b->last) >= b->patience;
}

/* Count bytes. After the client's first byte, a connection may be idle for a
 * quarter of the patience before it can be ended in favour of others. */
static void count(struct both *b, const struct http_stream *from, size_t moved)
{
	const bool first = from == &b->client && !b->spoke;

	if (first)
		b->spoke = true;
	atomic_store(&b->last, sennit_now());
	http_user_raw(b->user, moved, first ? b->patience / 4 : 0);
}

static int copy(struct both *b, struct http_stream *from,
		struct http_stream *to)
{
	char bytes[16384];
	int  err = 0;

	while (!err) {
		ptrdiff_t    n = http_stream_recv(from, bytes, sizeof(bytes),
						  false,
						  sennit_after(b->patience));
		struct iovec v = { bytes, (size_t)n };

		if (n == -ETIMEDOUT && !is_idle(b) &&
		    !http_stop_begun(from->stop))
			continue;
		if (n <= 0)
			return (int)n;
		count(b, from, (size_t)n);
		err = http_stream_send(to, &v, 1, false, b->send_patience);
	}
	return err;
}

/* End one direction. An error ends both, and wakes the fiber that waits. */
static void end_direction(struct both *b, struct http_stream *to, int err)
{
	if (!err) {
		(void)sennit_shutdown(to->fd, SHUT_WR);
		return;
	}
	(void)sennit_shutdown(b->client.fd, SHUT_RDWR);
	(void)sennit_shutdown(b->server.fd, SHUT_RDWR);
}

static int copy_back(void *both)
{
	struct both *b = both;

	end_direction(b, &b->client, copy(b, &b->server, &b->client));
	return 0;
}

static void copy_both(struct both *b)
{
	sennit_group back;
	int          err;

	sennit_group_init(&back, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	err = sennit_group_spawn(&back, copy_back, b);
	if (!err)
		err = copy(b, &b->client, &b->server);
	end_direction(b, &b->server, err);
	sennit_group_wait(&back);
}

void proxy_serve_tcp(struct http_stream *s, const struct sockaddr *peer,
		     void *proxy)
{
	struct gateway  *p = proxy;
	struct upstream *server;
	struct both      b = { .client = *s,
			       .server = { .stop = s->stop },
			       .patience = p->idle_patience,
			       .send_patience = p->send_patience,
			       .user = s->user };
	bool             reused;

	(void)peer;
	if (!upstream_connect(&p->upstreams, b.user, &b.server, true, &reused,
			      &server)) {
		upstream_answered(server);
		http_user_begin_raw(b.user);
		atomic_store(&b.last, sennit_now());
		copy_both(&b);
		upstream_release(&p->upstreams, b.user, server, &b.server,
				 false);
	}
	http_stream_close(&b.client);
}
