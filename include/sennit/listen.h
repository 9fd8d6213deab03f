/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listening sockets: one for all workers, or one for each.
 *
 *	int fd = sennit_listen(&address, size, 0, SENNIT_LISTEN_SHARED);
 *
 *	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
 *	sennit_group_init(&connections, SENNIT_NEVER, 0);
 *	err = sennit_listen_each(fd, &acceptors, &connections, serve, state);
 *	...
 *	sennit_group_cancel(&acceptors);	// no new connections
 *	err = sennit_group_wait(&acceptors);
 *	// those that are there end, or are cancelled after ten seconds
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

/* A flag of sennit_listen: other sockets may listen at the same address
 * (SO_REUSEPORT), and the system spreads connections among them. */
#define SENNIT_LISTEN_SHARED UINT32_C(1)

/* Make a stream socket that listens at *address, with SO_REUSEADDR unless it is
 * a unix socket. At any address of IPv6 (::) it takes connections by IPv4, too.
 * sennit_listen_on() of address.h takes a text. backlog: as of listen(); 0: as
 * many as the system allows.
 * Returns its descriptor, which is the caller's, closed on exec and with
 * O_NONBLOCK; -EINVAL for unknown flags; or a negative errno of the system's,
 * such as -EADDRINUSE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen(const struct sockaddr *address,
					     socklen_t size, int backlog,
					     uint32_t flags);

/* A function that serves a connection. It must close fd. */
typedef void sennit_serve_fn(int fd, void *argument);

/* Accept on every worker. Adds members to *acceptors: one acceptor on each
 * worker of *acceptors' scheduler, or, without workers, on the thread that
 * opened it. A worker that is added later (sennit_scheduler_set_workers) gets
 * one when the next connection comes; a removed worker keeps its own. Each
 * connection becomes a member of *connections that calls serve(fd, argument) on
 * the worker that accepted it, and is never stolen.
 *
 * The first acceptor accepts from fd. If fd was made with SENNIT_LISTEN_SHARED
 * and is not a unix socket, each other acceptor has its own listener at the
 * same address; otherwise all accept from fd. A worker without a thread is
 * started for its acceptor. An acceptor begins when its worker next takes a
 * task: so no connection waits for a worker that is busy for long. An acceptor
 * needs a stack and no other memory. A worker does not retire while it has one.
 *
 * When *acceptors is cancelled, each acceptor still accepts the connections
 * that are established by then, up to 1,024, and ends without an error.
 * Acceptors close their own listeners; fd belongs to the caller and must stay
 * open until *acceptors has ended. If descriptors or memory are lacking, or
 * many connections in a row fail, an acceptor tries again 10 ms later. Any
 * other error of a listener ends its acceptor and cancels the group. The two
 * groups may be the same one; otherwise the caller waits for *acceptors before
 * *connections.
 * Returns 0, -EINVAL if fd does not listen, -ENOTSOCK, -EBADF, -ECANCELED,
 * -ENOMEM, or -EAGAIN if no worker has a thread and none can be started. On
 * error nothing is spawned.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen_each(int              fd,
						  sennit_group    *acceptors,
						  sennit_group    *connections,
						  sennit_serve_fn *serve,
						  void            *argument);

SENNIT_END

#endif
