/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listening sockets: one of all workers, or one of each.
 *
 *	int fd = sennit_listen(&address, size, 0, SENNIT_LISTEN_SHARED);
 *
 *	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
 *	sennit_group_init(&connections, SENNIT_NEVER, 0);
 *	err = sennit_listen_each(fd, &acceptors, &connections, serve, state);
 *	...
 *	sennit_group_cancel(&acceptors);	// no new connections
 *	err = sennit_group_wait(&acceptors);
 *	err = sennit_group_wait(&connections);	// those that are there end
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
 * a unix socket. backlog: as of listen(); 0: as many as the system allows.
 * Returns its descriptor, which is the caller's, closed on exec and with
 * O_NONBLOCK; -EINVAL for unknown flags; or a negative errno of the system's,
 * such as -EADDRINUSE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen(const struct sockaddr *address,
					     socklen_t size, int backlog,
					     uint32_t flags);

/* Serve a connection, whose descriptor is the function's to close. */
typedef void sennit_serve_fn(int fd, void *argument);

/* Accept on every worker. Adds members to *acceptors: one acceptor on each
 * worker of *acceptors' scheduler, or, without workers, on the thread that
 * opened it. A worker that is added later (sennit_scheduler_set_workers) gets
 * one when the next connection comes; one that is removed keeps its own. Each
 * connection becomes a member of *connections on the worker that has accepted
 * it, never stolen, that calls serve(fd, argument).
 *
 * The first acceptor accepts from fd. Each other one has a listener of its own
 * at the same address, if fd is one with SENNIT_LISTEN_SHARED, not of a unix
 * socket; else all of them accept from fd. A worker without a thread is started
 * for its acceptor, which begins when the worker takes a task: one that is busy
 * for long gets none until then, so that no connection waits for it. An
 * acceptor needs a stack, and nothing else is added. A worker does not retire
 * while it has one.
 *
 * When *acceptors is cancelled, acceptors take what has connected by then, up
 * to 1,024 each, and end with no error. They close their own listeners; fd is
 * the caller's, and must stay open until *acceptors has ended. A lack of
 * descriptors or memory, or many connections in a row that fail, make an
 * acceptor try again 10 ms later; any other error of a listener ends it, and so
 * the group. The two groups may be one;
 * else the caller waits for *acceptors before *connections.
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
