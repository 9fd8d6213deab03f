/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/upstream.h"

#include "http/address.h"

#include <sennit/io.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

struct kept_connection {
	struct kept_connection *next;
	int                     fd;
	sennit_time             since;
};

/* --- the set ------------------------------------------------------------ */

int upstreams_add(struct upstreams *u, const char *name)
{
	struct upstream *one = &u->all[u->count];
	int              size;

	if (u->count == UPSTREAMS_MAX)
		return -1;
	size = http_address_resolve(name, false, &one->address);
	if (size < 0)
		return -1;
	one->name = name;
	one->address_size = (socklen_t)size;
	sennit_semaphore_init(&one->slots, u->max_connections);
	pthread_mutex_init(&one->lock, NULL);
	u->count++;
	return 0;
}

void upstreams_close(struct upstreams *u)
{
	for (uint32_t i = 0; i < u->count; i++) {
		struct upstream *one = &u->all[i];

		while (one->kept) {
			struct kept_connection *k = one->kept;

			one->kept = k->next;
			close(k->fd);
			free(k);
		}
		sennit_semaphore_destroy(&one->slots);
		pthread_mutex_destroy(&one->lock);
	}
}

/* --- health ------------------------------------------------------------- */

static bool is_down(const struct upstream *server, sennit_time now)
{
	return atomic_load(&server->down_until) > now;
}

uint32_t upstreams_down(const struct upstreams *u)
{
	const sennit_time now = sennit_now();
	uint32_t          down = 0;

	for (uint32_t i = 0; i < u->count; i++)
		down += is_down(&u->all[i], now);
	return down;
}

void upstream_failed(struct upstreams *u, struct upstream *server)
{
	if (atomic_fetch_add(&server->failed, 1) + 1 >= u->failures)
		atomic_store(&server->down_until, sennit_after(u->down_for));
}

void upstream_answered(struct upstream *server)
{
	if (atomic_load(&server->failed))
		atomic_store(&server->failed, 0);
}

/* --- choosing ----------------------------------------------------------- */

/* The next server that was not tried; NULL: none. Of those that are down only
 * if desperate. */
static struct upstream *choose(struct upstreams *u, uint64_t tried,
			       bool desperate)
{
	const sennit_time now = sennit_now();
	const uint32_t    first = atomic_fetch_add(&u->turn, 1);
	struct upstream  *best = NULL;

	for (uint32_t i = 0; i < u->count; i++) {
		const uint32_t   at = (first + i) % u->count;
		struct upstream *one = &u->all[at];

		if (tried >> at & 1 || (!desperate && is_down(one, now)))
			continue;
		if (!u->least)
			return one;
		if (!best ||
		    atomic_load(&one->active) < atomic_load(&best->active))
			best = one;
	}
	return best;
}

/* --- kept connections --------------------------------------------------- */

static struct kept_connection *take_kept(struct upstream *server)
{
	struct kept_connection *k;

	pthread_mutex_lock(&server->lock);
	k = server->kept;
	if (k) {
		server->kept = k->next;
		server->kept_count--;
	}
	pthread_mutex_unlock(&server->lock);
	return k;
}

/* Nothing may come on a connection without a request: not even its end. */
static bool is_quiet(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

static bool reuse(struct upstreams *u, struct upstream *server,
		  struct http_stream *s)
{
	struct kept_connection *k;

	while ((k = take_kept(server))) {
		bool good = sennit_now() - k->since < u->keep_for &&
			    is_quiet(k->fd);

		s->fd = k->fd;
		free(k);
		if (good)
			return true;
		sennit_close(s->fd);
	}
	return false;
}

/* False: it must be closed. */
static bool keep(struct upstreams *u, struct upstream *server,
		 const struct http_stream *s)
{
	struct kept_connection *k = malloc(sizeof(*k));
	bool                    room;

	if (!k)
		return false;
	*k = (struct kept_connection){ .fd = s->fd, .since = sennit_now() };
	pthread_mutex_lock(&server->lock);
	room = server->kept_count < u->max_kept;
	if (room) {
		k->next = server->kept;
		server->kept = k;
		server->kept_count++;
	}
	pthread_mutex_unlock(&server->lock);
	if (!room)
		free(k);
	return room;
}

/* --- connecting --------------------------------------------------------- */

static int connect_to(struct upstream *server, struct http_stream *s,
		      sennit_time deadline)
{
	const int one = 1;
	int       err;

	s->fd = socket(server->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC,
		       0);
	if (s->fd < 0)
		return -errno;
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	err = http_stream_connect(s, &server->address, server->address_size,
				  deadline);
	if (err)
		sennit_close(s->fd);
	return err;
}

/* A slot is one of all connections that are in use. */
static int take_slot(struct upstream *server, sennit_time deadline)
{
	int err = sennit_semaphore_take_until(&server->slots, 1, deadline);

	/* The stop has cancelled the wait; what goes on needs no order. */
	if (err == -ECANCELED) {
		err = sennit_semaphore_take_until(&server->slots, 1,
						  SENNIT_UNCANCELLED);
	}
	if (!err)
		atomic_fetch_add(&server->active, 1);
	return err;
}

static void give_slot(struct upstream *server)
{
	atomic_fetch_sub(&server->active, 1);
	sennit_semaphore_give(&server->slots, 1);
}

static int try_server(struct upstreams *u, struct upstream *server,
		      struct http_stream *s, bool fresh, bool *reused)
{
	const sennit_time deadline = sennit_after(u->connect_patience);
	int               err = take_slot(server, deadline);

	if (err)
		return err;
	*reused = !fresh && reuse(u, server, s);
	err = *reused ? 0 : connect_to(server, s, deadline);
	if (!err)
		return 0;
	give_slot(server);
	upstream_failed(u, server);
	return err;
}

int upstream_connect(struct upstreams *u, struct http_stream *s, bool fresh,
		     bool *reused, struct upstream **server)
{
	uint64_t tried = 0;
	int      err = -ENOTCONN;

	for (uint32_t i = 0; i < u->count; i++) {
		struct upstream *one = choose(u, tried, false);

		one = one ? one : choose(u, tried, true);
		err = try_server(u, one, s, fresh, reused);
		*server = one;
		if (!err)
			return 0;
		tried |= UINT64_C(1) << (one - u->all);
	}
	return err;
}

void upstream_release(struct upstreams *u, struct upstream *server,
		      struct http_stream *s, bool keep_it)
{
	if (!keep_it || !keep(u, server, s))
		http_stream_close(s);
	give_slot(server);
}
