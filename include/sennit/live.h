/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - a live view: a Unix socket at which tools see what the schedulers of
 * the process do now.
 *
 * In libsennit-diag. sennit-top is such a tool. docs/design/diagnosis.md has
 * the protocol.
 *
 * A live view has one thread of its own. Without clients the thread sleeps, and
 * the view costs nothing. With clients it reads reports and counters up to 20
 * times per second, and less often if that takes more than 2 % of a CPU. A
 * client can ask for the merged stacks of all fibers of the process, once
 * (sennit/stacks.h; `sennit-top --stacks`).
 *
 * Only processes of the same user can connect: the socket has the mode 0600,
 * and the view asks the system who connects. There are at most
 * SENNIT_LIVE_CLIENTS clients. A client that does not follow the protocol, does
 * not read, or does not ask for anything is disconnected. No environment
 * variable starts or moves a live view.
 */
#ifndef SENNIT_LIVE_H
#define SENNIT_LIVE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

/* The maximum number of clients at a time. */
#define SENNIT_LIVE_CLIENTS 8

typedef struct sennit_live sennit_live;

/* Start a live view of *s (NULL: of all schedulers, those created later
 * included, but at most 8 at a time) at the Unix socket `path`, which the call
 * creates, and store the view in *out. The caller owns it and stops it with
 * sennit_live_stop. The view holds a weak handle of *s: it keeps *s alive only
 * while it reads from it. If a scheduler ends in that time, its functions for
 * the end may be called on the view's thread.
 *
 * A socket that a process of this user left at `path` without a listener is
 * replaced. A child of a fork has no live view; it may call sennit_live_stop to
 * free memory.
 * Returns 0, or one of these errors:
 *   - -EINVAL if out or path is NULL or the path is empty;
 *   - -ENAMETOOLONG if the path, made absolute, has more than 107 bytes;
 *   - -EADDRINUSE if another process listens at `path`;
 *   - -EEXIST if there is anything else at `path`, also a symbolic link;
 *   - -EPERM if users other than this one and root can replace files in the
 *     folder of `path`;
 *   - -ENOMEM, -EAGAIN if the system refuses the thread, or the errno value of
 *     a refused system call.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_live_start(sennit_live     **out,
						 sennit_scheduler *s,
						 const char       *path);

/* Disconnect all clients, remove the socket, end the thread and free *live. If
 * there is another file at the path now, it stays. It is misuse to call this
 * from a function that a scheduler calls at its end. NULL: do nothing.
 *
 * From: fiber, thread.  Blocks: yes (the thread, until a look has ended).  */
SENNIT_API void sennit_live_stop(sennit_live *live);

SENNIT_END

#endif
