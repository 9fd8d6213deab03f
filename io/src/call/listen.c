/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - listeners, and an acceptor on each worker.
 *
 * An acceptor is a member of the caller's group that is sent to its worker. The
 * first acceptor that begins accepts from fd. This is not decided earlier,
 * because a worker with another library's poller cannot accept. After each
 * accept an acceptor compares the number of workers with the number of
 * acceptors that were started. So workers can be added without waking an idle
 * server.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "call/retry.h"
#include "engine/perform.h"
#include "sennit/fiber.h"
#include "sennit/io.h"
#include "sennit/listen.h"
#include "sennit/net.h"
#include "sennit/scheduler.h"
#include "sennit/socket_option.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- one listener ------------------------------------------------------- */

/* Whether it is the IPv6 wildcard address. It then includes IPv4, whatever the
 * system's default is. */
static bool is_ipv6_wildcard(const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_in6 six;

	if (address->sa_family != AF_INET6 || size < sizeof(six))
		return false;
	memcpy(&six, address, sizeof(six));
	return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
}

static int bind_and_listen(int fd, const struct sockaddr *address,
			   socklen_t size, int backlog, uint32_t flags)
{
	const bool is_unix = address->sa_family == AF_UNIX; /* no ports */
	int        err = 0;

	if (!is_unix)
		err = sennit_socket_set(fd, SENNIT_SOCKET_REUSE_ADDRESS, 1);
	if (!err && !is_unix && (flags & SENNIT_LISTEN_SHARED))
		err = sennit_socket_set(fd, SENNIT_SOCKET_REUSE_PORT, 1);
	if (!err && is_ipv6_wildcard(address, size))
		err = sennit_socket_set(fd, SENNIT_SOCKET_V6_ONLY, 0);
	if (err)
		return err;
	/* Accepted connections inherit the option. For families other than
	 * TCP's the call fails, which is ignored. */
	if (!is_unix)
		(void)!sennit_socket_set(fd, SENNIT_SOCKET_NO_DELAY, 1);
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
	err = bind_and_listen(fd, address, size, backlog, flags);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* --- acceptors ---------------------------------------------------------- */

/* The arguments and the state of one sennit_listen_each(). */
struct acceptors {
	int              fd;     /* fixed, as are those up to `argument` */
	bool             shared; /* fd has SO_REUSEPORT */
	sennit_group    *group;  /* of the acceptors */
	sennit_group    *connections;
	sennit_serve_fn *serve;
	void            *argument;
	a_u32            owners;  /* any: one for each acceptor, and one for the
				   * call */
	a_u32            taken;   /* any: 1: an acceptor accepts from fd */
	a_u32            placing; /* any: 1: acceptors are being started */
	a_u32            placed;  /* under `placing`: lower workers have
				   * theirs */
	sennit_time      again;   /* under `placing`: try again at this time,
				   * after there was no thread or no memory */
};

struct connection {
	sennit_serve_fn *serve;
	void            *argument;
	int              fd;
};

static int serve_connection(void *argument)
{
	const struct connection *c = argument;

	c->serve(c->argument, c->fd);
	return 0;
}

static void spawn_connection(const struct acceptors *a, int fd)
{
	struct connection c = { a->serve, a->argument, fd };

	if (sennit_group_spawn_task(
		    a->connections,
		    SENNIT_MEMBER(.run = serve_connection, .argument = &c,
				  .copy_size = sizeof(c),
				  .flags = SENNIT_MEMBER_SAME_THREAD)))
		close(fd);
}

/* The pause before a retry when descriptors, memory or threads are lacking, or
 * after several errors in a row. */
#define RETRY (10 * SENNIT_MILLISECOND)

/* The number of consecutive connection errors after which there is a pause. */
#define IN_A_ROW 16

/* Sleep before a retry. Returns false if the group was cancelled. */
static bool pause_before_retry(void)
{
	return !sennit_sleep_until(sennit_after(RETRY));
}

bool sn_wait_for_resources(int err)
{
	switch (err) {
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
		return pause_before_retry();
	default:
		return false;
	}
}

/* Whether to accept again after an error: it concerned a single connection, or
 * a lack of resources that may pass. A firewall or a seccomp filter may cause
 * the same error without end, so after IN_A_ROW errors there is a pause before
 * each retry. */
static bool should_accept_again(int err, unsigned *in_a_row)
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
		return ++*in_a_row < IN_A_ROW ? !sennit_check_cancelled()
					      : pause_before_retry();
	default:
		return sn_wait_for_resources(err);
	}
}

/* The most connections that an acceptor accepts after it was cancelled. */
#define LAST 1024

static COLD void start_missing_acceptors(struct acceptors *a);

/* A removed worker keeps its acceptor, and is still counted in `placed`. */
static void check_for_added_workers(struct acceptors *a)
{
	if (unlikely(sennit_scheduler_workers(sennit_scheduler_current()) >
		     a_load_rlx(&a->placed)))
		start_missing_acceptors(a);
}

static int accept_until_ended(struct acceptors *a, int listener)
{
	unsigned in_a_row = 0;
	int      fd;

	do {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER);
		if (fd >= 0) {
			spawn_connection(a, fd);
			in_a_row = 0;
		}
		check_for_added_workers(a);
	} while (fd >= 0 || should_accept_again(fd, &in_a_row));
	if (fd != -ECANCELED && fd != -ETIMEDOUT && !sennit_check_cancelled())
		return fd;
	for (int i = 0; i < LAST; i++) {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC, 0);
		if (fd < 0)
			break;
		spawn_connection(a, fd);
	}
	return 0;
}

/* Make a listener at the address of fd. Connections of other acceptors may have
 * used up all descriptors, and an error would end those acceptors, too, so a
 * lack of descriptors is retried. */
static int listen_at_same_address(int fd)
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
	while (sn_wait_for_resources(listener));
	return listener;
}

static int accept_on_other_worker(struct acceptors *a)
{
	int listener, err;

	if (!a->shared)
		return accept_until_ended(a, a->fd);
	listener = listen_at_same_address(a->fd);
	if (listener < 0)
		return sennit_check_cancelled() ? 0 : listener;
	err = accept_until_ended(a, listener);
	sennit_close(listener);
	return err;
}

/* --- starting acceptors ------------------------------------------------- */

static void release_acceptors(struct acceptors *a)
{
	/* -> listen.owners <- listen.owners */
	if (a_sub_acqrel(&a->owners, 1) == 1)
		free(a);
}

static int run_acceptor(void *argument)
{
	struct acceptors  *a = *(struct acceptors *const *)argument;
	struct io_backend *b;
	int                err = 0;

	/* A worker with another library's poller cannot accept. */
	if (sn_io_backend_here(&b) != -EBUSY)
		err = a_swap_rlx(&a->taken, 1) ? accept_on_other_worker(a)
					       : accept_until_ended(a, a->fd);
	release_acceptors(a);
	return err;
}

/* Start an acceptor on the next worker. Returns -ENOENT if all have one. */
static int start_next_acceptor(struct acceptors *a)
{
	const uint32_t next = a_load_rlx(&a->placed);
	int            err;

	a_add_rlx(&a->owners, 1); /* the caller holds one, too */
	err = sennit_group_spawn_task(
		a->group, SENNIT_MEMBER(.run = run_acceptor, .argument = &a,
					.copy_size = sizeof(a),
					.flags = SENNIT_MEMBER_ON_WORKER,
					.worker = next));
	if (err)
		release_acceptors(a);
	else
		a_store_rlx(&a->placed, next + 1);
	return err;
}

static int start_all_acceptors(struct acceptors *a)
{
	int err;

	do
		err = start_next_acceptor(a);
	while (!err);
	if (err != -ENOENT)
		a->again = sennit_after(RETRY);
	return err;
}

static void start_missing_acceptors(struct acceptors *a)
{
	/* <- listen.placing */
	if (a_swap_acq(&a->placing, 1))
		return;
	if (sennit_now() >= a->again)
		(void)start_all_acceptors(a);
	a_store_rel(&a->placing, 0); /* -> listen.placing: placed, again */
}

static int get_socket_flag(int fd, int option, bool *on)
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
	int               err = get_socket_flag(fd, SO_ACCEPTCONN, &listens);

	if (!err && !listens)
		err = -EINVAL;
	if (!err)
		err = get_socket_flag(fd, SO_REUSEPORT, &shared);
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
	err = start_all_acceptors(a);
	/* Workers without an acceptor get one when the next connection
	 * comes. */
	if (a_load_rlx(&a->placed))
		err = 0;
	a_store_rel(&a->placing, 0); /* -> listen.placing: placed, again */
	release_acceptors(a);
	return err;
}
