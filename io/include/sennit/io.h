/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - reading and writing files, pipes, terminals and sockets. The calls
 * suspend the fiber and never block its worker. net.h has the calls for
 * sockets.
 *
 * In libsennit-io, a separate library (-lsennit-io; CMake: sennit::io).
 *
 * Each call does what the system call of the same name does. It works on any
 * descriptor, with or without O_NONBLOCK, and takes a deadline. It returns the
 * system call's result; instead of -1 and errno it returns a negative errno
 * value. While a call waits, its worker runs other fibers, or sleeps until
 * something is ready. On an unbound thread the thread itself waits.
 *
 * A call may transfer fewer bytes than requested. It returns the number of
 * bytes transferred. A deadline or a cancelled group ends a call only if the
 * call has transferred nothing; it then returns -ETIMEDOUT or -ECANCELED. No
 * byte is lost. The system does not access a call's buffers after the call has
 * returned. With a deadline of 0 a call does what it can do at once, and
 * returns -ETIMEDOUT if it would have to wait.
 *
 * If calls may be waiting on a descriptor, close it with sennit_close. The
 * library does not notice close() and dup2(). After these, a call that waits on
 * the descriptor keeps waiting until its deadline: either for the old file,
 * which the system may keep open for the call, or for the next file that gets
 * the number, and it then reads from that file or writes to it. There is one
 * exception: when sennit_accept returns the number of an earlier connection
 * that it accepted, the calls that still wait on that number end with
 * -ECANCELED. The library also does not notice a close by another thread at the
 * moment when a call enters the system. To reuse a number with dup2(), call
 * sennit_close first.
 *
 * Data in the page cache is read and written in place. Other file accesses use
 * io_uring or a blocking call (blocking.h); for those a deadline ends only a
 * call that has not begun.
 *
 * Each worker waits with an io_uring. It uses epoll where the kernel has no
 * io_uring (Linux 6.1 or later is needed) or refuses it. The environment
 * variable SENNIT_IO selects one: `epoll`, `uring` or `auto`. `auto` is the
 * default.
 *
 * Calls return -EBUSY on a worker that has the poller of another library
 * (poller.h). The first call on a worker creates its poller, and returns
 * -ENOMEM, -EMFILE or -ENFILE if there is no memory or descriptor for it.
 *
 * Most waits end as soon as the call can proceed. No event announces the
 * following changes, so the call tries again after pauses of at most 64 ms:
 * room for a message in a full unix datagram socket that the sender is not
 * connected to, room in the queue of a listening unix socket for a connect, and
 * the shutdown of a full unix socket that a call sends to. For the last one the
 * pauses grow to a second.
 */
#ifndef SENNIT_IO_H
#define SENNIT_IO_H

#include "sennit/base.h"
#include "sennit/select.h"

#include <poll.h>
#include <sys/types.h>
#include <sys/uio.h>

SENNIT_BEGIN

/* Read up to `size` bytes from fd into *to. Returns the number of bytes read, 0
 * at the end of the file, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_read(int fd, void *to, size_t size,
						 sennit_time deadline);

/* Write up to `size` bytes from *from to fd. At least one byte is written
 * unless size is 0. Raises SIGPIPE as write() does. Returns the number of bytes
 * written, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_write(int fd, const void *from,
						  size_t      size,
						  sennit_time deadline);

/* Read exactly `size` bytes into *to, with as many reads as needed. *done is
 * the number of bytes that are already there. The call continues after them and
 * increases *done, so after -ETIMEDOUT or -ECANCELED the same call can be
 * repeated to continue. If done is NULL, the call starts at 0. It is misuse if
 * *done is more than size.
 * Returns 0; -ENODATA if the file ends first; or a negative errno value of
 * sennit_read().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_read_exactly(int fd, void *to,
						   size_t size, size_t *done,
						   sennit_time deadline);

/* Write all `size` bytes at *from, with as many writes as needed. *done is the
 * number of bytes that are already written, and is used as in
 * sennit_read_exactly(). The data of several callers that write at the same
 * time may be interleaved.
 * Returns 0 or a negative errno value of sennit_write().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_write_all(int fd, const void *from,
						size_t size, size_t *done,
						sennit_time deadline);

/* Read into or write from `count` buffers. The array and the buffers must stay
 * valid and unchanged by others until the call returns. Returns what
 * sennit_read() and sennit_write() return.
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

/* Read or write at the offset `at`, in bytes, without changing the file
 * position. Returns what sennit_read() and sennit_write() return, and -EINVAL
 * if `at` is negative.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pread(int fd, void *to, size_t size,
						  int64_t     at,
						  sennit_time deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_pwrite(int fd, const void *from,
						   size_t size, int64_t at,
						   sennit_time deadline);

/* Wait until fd has one of the given poll() events. Returns the events of fd,
 * more than 0, which may include POLLERR and POLLHUP; or a negative errno
 * value, such as -EBADF.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll(int fd, short events,
					   sennit_time deadline);

/* Wait until at least one of several descriptors has events, as poll() does.
 * Entries with a negative descriptor are ignored. Without any descriptor the
 * call waits for the deadline. Stores the events of each descriptor in its
 * `revents`. Returns the number of descriptors with events, more than 0, or a
 * negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poll_many(struct pollfd *fds,
						size_t         count,
						sennit_time    deadline);

/* Return a case of a select that waits until fd can be read or written, or has
 * an error or reached its end, as sennit_poll does with POLLIN or POLLOUT. The
 * case does not read or write. If others use fd too, it may no longer be ready
 * when the program reads or writes. If fd is negative, the case never happens.
 * The result of the case is the events of fd, more than 0, or a negative errno
 * value: -EBADF; -ECANCELED if sennit_close closed fd; or as other calls,
 * -EBUSY, -ENOMEM, -EMFILE or -ENFILE.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_readable(int fd);
SENNIT_API sennit_case sennit_case_writable(int fd);

/* Close fd. Calls that wait on fd, alone or among other descriptors, end with
 * -ECANCELED, on any worker or thread. A call that is just beginning may return
 * -EBADF. A call that began before the close never uses a file that gets the
 * number of fd afterwards. Returns 0 or close()'s negative errno; fd is closed
 * in either case.
 *
 * As with close(), a call that begins after sennit_close uses whatever file has
 * the number then.
 *
 * From: fiber, thread.  Blocks: as close() does.  */
SENNIT_API int sennit_close(int fd);

/* Return how the calling fiber's worker waits: "uring" or "epoll"; "poll" on an
 * unbound thread; NULL if an I/O call would fail. The string is constant and
 * need not be freed.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_io_backend(void);

SENNIT_END

#endif
