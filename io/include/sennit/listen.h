/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listening sockets: one for all workers, or one for each.
 *
 *	int fd = sennit_listen(&address, size, 0, SENNIT_LISTEN_SHARED);
 *
 *	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
 *	sennit_group_init(&connections, SENNIT_NEVER, 0);
 *	err = sennit_listen_each(fd, &acceptors, &connections, serve, state);
 *	...
 *	sennit_group_cancel(&acceptors);	// accept no new connections
 *	err = sennit_group_wait(&acceptors);
 *	// open connections may finish, and are cancelled after ten seconds
 *	err = sennit_group_drain(&connections, sennit_after(TEN_SECONDS));
 *
 * In libsennit-io.
 */
#ifndef SENNIT_LISTEN_H
#define SENNIT_LISTEN_H

#include "sennit/base.h"
#include "sennit/group.h"

#include <sys/socket.h>

SENNIT_BEGIN

/* A flag of sennit_listen: set SO_REUSEPORT. Other sockets may then listen at
 * the same address, and the system distributes connections among them. */
#define SENNIT_LISTEN_SHARED UINT32_C(1)

/* Create a stream socket that listens at *address, which has `size` bytes.
 * SO_REUSEADDR is set unless it is a unix socket. A socket at the IPv6 wildcard
 * address (::) also accepts IPv4 connections. TCP sockets get TCP_NODELAY,
 * which their connections inherit (net.h). backlog: as in listen(); 0: the
 * longest that the system allows. sennit_listen_at() of address.h takes an
 * address as text.
 * Returns the descriptor, which the caller must close; it has FD_CLOEXEC and
 * O_NONBLOCK. Returns -EINVAL for unknown flags; or a negative errno of the
 * system, such as -EADDRINUSE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen(const struct sockaddr *address,
					     socklen_t size, int backlog,
					     uint32_t flags);

/* A function that serves a connection. It owns fd and must close it. */
typedef void sennit_serve_fn(void *argument, int fd);

/* Accept connections on every worker. Adds members to *acceptors: one acceptor
 * on each worker of the scheduler of *acceptors or, if the scheduler has no
 * workers, on the thread that opened the group. A worker that is added later
 * (sennit_scheduler_set_workers) gets an acceptor when the next connection
 * arrives. A removed worker keeps its acceptor. Each connection becomes a
 * member of *connections. The member calls serve(argument, fd) on the worker
 * that accepted the connection, and is never stolen.
 *
 * The first acceptor accepts from fd. If fd was created with
 * SENNIT_LISTEN_SHARED and is not a unix socket, each other acceptor has its
 * own listener at the same address. Otherwise all accept from fd. A worker
 * without a thread is started for its acceptor. An acceptor begins when its
 * worker next takes a task, so no connection waits for a worker that is busy
 * for long. An acceptor needs a stack and no other memory. A worker does not
 * retire while it has an acceptor.
 *
 * When *acceptors is cancelled, each acceptor still accepts the connections
 * that are established by then, up to 1,024, and ends without an error.
 * Acceptors close their own listeners. fd belongs to the caller and must stay
 * open until *acceptors has ended. If the system is out of descriptors or
 * memory, or many connections in a row fail, an acceptor tries again after 10
 * ms. Any other error of a listener ends its acceptor and cancels the group.
 * Both arguments may be the same group; otherwise the caller waits for
 * *acceptors before *connections.
 * Returns 0, -EINVAL if fd does not listen, -ENOTSOCK, -EBADF, -ECANCELED,
 * -ENOMEM, or -EAGAIN if no worker has a thread and no thread could be started.
 * On error nothing is spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen_each(int              fd,
						  sennit_group    *acceptors,
						  sennit_group    *connections,
						  sennit_serve_fn *serve,
						  void            *argument);

SENNIT_END

#endif
