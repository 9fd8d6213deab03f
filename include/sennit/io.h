/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - reading and writing that holds up a fiber, never its worker: files,
 * pipes, terminals, sockets. Sockets' own calls are in net.h.
 *
 * In libsennit-io, a library of its own (-lsennit-io; CMake: sennit::io).
 *
 * Each call does what the system call of its name does, on a descriptor of the
 * program's own, with or without O_NONBLOCK. It returns what that returns, or a
 * negative errno value instead of -1 and errno, and takes a deadline. While it
 * waits, the worker runs other fibers; when there are none, the worker sleeps
 * until something is ready. On an unbound thread the thread waits.
 *
 * A call that can transfer something does so, and may transfer less than it
 * was asked for. It returns what it has transferred: a deadline or a cancelled
 * group ends a call that has transferred nothing, with -ETIMEDOUT or
 * -ECANCELED, and drops no byte. The system does not touch a call's buffers
 * after the call has returned. With a deadline of 0 a call does what can be
 * done at once, and returns -ETIMEDOUT where it would have to wait.
 *
 * Close what calls may wait on by sennit_close. close() and dup2() tell the
 * library nothing: a call that waits on the descriptor then goes on waiting,
 * until its deadline, for what the number meant, which the system may keep open
 * for it; or for what the number means next, and reads from that or writes to
 * it. The library notices where sennit_accept returns the number of an earlier
 * connection of its own: that ends the calls that wait on it, with -ECANCELED.
 * Nor does it notice what another thread closes just as a call enters the
 * system. To put something else under a number, call sennit_close, then dup2().
 *
 * Files are read and written from the page cache in place, and else by the
 * ring or a blocking call (blocking.h). What has begun is then waited for: the
 * deadline ends only a call that has not begun.
 *
 * Each worker waits by an io_uring, or by epoll where the kernel has no
 * io_uring (it needs Linux 6.1) or refuses it. SENNIT_IO in the environment
 * chooses: `epoll`, `uring` or `auto`; `auto` is the same as no SENNIT_IO.
 *
 * Calls return -EBUSY on a worker that has the poller of another library
 * (poller.h), and -ENOMEM, -EMFILE or -ENFILE when a worker's first call finds
 * no memory or descriptors for what it waits with.
 */
#ifndef SENNIT_IO_H
#define SENNIT_IO_H

#include "sennit/base.h"

#include <poll.h>
#include <sys/types.h>
#include <sys/uio.h>

SENNIT_BEGIN

/* Read up to `size` bytes from fd into *to. Returns how many it has read, 0 at
 * the end, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_read(int fd, void *to, size_t size,
						 sennit_time deadline);

/* Write up to `size` bytes at *from to fd; at least one, unless size is 0.
 * Raises SIGPIPE as write() does. Returns how many it has written, or a
 * negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_write(int fd, const void *from,
						  size_t      size,
						  sennit_time deadline);

/* The same with `count` pieces of memory, which must stay as they are until the
 * call returns. Returns what sennit_read() and sennit_write() return.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_readv(int                 fd,
						  const struct iovec *to,
						  int                 count,
						  sennit_time         deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_writev(int                 fd,
						   const struct iovec *from,
						   int                 count,
						   sennit_time deadline);

/* The same at byte `at` of a file, whose position stays. Returns what
 * sennit_read() and sennit_write() return, and -EINVAL if `at` is negative.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pread(int fd, void *to, size_t size,
						  off_t       at,
						  sennit_time deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pwrite(int fd, const void *from,
						   size_t size, off_t at,
						   sennit_time deadline);

/* Wait until one of the events of poll() is there on fd. Returns those that
 * are, POLLERR and POLLHUP among them, more than 0; -EBADF.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll(int fd, short events,
					   sennit_time deadline);

/* Wait for one of several descriptors, as poll() does, of which the entries
 * with a negative descriptor are left out. Returns how many have events, which
 * are then in the `revents` of each; more than 0. With no descriptor it waits
 * for the deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll_several(struct pollfd *fds,
						   size_t         count,
						   sennit_time    deadline);

/* Close fd. Calls that wait on it, or on it and others, end with -ECANCELED, on
 * whatever worker or thread; a call that is just beginning may return -EBADF.
 * Calls that have begun do not go on with what the number of fd means next.
 * Returns 0 or close()'s negative errno; fd is closed in any case.
 *
 * As with close(), who makes a call on fd after it was closed finds what the
 * number means then.
 *
 * From: fiber, thread.  Blocks: as close() does.  */
SENNIT_API int sennit_close(int fd);

/* Return what the calling fiber's worker waits with: "uring" or "epoll"; "poll"
 * on an unbound thread; NULL where a call would fail.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_io_backend(void);

SENNIT_END

#endif
