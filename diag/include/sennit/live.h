/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - a live view: a Unix socket through which tools watch the schedulers
 * of the process.
 *
 * In libsennit-diag. sennit-top is such a tool. docs/design/diagnosis.md has
 * the protocol.
 *
 * A live view has one thread. Without clients the thread sleeps, and the view
 * costs nothing. With clients it reads reports and counters up to 20 times per
 * second, and less often if that takes more than 2 % of a CPU. A client can
 * request the merged stacks of all fibers of the process (sennit/stacks.h;
 * `sennit-top --stacks`).
 *
 * Only processes of the same user can connect: the socket has the mode 0600,
 * and the view asks the system for the user of each peer. There are at most
 * SENNIT_LIVE_CLIENTS clients. The view disconnects a client that does not
 * follow the protocol, does not read its answers, or sends no request.
 * SENNIT_DEBUG=live starts a live view without a call (docs/debugging.md).
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_LIVE_H
#define SENNIT_LIVE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

/* The maximum number of clients at a time. */
#define SENNIT_LIVE_CLIENTS 8

typedef struct sennit_live sennit_live;

/* Create the Unix socket `path`, start a live view of *s at it, and store the
 * view in *out. If s is NULL, the view shows all schedulers, including those
 * created later, but at most 8 at a time. The caller owns it and stops it with
 * sennit_live_stop. The view holds a weak handle of *s: it keeps *s alive only
 * while it reads from it. If a scheduler ends in that time, its end functions
 * may be called on the view's thread.
 *
 * A socket at `path` that belongs to this user and has no listener is replaced.
 * A child of a fork has no live view; it may call sennit_live_stop to free the
 * memory. Returns 0, or one of these errors:
 *   - -EINVAL if out or path is NULL or the path is empty;
 *   - -ENAMETOOLONG if the path, made absolute, has more than 107 bytes;
 *   - -EADDRINUSE if another process listens at `path`;
 *   - -EEXIST if anything else exists at `path`, including a symbolic link;
 *   - -EPERM if users other than this one and root can replace files in the
 *     folder of `path`;
 *   - -ENOMEM, -EAGAIN if the system refuses the thread, or the errno value of
 *     a refused system call.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_live_start(sennit_live     **out,
						 sennit_scheduler *s,
						 const char       *path);

/* Disconnect all clients, remove the socket, end the thread and free *live. A
 * different file that now exists at the path is not removed. It is misuse to
 * call this from a function that a scheduler calls at its end. If live is NULL,
 * do nothing.
 *
 * From: fiber, thread.  Blocks: yes (the thread, until a snapshot is done).  */
SENNIT_API void sennit_live_stop(sennit_live *live);

SENNIT_END

#endif
