/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_connect.c - connects and accepts in the simulated network. */
#include "simulated/network.h"

#ifdef SENNIT_DETERMINISTIC

#include "sennit/deterministic.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* Ports of ends that are not bound: this plus the id. */
#define FIRST_PORT 1024u

/* --- addresses ---------------------------------------------------------- */

union simulated_address {
	struct sockaddr         any;
	struct sockaddr_in      in;
	struct sockaddr_in6     in6;
	struct sockaddr_un      un;
	struct sockaddr_storage whole;
};

/* Copy `size` bytes of *from; the rest becomes 0. */
static void set_address(union simulated_address *a, const struct sockaddr *from,
			socklen_t size)
{
	memset(a, 0, sizeof(*a));
	memcpy(a, from, size < sizeof(*a) ? size : sizeof(*a));
}

static bool is_any6(const struct in6_addr *a)
{
	return !memcmp(a, &in6addr_any, sizeof(*a));
}

/* Whether a listener on *own accepts connections to *to. */
static bool accepts_for(const union simulated_address *own,
			const union simulated_address *to)
{
	if (own->any.sa_family == AF_INET6 && to->any.sa_family == AF_INET)
		return own->in6.sin6_port == to->in.sin_port &&
		       is_any6(&own->in6.sin6_addr);
	if (own->any.sa_family != to->any.sa_family)
		return false;
	switch (own->any.sa_family) {
	case AF_INET:
		return own->in.sin_port == to->in.sin_port &&
		       (!own->in.sin_addr.s_addr || !to->in.sin_addr.s_addr ||
			own->in.sin_addr.s_addr == to->in.sin_addr.s_addr);
	case AF_INET6:
		return own->in6.sin6_port == to->in6.sin6_port &&
		       (is_any6(&own->in6.sin6_addr) ||
			is_any6(&to->in6.sin6_addr) ||
			!memcmp(&own->in6.sin6_addr, &to->in6.sin6_addr,
				sizeof(to->in6.sin6_addr)));
	default: /* unused bytes of a path are 0 */
		return !memcmp(own->un.sun_path, to->un.sun_path,
			       sizeof(to->un.sun_path));
	}
}

static bool listens_on(int fd, const union simulated_address *to)
{
	union simulated_address own;
	socklen_t               size = sizeof(own);

	memset(&own, 0, sizeof(own));
	return sn_simulated_is_listening(fd) &&
	       !getsockname(fd, &own.any, &size) && accepts_for(&own, to);
}

/* Any listener on the address, or NULL. */
static struct simulated_end *find_listener(const union simulated_address *to)
{
	DIR           *all = opendir("/proc/self/fd");
	struct dirent *d;
	uint32_t       found = 0;
	int            err, chosen = -1;

	while (all && (d = readdir(all))) {
		const int fd = atoi(d->d_name);

		if (d->d_name[0] != '.' && listens_on(fd, to) &&
		    !sennit_explore_choose(++found))
			chosen = fd;
	}
	if (all)
		closedir(all);
	return chosen < 0 ? NULL : sn_simulated_find(chosen, &err);
}

/* --- connecting --------------------------------------------------------- */

/* Create the other end and queue it at the listener. Returns 0 or -ENOMEM. */
static int queue_other_end(struct simulated_end *e,
			   struct simulated_end *listener)
{
	struct simulated_end *other = sn_simulated_new_end();

	if (!other || sn_simulated_join(e, other)) {
		free(other);
		return -ENOMEM;
	}
	other->ready = sn_simulated_arrival();
	other->next = listener->queue;
	listener->queue = other;
	e->state = SIMULATED_CONNECTING;
	sn_simulated_note("connects to", e->id, listener->id);
	sn_simulated_touch(listener->fd);
	return 0;
}

static int begin_simulated_connect(struct simulated_end  *e,
				   const struct sockaddr *to, socklen_t size)
{
	union simulated_address address;
	struct simulated_end   *listener;
	int                     err;

	if (size < sizeof(to->sa_family))
		return -EINVAL;
	set_address(&address, to, size);
	listener = find_listener(&address);
	e->ready = sn_simulated_arrival();
	if (!listener ||
	    sn_simulated_happens(sn_simulated_config()->refusals)) {
		e->state = SIMULATED_REFUSED;
		return -EAGAIN;
	}
	err = queue_other_end(e, listener);
	return err ? err : -EAGAIN;
}

static int end_connect(struct simulated_end *e)
{
	const bool refused = e->state == SIMULATED_REFUSED;

	if (sennit_now() < e->ready)
		return -EAGAIN;
	e->state = refused ? SIMULATED_FRESH : SIMULATED_CONNECTED;
	sn_simulated_note(refused ? "is refused" : "is connected", e->id, 0);
	return refused ? -ECONNREFUSED : 0;
}

int sn_simulated_is_connected(struct simulated_end *e)
{
	switch (e->state) {
	case SIMULATED_FRESH:
		return -ENOTCONN;
	case SIMULATED_CONNECTED:
		return 0;
	default:
		return end_connect(e);
	}
}

int sn_simulated_connect(struct simulated_end *e, const struct sockaddr *to,
			 socklen_t size)
{
	if (e->state == SIMULATED_CONNECTED || sn_simulated_is_listening(e->fd))
		return -EISCONN;
	return e->state == SIMULATED_FRESH
		       ? begin_simulated_connect(e, to, size)
		       : end_connect(e);
}

/* --- accepting ---------------------------------------------------------- */

/* Choose one of the ends that are ready. Returns the link to it, or NULL. */
static struct simulated_end **choose_queued(struct simulated_end *listener)
{
	const sennit_time      now = sennit_now();
	struct simulated_end **chosen = NULL;
	uint32_t               count = 0;

	for (struct simulated_end **q = &listener->queue; *q; q = &(*q)->next)
		if ((*q)->ready <= now && !sennit_explore_choose(++count))
			chosen = q;
	return chosen;
}

static int family_of(int fd)
{
	int       family = AF_INET;
	socklen_t size = sizeof(family);

	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
	return family;
}

/* The address of a connected peer: loopback, and a port of its own. */
static void copy_address(const struct simulated_end *e, int family,
			 struct sockaddr *to, socklen_t *size)
{
	const in_port_t         port = htons((uint16_t)(FIRST_PORT + e->id));
	union simulated_address a = { .any.sa_family = (sa_family_t)family };
	socklen_t               full = sizeof(a.any.sa_family);

	if (!to || !size)
		return;
	if (family == AF_INET) {
		a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a.in.sin_port = port;
		full = sizeof(a.in);
	} else if (family == AF_INET6) {
		a.in6.sin6_addr = in6addr_loopback;
		a.in6.sin6_port = port;
		full = sizeof(a.in6);
	}
	memcpy(to, &a, *size < full ? *size : full);
	*size = full;
}

int sn_simulated_accept(struct simulated_end *e, struct sockaddr *peer,
			socklen_t *size, int flags)
{
	const int              family = family_of(e->fd);
	struct simulated_end **at, *q;
	int                    fd, err;

	if (!sn_simulated_is_listening(e->fd) ||
	    flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	at = choose_queued(e);
	if (!at)
		return -EAGAIN;
	fd = socket(family, SOCK_STREAM | flags, 0);
	if (fd < 0)
		return -errno;
	q = *at;
	err = sn_simulated_enter(q, fd);
	if (err) {
		close(fd);
		return err;
	}
	*at = q->next;
	q->next = NULL;
	copy_address(q->peer, family, peer, size);
	sn_simulated_note("accepts", e->id, q->id);
	return fd;
}

/* --- pairs -------------------------------------------------------------- */

static int make_socket(struct simulated_end **out)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = -EMFILE;

	*out = NULL;
	if (fd < 0)
		return -errno;
	*out = sn_simulated_find(fd, &err);
	if (*out)
		return fd;
	close(fd);
	return err;
}

static void close_socket(struct simulated_end *e, int fd)
{
	if (e)
		sn_simulated_close_end(e);
	if (fd >= 0)
		close(fd);
}

int sn_simulated_pair(int fds[2])
{
	struct simulated_end *a = NULL, *b = NULL;
	int                   one, other = -1;
	int                   err;

	sn_simulated_lock();
	one = make_socket(&a);
	if (one >= 0)
		other = make_socket(&b);
	err = one < 0 ? one : other < 0 ? other : sn_simulated_join(a, b);
	if (err) {
		close_socket(a, one);
		close_socket(b, other);
	} else {
		sn_simulated_note("is a pair with", a->id, b->id);
		fds[0] = one;
		fds[1] = other;
	}
	sn_simulated_unlock();
	return err;
}

#endif
