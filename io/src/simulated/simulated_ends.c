/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_ends.c - the sockets of the simulated network, by descriptor. */
#include "simulated/network.h"

#ifdef SENNIT_DETERMINISTIC

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct simulated_end **table; /* indexed by descriptor */
static int                    table_size;
static uint32_t               ends; /* number created so far */

/* --- the table ---------------------------------------------------------- */

static bool make_room(int fd)
{
	struct simulated_end **bigger;

	if (fd < table_size)
		return true;
	bigger = realloc(table, ((size_t)fd + 64) * sizeof(*table));
	if (!bigger)
		return false;
	memset(bigger + table_size, 0,
	       ((size_t)fd + 64 - (size_t)table_size) * sizeof(*table));
	table = bigger;
	table_size = fd + 64;
	return true;
}

struct simulated_end *sn_simulated_known(int fd)
{
	return fd >= 0 && fd < table_size ? table[fd] : NULL;
}

struct simulated_end *sn_simulated_new_end(void)
{
	struct simulated_end *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->id = ++ends;
	e->fd = -1;
	return e;
}

int sn_simulated_enter(struct simulated_end *e, int fd)
{
	struct stat s;

	if (fstat(fd, &s))
		return -errno;
	if (!make_room(fd))
		return -ENOMEM;
	e->fd = fd;
	e->device = s.st_dev;
	e->inode = s.st_ino;
	table[fd] = e;
	return 0;
}

static bool is_same_file(const struct simulated_end *e)
{
	struct stat s;

	return !fstat(e->fd, &s) && s.st_dev == e->device &&
	       s.st_ino == e->inode;
}

/* --- ends for sockets --------------------------------------------------- */

static int option(int fd, int name)
{
	int       value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &size) ? -errno : value;
}

bool sn_simulated_is_listening(int fd)
{
	return option(fd, SO_ACCEPTCONN) == 1;
}

/* Check that fd can be an end. Returns 0 or a negative errno. */
static int check_socket(int fd)
{
	struct sockaddr_storage peer;
	socklen_t               size = sizeof(peer);
	const int               type = option(fd, SO_TYPE);
	const int               domain = option(fd, SO_DOMAIN);

	if (type == -EBADF)
		return -EBADF;
	if (type != SOCK_STREAM ||
	    (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX))
		return -EOPNOTSUPP;
	return getpeername(fd, (struct sockaddr *)&peer, &size) ? 0
								: -EOPNOTSUPP;
}

struct simulated_end *sn_simulated_find(int fd, int *err)
{
	struct simulated_end *e = sn_simulated_known(fd);

	if (e && is_same_file(e))
		return e;
	if (e)
		sn_simulated_close_end(e);
	*err = check_socket(fd);
	if (*err)
		return NULL;
	e = sn_simulated_new_end();
	*err = e ? sn_simulated_enter(e, fd) : -ENOMEM;
	if (!*err)
		return e;
	free(e);
	return NULL;
}

void sn_simulated_sweep(void)
{
	for (int fd = 0; fd < table_size; fd++)
		if (table[fd] && !is_same_file(table[fd]))
			sn_simulated_close_end(table[fd]);
}

/* --- connections -------------------------------------------------------- */

int sn_simulated_join(struct simulated_end *a, struct simulated_end *b)
{
	const uint32_t buffer = sn_simulated_config()->buffer;

	if (sn_simulated_stream_open(&a->in, buffer))
		return -ENOMEM;
	if (sn_simulated_stream_open(&b->in, buffer)) {
		sn_simulated_stream_close(&a->in);
		return -ENOMEM;
	}
	a->peer = b;
	b->peer = a;
	a->state = b->state = SIMULATED_CONNECTED;
	return 0;
}

static void free_end(struct simulated_end *e)
{
	sn_simulated_stream_close(&e->in);
	free(e);
}

/* Send the end of e, or a reset, to its peer. */
static void notify_peer(struct simulated_end *e, bool reset)
{
	struct simulated_end *peer = e->peer;

	sn_simulated_deliver(e);
	if (e->in.was_reset)
		return;
	if (reset || e->in.held)
		sn_simulated_stream_reset(&peer->in, sn_simulated_arrival());
	else if (!e->shut_out)
		sn_simulated_stream_end(&peer->in);
	sn_simulated_touch(peer->fd);
}

/* Recursive, with a depth of at most 2, because queued ends have no queue. */
static void close_and_notify(struct simulated_end *e, bool reset)
{
	struct simulated_end *peer = e->peer;

	sn_simulated_note("closed", e->id, e->in.held);
	while (e->queue) {
		struct simulated_end *q = e->queue;

		e->queue = q->next;
		close_and_notify(q, true);
	}
	if (peer && !peer->closed)
		notify_peer(e, reset);
	if (e->fd >= 0)
		table[e->fd] = NULL;
	e->fd = -1;
	e->closed = true;
	if (peer && !peer->closed)
		return;
	if (peer)
		free_end(peer);
	free_end(e);
}

void sn_simulated_close_end(struct simulated_end *e)
{
	close_and_notify(e, false);
}

void sn_simulated_reset_both(struct simulated_end *e)
{
	sn_simulated_note("is to be reset", e->id, e->peer->id);
	sn_simulated_stream_reset(&e->in, sn_simulated_arrival());
	sn_simulated_stream_reset(&e->peer->in, sn_simulated_arrival());
	sn_simulated_touch(e->fd);
	sn_simulated_touch(e->peer->fd);
}

void sn_simulated_forget_all(void)
{
	for (int fd = 0; fd < table_size; fd++)
		if (table[fd])
			sn_simulated_close_end(table[fd]);
	ends = 0;
}

/* --- events ------------------------------------------------------------- */

void sn_simulated_deliver(struct simulated_end *e)
{
	if (!sn_simulated_stream_look(&e->in, sennit_now()))
		return;
	e->error = e->in.ended ? EPIPE : ECONNRESET;
	sn_simulated_note("was reset", e->id, e->in.arrived);
	sn_simulated_touch(e->fd);
}

static bool can_accept(const struct simulated_end *e)
{
	const sennit_time now = sennit_now();

	for (const struct simulated_end *q = e->queue; q; q = q->next)
		if (q->ready <= now)
			return true;
	return false;
}

static short events_unconnected(const struct simulated_end *e)
{
	if (sn_simulated_is_listening(e->fd))
		return can_accept(e) ? POLLIN : 0;
	if (e->state == SIMULATED_FRESH)
		return POLLOUT | POLLHUP;
	return sennit_now() >= e->ready ? POLLIN | POLLOUT | POLLERR : 0;
}

short sn_simulated_events(struct simulated_end *e)
{
	short events = 0;

	sn_simulated_deliver(e);
	if (e->state == SIMULATED_CONNECTING && sennit_now() < e->ready)
		return 0;
	if (!e->peer)
		return events_unconnected(e);
	if (e->in.arrived || e->in.ended || e->shut_in || e->in.was_reset)
		events |= POLLIN;
	if (e->in.ended || e->shut_in)
		events |= POLLRDHUP;
	if (e->shut_out || e->in.was_reset ||
	    (e->peer->in.capacity - e->peer->in.held))
		events |= POLLOUT;
	if (e->in.was_reset || (e->in.ended && e->shut_out))
		events |= POLLHUP;
	return e->error ? events | POLLERR : events;
}

sennit_time sn_simulated_next(const struct simulated_end *e)
{
	const sennit_time now = sennit_now();
	sennit_time       next = sn_simulated_stream_next(&e->in);

	if (e->state != SIMULATED_CONNECTED && e->ready > now &&
	    e->ready < next)
		next = e->ready;
	for (const struct simulated_end *q = e->queue; q; q = q->next)
		if (q->ready > now && q->ready < next)
			next = q->ready;
	return next;
}

#endif
