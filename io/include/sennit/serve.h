/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - a server in one call: accept, serve, stop, drain.
 *
 *	sigaddset(&ends, SIGTERM);	// of an empty set, in main(), before
 *	sigprocmask(SIG_BLOCK, &ends, NULL); // there are threads
 *	...
 *	int fd = sennit_listen_at(":8080", 0, SENNIT_NEVER);
 *
 *	err = sennit_serve(fd, serve, state,
 *			   SENNIT_SERVE_OPTIONS(.signals = &ends,
 *						.patience = TEN_SECONDS));
 *
 *	serving --a signal, the event or an error--> draining --> the end
 *	   |                                             |
 *	   +---- the group around the caller ends: ------+--> connections are
 *	                                                      cancelled
 *
 * listen.h has the parts, for servers with several listeners or with groups of
 * their own. In libsennit-io, on Linux only.
 */
#ifndef SENNIT_SERVE_H
#define SENNIT_SERVE_H

#include "sennit/base.h"
#include "sennit/event.h"
#include "sennit/listen.h"
#include "sennit/task.h"

#include <sys/select.h> /* sigset_t */

SENNIT_BEGIN

/* How a server stops. A field that is zero has its default. */
typedef struct sennit_serve_options {
	size_t          size;     /* sizeof(sennit_serve_options) */
	const sigset_t *signals;  /* each of them stops the server, and must be
				  * blocked as for sennit_signals_open; NULL:
				  * none does */
	sennit_event   *stop;     /* a manual event, which stops the server;
				   * NULL: none does */
	sennit_task_fn *stopping; /* stopping(argument) is called when no more
				   * connections are accepted, before the others
				   * are waited for; NULL: nothing is */
	uint64_t        patience; /* how long connections may go on after that,
				   * in nanoseconds; SENNIT_NEVER: as long as
				   * they like */
} sennit_serve_options;

#define SENNIT_SERVE_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_serve_options, \
			 .size = sizeof(sennit_serve_options), __VA_ARGS__)

/* Accept connections from fd, which listens, on every worker of the bound
 * scheduler, as sennit_listen_each does, until the server is stopped. Each
 * connection is a task that calls serve(argument, connection), on the worker
 * that accepted it; it owns the descriptor and must close it. All connections
 * are in one group: an error of a task that one of them spawns into it ends
 * nothing, and is ignored. fd belongs to the call, which closes it before it
 * returns, also at an error. If fd is negative, it is the error of the call
 * that made it, and is returned.
 *
 * The server stops when one of the signals arrives, or was pending already;
 * when *stop is set; or when the listener fails. Then it accepts the
 * connections that are established by then, closes fd, calls `stopping`, and
 * lets all connections end by themselves for `patience`. After that, or at one
 * more of the signals, it cancels those that are left: their waits end with
 * -ECANCELED. It returns when the last one has ended. If several servers of a
 * process have the same signal, it stops all of them. If the group around the
 * caller is cancelled, or its deadline passes, the server stops and all
 * connections are cancelled at once. options may be NULL: then only that, or an
 * error, ends the server. While the system is out of descriptors or memory,
 * connections wait to be accepted, and the server can be stopped.
 *
 * Returns 0 if all connections ended by themselves; -ETIMEDOUT if some were
 * cancelled after `patience`, or at the deadline of the group around the
 * caller; -ECANCELED if they were cancelled at a signal, or that group was; or
 * an error of the listener. At once it returns -EINVAL if fd does not listen, a
 * signal is not blocked or options->size is less than that of the first
 * version; -E2BIG if a newer caller set bytes that this library does not know;
 * or an error of sennit_listen_each or sennit_signals_open.
 *
 * From: fiber.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_serve(
	int fd, sennit_serve_fn *serve, void *argument,
	const sennit_serve_options *options);

SENNIT_END

#endif
