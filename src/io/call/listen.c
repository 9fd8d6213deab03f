/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - listeners, and an acceptor on each worker.
 *
 * An acceptor is a member of the caller's group that is sent to its worker.
 * Which accepts from fd is decided by who begins first, as a worker with
 * another library's poller has none. Acceptors that have accepted compare the
 * number of workers with that of acceptors: so more of them cost an idle server
 * no wake-up.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "io/engine/perform.h"
#include "sennit/fiber.h"
#include "sennit/io.h"
#include "sennit/listen.h"
#include "sennit/net.h"
#include "sennit/scheduler.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- one listener ------------------------------------------------------- */

static int set(int fd, int level, int option, int to)
{
	return setsockopt(fd, level, option, &to, sizeof(to)) ? -errno : 0;
}

/* Whether it is any address of IPv6: then IPv4 is meant, too, whatever the
 * system's default is. */
static bool is_any_six(const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_in6 six;

	if (address->sa_family != AF_INET6 || size < sizeof(six))
		return false;
	memcpy(&six, address, sizeof(six));
	return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
}

static int begin_listening(int fd, const struct sockaddr *address,
			   socklen_t size, int backlog, uint32_t flags)
{
	const bool is_unix = address->sa_family == AF_UNIX; /* has no ports */
	int        err = is_unix ? 0 : set(fd, SOL_SOCKET, SO_REUSEADDR, 1);

	if (!err && !is_unix && (flags & SENNIT_LISTEN_SHARED))
		err = set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!err && is_any_six(address, size))
		err = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (err)
		return err;
	if (bind(fd, address, size) ||
	    listen(fd, backlog > 0 ? backlog : SOMAXCONN))
		return -errno;
	return 0;
}

int sennit_listen(const struct sockaddr *address, socklen_t size, int backlog,
		  uint32_t flags)
{
	int fd, err;

	if (flags & ~SENNIT_LISTEN_SHARED || size < sizeof(address->sa_family))
		return -EINVAL;
	fd = socket(address->sa_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = begin_listening(fd, address, size, backlog, flags);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* --- acceptors ---------------------------------------------------------- */

/* What sennit_listen_each was asked for, and how far that is. */
struct acceptors {
	int              fd;     /* fixed, as are those up to `argument` */
	bool             shared; /* others may listen there, too */
	sennit_group    *group;  /* of the acceptors */
	sennit_group    *connections;
	sennit_serve_fn *serve;
	void            *argument;
	a_u32            owners;  /* any: acceptors, and who places them */
	a_u32            taken;   /* any: 1: somebody accepts from fd */
	a_u32            placing; /* any: 1: somebody places */
	a_u32            placed;  /* who places: workers below have theirs */
	sennit_time      again;   /* who places: not before, as there was no
				   * thread or no memory */
};

struct connection {
	sennit_serve_fn *serve;
	void            *argument;
	int              fd;
};

static int serve(void *argument)
{
	const struct connection *c = argument;

	c->serve(c->fd, c->argument);
	return 0;
}

static void begin(const struct acceptors *a, int fd)
{
	const struct connection c = { a->serve, a->argument, fd };

	if (sennit_group_spawn_here(a->connections, serve, &c, sizeof(c)))
		close(fd);
}

/* How long to wait for descriptors, memory or threads of the system's, or after
 * errors in a row. */
#define RETRY (10 * SENNIT_MILLISECOND)

/* So many errors of connections may come in a row without a pause. */
#define IN_A_ROW 16

/* False: cancelled. */
static bool rest(void)
{
	return !sennit_sleep_until(sennit_after(RETRY));
}

/* Whether the error passes, and some time has: false, too, once cancelled. */
static bool passes(int err)
{
	switch (err) {
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
		return rest();
	default:
		return false;
	}
}

/* Whether accept's error has to do with a connection, or passes. A firewall or
 * a filter may give the same one for ever: then it does so now and then. */
static bool goes_on(int err, unsigned *in_a_row)
{
	switch (err) {
	case -ECONNABORTED:
	case -EPERM:
	case -EPROTO:
	case -ENETDOWN:
	case -ENOPROTOOPT:
	case -EHOSTDOWN:
	case -ENONET:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return ++*in_a_row < IN_A_ROW ? !sennit_cancelled() : rest();
	default:
		return passes(err);
	}
}

/* Connections that are taken at the end. */
#define LAST 1024

static COLD void place_more(struct acceptors *a);

/* Workers that were removed and have an acceptor go on, and count. */
static void look_for_workers(struct acceptors *a)
{
	if (unlikely(sennit_scheduler_workers(sennit_current()) >
		     a_load_rlx(&a->placed)))
		place_more(a);
}

static int accept_all(struct acceptors *a, int listener)
{
	unsigned in_a_row = 0;
	int      fd;

	do {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER);
		if (fd >= 0) {
			begin(a, fd);
			in_a_row = 0;
		}
		look_for_workers(a);
	} while (fd >= 0 || goes_on(fd, &in_a_row));
	if (fd != -ECANCELED && fd != -ETIMEDOUT && !sennit_cancelled())
		return fd;
	for (int i = 0; i < LAST; i++) {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC, 0);
		if (fd < 0)
			break;
		begin(a, fd);
	}
	return 0;
}

/* A listener at the address of fd. The connections of acceptors that were
 * faster may have taken all descriptors: an error would end those, too. */
static int listen_beside(int fd)
{
	union {
		struct sockaddr         any;
		struct sockaddr_storage room;
	} address;
	socklen_t size = sizeof(address);
	int       listener;

	if (getsockname(fd, &address.any, &size))
		return -errno;
	do
		listener = sennit_listen(&address.any, size, 0,
					 SENNIT_LISTEN_SHARED);
	while (passes(listener));
	return listener;
}

static int accept_elsewhere(struct acceptors *a)
{
	int listener, err;

	if (!a->shared)
		return accept_all(a, a->fd);
	listener = listen_beside(a->fd);
	if (listener < 0)
		return sennit_cancelled() ? 0 : listener;
	err = accept_all(a, listener);
	sennit_close(listener);
	return err;
}

/* --- placing ------------------------------------------------------------ */

static void leave(struct acceptors *a)
{
	/* -> listen.owners <- listen.owners */
	if (a_sub_acqrel(&a->owners, 1) == 1)
		free(a);
}

static int acceptor(void *argument)
{
	struct acceptors  *a = *(struct acceptors *const *)argument;
	struct io_backend *b;
	int                err = 0;

	/* A worker with another library's poller cannot accept. */
	if (sn_io_backend_here(&b) != -EBUSY)
		err = a_swap_rlx(&a->taken, 1) ? accept_elsewhere(a)
					       : accept_all(a, a->fd);
	leave(a);
	return err;
}

/* Give the next worker its acceptor. -ENOENT: all have theirs. */
static int place_next(struct acceptors *a)
{
	const uint32_t next = a_load_rlx(&a->placed);
	int            err;

	a_add_rlx(&a->owners, 1); /* the caller is one */
	err = sennit_group_spawn_on_(a->group, next, acceptor, &a, sizeof(a));
	if (err)
		leave(a);
	else
		a_store_rlx(&a->placed, next + 1);
	return err;
}

static int place_all(struct acceptors *a)
{
	int err;

	do
		err = place_next(a);
	while (!err);
	if (err != -ENOENT)
		a->again = sennit_after(RETRY);
	return err;
}

static void place_more(struct acceptors *a)
{
	/* <- listen.placing */
	if (a_swap_acq(&a->placing, 1))
		return;
	if (sennit_now() >= a->again)
		(void)place_all(a);
	a_store_rel(&a->placing, 0); /* -> listen.placing: placed, again */
}

static int is_set(int fd, int option, bool *on)
{
	int       value = 0;
	socklen_t size = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &size))
		return -errno;
	*on = value;
	return 0;
}

int sennit_listen_each(int fd, sennit_group *acceptors,
		       sennit_group *connections, sennit_serve_fn *serve_one,
		       void *argument)
{
	bool              listens = false, shared = false;
	struct acceptors *a;
	int               err = is_set(fd, SO_ACCEPTCONN, &listens);

	if (!err && !listens)
		err = -EINVAL;
	if (!err)
		err = is_set(fd, SO_REUSEPORT, &shared);
	if (err)
		return err;
	a = malloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct acceptors){ .fd = fd,
				 .shared = shared,
				 .group = acceptors,
				 .connections = connections,
				 .serve = serve_one,
				 .argument = argument };
	a_init(&a->owners, 1);
	a_init(&a->placing, 1);
	err = place_all(a);
	/* Who lacks one gets it with the next connection. */
	if (a_load_rlx(&a->placed))
		err = 0;
	a_store_rel(&a->placing, 0); /* -> listen.placing: placed, again */
	leave(a);
	return err;
}
