/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - sockets. The calls suspend the fiber and never block its worker.
 *
 * In libsennit-io. What io.h says about its calls applies to these, too.
 *
 * The library sets TCP_NODELAY on the TCP sockets that it creates: listeners,
 * the connections that they accept, and connections to an address text or a
 * host name. Data is then sent at once. Without the option a small packet can
 * wait 40 ms for the peer to acknowledge the previous one. Send data that
 * belongs together with one call or with MSG_MORE. sennit_socket_set() of
 * socket_option.h clears the option.
 */
#ifndef SENNIT_NET_H
#define SENNIT_NET_H

#include "sennit/base.h"

#include <sys/socket.h>
#include <sys/types.h>

SENNIT_BEGIN

/* Receive up to `size` bytes into *to. flags: those of recv(). With
 * MSG_DONTWAIT the call does not wait. With MSG_ERRQUEUE it waits for an error
 * in the socket's error queue. With MSG_WAITALL on a stream it waits until
 * `size` bytes have arrived, or until the end of the stream, an error, the
 * deadline or the cancellation. A call that waits continues when SO_RCVLOWAT
 * bytes are there, as poll() does, even if `size` is less. Returns the number
 * of bytes, 0 if the peer has shut down sending, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_recv(int fd, void *to, size_t size,
						 int         flags,
						 sennit_time deadline);

/* Send up to `size` bytes from *from. At least one byte is sent unless size is
 * 0. flags: those of send(). Does not raise SIGPIPE. Returns the number of
 * bytes sent, -EPIPE if the peer has closed, or another negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_send(int fd, const void *from,
						 size_t size, int flags,
						 sennit_time deadline);

/* Send all `size` bytes at *from, with as many sends as needed. *done is the
 * number of bytes that are already sent. The call continues after them and
 * increases *done, so after -ETIMEDOUT or -ECANCELED the same call can be
 * repeated to continue. If done is NULL, the call starts at 0. It is misuse if
 * *done is more than size. flags: as for sennit_send().
 * Returns 0 or a negative errno value of sennit_send().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_send_all(int fd, const void *from,
					       size_t size, int flags,
					       size_t     *done,
					       sennit_time deadline);

/* Receive or send one message, which may have several buffers, an address, and
 * control data such as descriptors. *message and what it points to must not
 * change until the call returns. Returns what sennit_recv() and sennit_send()
 * return.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_recvmsg(int            fd,
						    struct msghdr *message,
						    int            flags,
						    sennit_time    deadline);
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_sendmsg(
	int fd, const struct msghdr *message, int flags, sennit_time deadline);

/* Accept a connection. Unless address is NULL, the peer's address is stored in
 * *address, which has *size bytes, and its size in *size. flags: those of
 * accept4(). If the worker waits by epoll, or the caller is an unbound thread,
 * O_NONBLOCK is set on fd and stays set. Returns the connection's descriptor,
 * which the caller must close, or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_accept(int fd, struct sockaddr *address,
					     socklen_t *size, int flags,
					     sennit_time deadline);

/* Connect fd to *address, which has `size` bytes. After an error the state of
 * the socket is undefined: close it. If the worker waits by epoll, or the
 * caller is an unbound thread, O_NONBLOCK is set on fd during the call. Returns
 * 0 or a negative errno value.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect(int                    fd,
					      const struct sockaddr *address,
					      socklen_t              size,
					      sennit_time            deadline);

/* Shut down receiving, sending or both (SHUT_RD, SHUT_WR, SHUT_RDWR). Calls
 * that wait on fd to receive or send return as at the end of the stream.
 * Returns 0 or a negative errno.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_shutdown(int fd, int how);

SENNIT_END

#endif
