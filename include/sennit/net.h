/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - sockets. The calls suspend the fiber and never block its worker.
 *
 * In libsennit-io. Everything that io.h says about its calls holds for these.
 */
#ifndef SENNIT_NET_H
#define SENNIT_NET_H

#include "sennit/base.h"

#include <sys/socket.h>
#include <sys/types.h>

SENNIT_BEGIN

/* Receive up to `size` bytes into *to. flags: those of recv(); with
 * MSG_DONTWAIT the call does not wait. Returns the number of bytes, 0 if the
 * peer has shut down, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_recv(int fd, void *to, size_t size,
						 int         flags,
						 sennit_time deadline);

/* Send up to `size` bytes at *from; at least one, unless size is 0. flags:
 * those of send(). Raises no SIGPIPE. Returns the number of bytes, -EPIPE if
 * the peer has closed, or another negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_send(int fd, const void *from,
						 size_t size, int flags,
						 sennit_time deadline);

/* Send all `size` bytes at *from, by as many sends as it takes. *done of them
 * are sent already: the call goes on behind them and raises *done, so after
 * -ETIMEDOUT or -ECANCELED the same call continues. done may be NULL for none.
 * It is misuse if *done is more than size. flags: as for sennit_send().
 * Returns 0 or a negative errno value of sennit_send().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_send_all(int fd, const void *from,
					       size_t size, int flags,
					       size_t     *done,
					       sennit_time deadline);

/* Receive or send by a message: several pieces of memory, addresses,
 * descriptors. *message and what it points to must not change until the call
 * returns. Returns what sennit_recv() and sennit_send() return.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_recvmsg(int            fd,
						    struct msghdr *message,
						    int            flags,
						    sennit_time    deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_sendmsg(
	int fd, const struct msghdr *message, int flags, sennit_time deadline);

/* Accept a connection. *address, of *size bytes, becomes the peer's address and
 * its size, unless NULL. flags: those of accept4(). Where the worker waits by
 * epoll, and on an unbound thread, fd gets O_NONBLOCK if it lacks it. Returns
 * the connection's descriptor, which is the caller's, or a negative errno
 * value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_accept(int fd, struct sockaddr *address,
					     socklen_t *size, int flags,
					     sennit_time deadline);

/* Connect fd to *address. Returns 0 or a negative errno value; after an error
 * the state of the socket is undefined: close it. If the worker waits by epoll,
 * and on an unbound thread, fd has O_NONBLOCK during the call.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect(int                    fd,
					      const struct sockaddr *address,
					      socklen_t              size,
					      sennit_time            deadline);

/* Shut down receiving, sending or both (SHUT_RD, SHUT_WR, SHUT_RDWR). Calls
 * that wait on fd for that return as at the end of the stream. Returns 0 or a
 * negative errno.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_shutdown(int fd, int how);

SENNIT_END

#endif
