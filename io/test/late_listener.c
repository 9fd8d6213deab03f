/* SPDX-License-Identifier: Apache-2.0 */
/* late_listener.c - acceptors that get no listener of their own at first,
 * because the connections of another acceptor use all descriptors: they get one
 * later, and connections are served meanwhile.
 *
 * socket() is replaced, and fails when the test asks for it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clients.h"

#include "sennit/listen.h"

static atomic_int  socket_error;
static atomic_uint socket_errors;

int socket(int family, int type, int protocol)
{
	const int err = atomic_load(&socket_error);

	if (!err)
		return (int)syscall(SYS_socket, family, type, protocol);
	atomic_fetch_add(&socket_errors, 1);
	errno = err;
	return -1;
}

/* --- acceptors ---------------------------------------------------------- */

static int must_listen(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int                fd;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = sennit_listen((struct sockaddr *)&a, sizeof(a), 0,
			   SENNIT_LISTEN_SHARED);
	must(fd >= 0, "sennit_listen");
	return fd;
}

struct server {
	int          fd;
	sennit_group acceptors, connections;
};

/* No other acceptor gets a listener, although each has tried more than once. */
static void start(struct server *x, const struct world *w)
{
	atomic_store(&served, 0);
	atomic_store(&socket_errors, 0);
	atomic_store(&socket_error, EMFILE);
	sennit_group_init(&x->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&x->connections, SENNIT_NEVER, 0);
	assert_int_equal(sennit_listen_each(x->fd, &x->acceptors,
					    &x->connections, serve, NULL),
			 0);
	assert_soon(atomic_load(&socket_errors) > 2 * w->threads);
}

static void stop(struct server *x)
{
	sennit_group_cancel(&x->acceptors);
	EXPECT(sennit_group_wait(&x->acceptors) == -ECANCELED);
	EXPECT(sennit_group_wait(&x->connections) == 0);
	close(x->fd);
}

TEST_WITH_SEVERAL(the_first_acceptor_serves_and_the_others_come_later)
{
	struct server x = { .fd = must_listen() };
	int           clients[CLIENTS][2];

	begin_clients(clients, x.fd);
	start(&x, w);
	for (int i = 0; i < CLIENTS; i++)
		connect_to_listener(clients[i]);
	assert_soon(atomic_load(&served) == CLIENTS);
	end_clients(clients);
	assert_soon(io_waits(w->s) == 1);
	atomic_store(&socket_error, 0);
	assert_soon(io_waits(w->s) == w->threads);
	stop(&x);
}

TEST_WITH_SEVERAL(who_cannot_listen_ends_when_cancelled)
{
	struct server x = { .fd = must_listen() };

	start(&x, w);
	stop(&x);
	atomic_store(&socket_error, 0);
}

USES_BACKEND;
