/* SPDX-License-Identifier: Apache-2.0 */
/* nonblock.h - uses a descriptor without O_NONBLOCK as if it had that flag.
 *
 * Terminals, named pipes and some devices do not support RWF_NOWAIT. Readiness
 * by poll() does not promise that a call will not wait: a write of more than
 * fits waits, and so does a read if another reader was faster. A deadline
 * cannot end such a wait, neither in io_uring_enter(), which makes the call as
 * soon as poll() reports readiness, nor in a helper thread.
 *
 *	terminal, pipe   reopened with O_NONBLOCK: a new open file description
 *	others; those    get O_NONBLOCK for one call, under a lock: other users
 *	that may not     of the description see the flag for that long
 *	be reopened
 *
 * Never reopened: the master of a pseudo-terminal, because its name creates a
 * new one, and devices other than terminals, because opening one may have side
 * effects.
 */
#ifndef SN_NONBLOCK_H
#define SN_NONBLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct io_request;
struct stat;

/* Whether it is a socket, or a pipe of pipe() and the kernel supports
 * RWF_NOWAIT for pipes (Linux 6.4): no call on the ring then blocks on it. */
bool sn_io_nonblock_is_needless(const struct stat *s);

/* One use, in its caller's frame. The fiber must not wait before the end. */
struct io_nonblock {
	int              fd;     /* the descriptor to use */
	int              flags;  /* as the program has set them */
	bool             opened; /* fd was opened by the library */
	pthread_mutex_t *lock;   /* held while fd has O_NONBLOCK; or NULL */
};

/* Between begin and end, calls on n->fd do not wait, unless a driver waits in
 * spite of O_NONBLOCK. If the program has not set that flag, one of `events`
 * must be there, unless it is 0: a terminal that waits for several characters
 * (VMIN) returns fewer to a non-blocking read. Returns 0; -EAGAIN without such
 * an event; or another negative errno. Call end only after 0. */
int  sn_io_nonblock_begin(struct io_nonblock *n, int fd, short events);
void sn_io_nonblock_end(struct io_nonblock *n);

/* Perform r by its `block`, without waiting. -EAGAIN if it would wait. */
ptrdiff_t sn_io_nonblock_do(const struct io_request *r);

/* The same as an attempt (request.h). Returns -EOPNOTSUPP for a file, which
 * waits in spite of O_NONBLOCK, and for a device, whose driver may. */
ptrdiff_t sn_io_nonblock_attempt(const struct io_request *r);

#endif
