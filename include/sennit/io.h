/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - reading and writing files, pipes, terminals and sockets. The calls
 * suspend the fiber and never block its worker. net.h has the calls for
 * sockets.
 *
 * In libsennit-io, a library of its own (-lsennit-io; CMake: sennit::io).
 *
 * Each call does what the system call of its name does, on any descriptor, with
 * or without O_NONBLOCK. It returns what that returns, or a negative errno
 * value instead of -1 and errno, and takes a deadline. While it waits, the
 * worker runs other fibers, or sleeps until something is ready. On an unbound
 * thread the thread waits.
 *
 * A call may transfer less than it was asked for, and returns how much it has
 * transferred. A deadline or a cancelled group ends only a call that has
 * transferred nothing, with -ETIMEDOUT or -ECANCELED; no byte is lost. The
 * system does not touch a call's buffers after the call has returned. With a
 * deadline of 0 a call does what can be done at once, and returns -ETIMEDOUT if
 * it would have to wait.
 *
 * If calls may wait on a descriptor, close it by sennit_close. The library does
 * not notice close() and dup2(). A call that waits on the descriptor then
 * continues to wait, until its deadline, for the old file, which the system may
 * keep open for it; or for the file that gets the number next, and reads from
 * that or writes to it. There is one exception: if sennit_accept returns the
 * number of an earlier connection of its own, the calls that wait on it end
 * with -ECANCELED. The library also does not notice a close by another thread
 * just as a call enters the system. To reuse a number by dup2(), call
 * sennit_close first.
 *
 * Files that are in the page cache are read and written in place, others by
 * io_uring or a blocking call (blocking.h). For these the deadline ends only a
 * call that has not begun.
 *
 * Each worker waits by an io_uring, or by epoll where the kernel has no
 * io_uring (it needs Linux 6.1) or refuses it. SENNIT_IO in the environment
 * chooses: `epoll`, `uring` or `auto`; `auto` is the same as no SENNIT_IO.
 *
 * Calls return -EBUSY on a worker that has the poller of another library
 * (poller.h), and -ENOMEM, -EMFILE or -ENFILE if there is no memory or
 * descriptor for the poller that a worker's first call creates.
 */
#ifndef SENNIT_IO_H
#define SENNIT_IO_H

#include "sennit/base.h"
#include "sennit/select.h"

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

/* Read exactly `size` bytes into *to, by as many reads as it takes. *done of
 * them are there already: the call goes on behind them and raises *done, so
 * after -ETIMEDOUT or -ECANCELED the same call continues. done may be NULL for
 * none. It is misuse if *done is more than size.
 * Returns 0; -ENODATA if the end comes first; or a negative errno value of
 * sennit_read().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_read_exactly(int fd, void *to,
						   size_t size, size_t *done,
						   sennit_time deadline);

/* Write all `size` bytes at *from, by as many writes as it takes. *done of them
 * are written already; the rest is as for sennit_read_exactly(). Writes of
 * several callers may mix.
 * Returns 0 or a negative errno value of sennit_write().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_write_all(int fd, const void *from,
						size_t size, size_t *done,
						sennit_time deadline);

/* Read into or write `count` pieces of memory, which must stay as they are
 * until the call returns. Returns what sennit_read() and sennit_write() return.
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

/* Read or write at byte `at` of a file, whose position does not change. Returns
 * what sennit_read() and sennit_write() return, and -EINVAL if `at` is
 * negative.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pread(int fd, void *to, size_t size,
						  off_t       at,
						  sennit_time deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pwrite(int fd, const void *from,
						   size_t size, off_t at,
						   sennit_time deadline);

/* Wait until fd has one of the events of poll(). Returns its events, POLLERR
 * and POLLHUP among them, more than 0; or a negative errno value, such as
 * -EBADF.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll(int fd, short events,
					   sennit_time deadline);

/* Wait for one of several descriptors, as poll() does. Entries with a negative
 * descriptor are ignored. Returns the number of descriptors with events, more
 * than 0; each entry's `revents` has its events. Without any descriptor the
 * call waits for the deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll_several(struct pollfd *fds,
						   size_t         count,
						   sennit_time    deadline);

/* Return a case of a select that waits until fd can be read or written, or has
 * an error or its end: sennit_poll with POLLIN or POLLOUT. It reads and writes
 * nothing; and what was ready may not be any more when the program tries, if
 * others use fd, too. If fd is negative, the case never happens. The result of
 * the case is the events that fd has, more than 0, or a negative errno value:
 * -EBADF; -ECANCELED if sennit_close closed fd; or as other calls, -EBUSY,
 * -ENOMEM, -EMFILE or -ENFILE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_readable(int fd);
SENNIT_API sennit_case sennit_case_writable(int fd);

/* Close fd. Calls that wait on it, alone or among others, end with -ECANCELED,
 * on any worker or thread; a call that is just beginning may return -EBADF. No
 * call that has begun continues with a file that gets the number of fd next.
 * Returns 0 or close()'s negative errno; fd is closed in any case.
 *
 * As with close(), a call that begins after the close uses the file that has
 * the number then.
 *
 * From: fiber, thread.  Blocks: as close() does.  */
SENNIT_API int sennit_close(int fd);

/* Return how the calling fiber's worker waits: "uring" or "epoll"; "poll" on an
 * unbound thread; NULL if a call would fail.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_io_backend(void);

SENNIT_END

#endif
