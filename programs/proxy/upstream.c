/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/upstream.h"

#include "http/address.h"

#include <sennit/io.h>
#include <sennit/socket_option.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

struct kept_connection {
	struct kept_connection *next;
	int                     fd;
	sennit_time             since;
};

/* --- the servers -------------------------------------------------------- */

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
	http_supply_open(&one->slots, u->max_connections);
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
		http_supply_close(&one->slots);
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

/* Return the next server that was not tried; NULL: none. Servers that are down
 * are included only if desperate. */
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

/* Report whether the connection is idle. A server must send nothing without a
 * request, not even the end. */
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

/* Returns false if the connection must be closed. */
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
	int err;

	s->fd = socket(server->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC,
		       0);
	if (s->fd < 0)
		return -errno;
	(void)!sennit_socket_set(s->fd, SENNIT_SOCKET_NO_DELAY, 1);
	err = http_stream_connect(s, &server->address, server->address_size,
				  deadline);
	if (err)
		sennit_close(s->fd);
	return err;
}

/* A stop has cancelled the wait: what is left of the requests ignores the
 * limit. */
static int take_slot(struct upstream *server, struct http_user *client,
		     sennit_time deadline)
{
	int err = http_supply_take(&server->slots, client, HTTP_SLOT, deadline);

	if (err == -ECANCELED)
		err = http_supply_take(&server->slots, client, HTTP_SLOT,
				       SENNIT_UNCANCELLED);
	if (!err)
		atomic_fetch_add(&server->active, 1);
	return err;
}

static void give_slot(struct upstream *server, struct http_user *client)
{
	atomic_fetch_sub(&server->active, 1);
	http_supply_give(client, HTTP_SLOT);
}

static bool is_ours(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ||
	       err == -ENOBUFS;
}

/* A client may have left after a wait of this length. */
#define WAITED (50 * SENNIT_MILLISECOND)

/* Report whether the client has left while it waited. It then gets no
 * connection: otherwise clients that come and leave faster than servers accept
 * connections would keep all others waiting. */
static bool has_left(const struct http_user *client, sennit_time begun)
{
	return sennit_now() - begun > WAITED && http_user_is_reset(client->fd);
}

static int take_slot_if_there(struct upstream *server, struct http_user *client,
			      sennit_time deadline)
{
	const sennit_time begun = sennit_now();
	int               err = take_slot(server, client, deadline);

	if (err || !has_left(client, begun))
		return err;
	give_slot(server, client);
	return -ECONNABORTED;
}

static int try_server(struct upstreams *u, struct http_user *client,
		      struct upstream *server, struct http_stream *s,
		      bool fresh, bool *reused, sennit_time deadline)
{
	int err = take_slot_if_there(server, client, deadline);

	if (err)
		return err;
	*reused = !fresh && reuse(u, server, s);
	do
		err = *reused ? 0 : connect_to(server, s, deadline);
	while (is_ours(err) && !http_users_wait(client->users, deadline) &&
	       !http_user_is_reset(client->fd));
	if (!err)
		return 0;
	give_slot(server, client);
	if (!is_ours(err))
		upstream_failed(u, server);
	return err;
}

static int try_all(struct upstreams *u, struct http_user *client,
		   struct http_stream *s, bool fresh, bool *reused,
		   struct upstream **server)
{
	uint64_t tried = 0;
	int      err = -ENOTCONN;

	for (uint32_t i = 0; i < u->count; i++) {
		struct upstream *one = choose(u, tried, false);

		one = one ? one : choose(u, tried, true);
		err = try_server(u, client, one, s, fresh, reused,
				 sennit_after(u->connect_patience));
		*server = one;
		if (!err || err == -ECONNABORTED)
			return err;
		tried |= UINT64_C(1) << (one - u->all);
	}
	return err;
}

/* Take the share of the client's address first, so that those that wait for it
 * do not wait in the queue for a slot. */
static int take_share(struct http_user *client, sennit_time deadline)
{
	int err = http_share_take(client, deadline);

	return err == -ECANCELED ? http_share_take(client, SENNIT_UNCANCELLED)
				 : err;
}

int upstream_connect(struct upstreams *u, struct http_user *client,
		     struct http_stream *s, bool fresh, bool *reused,
		     struct upstream **server)
{
	const sennit_time begun = sennit_now();
	int err = take_share(client, sennit_after(u->connect_patience));

	if (err)
		return err;
	err = has_left(client, begun)
		      ? -ECONNABORTED
		      : try_all(u, client, s, fresh, reused, server);
	if (err)
		http_supply_give(client, HTTP_SHARE);
	return err;
}

void upstream_release(struct upstreams *u, struct http_user *client,
		      struct upstream *server, struct http_stream *s,
		      bool keep_it)
{
	if (!keep_it || !keep(u, server, s))
		http_stream_close(s);
	give_slot(server, client);
	http_supply_give(client, HTTP_SHARE);
}
