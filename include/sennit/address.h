/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - listening, connecting and naming addresses by text.
 *
 *	"example.org:443", "192.0.2.1:80"   a host and a port
 *	"[2001:db8::1]:80"                  an IPv6 address and a port
 *	"localhost:http"                    a service by its name
 *	":8080"                             no host: see the calls
 *	"127.0.0.1:0"                       port 0, to listen: a free one
 *	"unix:/run/socket"                  a unix socket, by its path
 *	"unix:@name"                        by a name that is no file
 *
 * In libsennit-io. Names are looked up by sennit_resolve(). A text is
 * malformed, and calls return -EINVAL, if it has no port, if its port is a
 * number above 65535, or if an IPv6 address lacks its brackets. A path or a
 * host that is too long is -ENAMETOOLONG.
 */
#ifndef SENNIT_ADDRESS_H
#define SENNIT_ADDRESS_H

#include "sennit/base.h"

#include <sys/socket.h>

SENNIT_BEGIN

/* Listen at an address. ":port" is any address of this machine, by IPv6 and
 * IPv4, or by IPv4 alone where there is no IPv6. Of a host with several
 * addresses the first that can be listened at is taken. A path must not exist:
 * remove what an earlier process has left there. flags:
 * SENNIT_LISTEN_SHARED of listen.h, or 0. The backlog is the longest.
 * Returns the descriptor, which is the caller's, closed on exec and with
 * O_NONBLOCK; -EINVAL, -ENAMETOOLONG; or a negative errno of sennit_resolve(),
 * such as -ENOENT for an unknown host, or of sennit_listen(), such as
 * -EADDRINUSE.
 *
 * From: fiber, thread.  Blocks: until a name is found.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen_on(const char *text,
						uint32_t    flags);

/* Connect to an address. Of a host with several addresses each is tried, as
 * sennit_connect_host() does. ":port" is this machine. The deadline holds for
 * the lookup and all attempts.
 * Returns the descriptor, which is the caller's and closed on exec; -EINVAL,
 * -ENAMETOOLONG; or a negative errno of sennit_resolve(), such as -ENOENT for
 * an unknown host, or of the last attempt, such as -ECONNREFUSED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect_to(const char *text,
						 sennit_time deadline);

/* Bytes that suffice for the text of any address, with its zero byte. */
#define SENNIT_ADDRESS_TEXT 128

/* Write the text of *address, of `size` bytes, such as sennit_accept() stores,
 * to *text, which has `room` bytes. Numbers are not looked up. An IPv4 address
 * that an IPv6 socket has (::ffff:192.0.2.1) becomes that of IPv4. A unix
 * socket without a name becomes "unix:". Each other text is one that
 * sennit_connect_to() takes.
 * Returns 0; -ENOSPC if the room does not suffice; -EAFNOSUPPORT for another
 * family, and -EINVAL for less than an address.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_address_text(
	const struct sockaddr *address, socklen_t size, char *text,
	size_t room);

/* Write the text of a socket's own address, such as that of a listener at port
 * 0, or of its peer's, to *text, which has `room` bytes.
 * Returns what sennit_address_text() returns, -ENOTSOCK, -EBADF, or -ENOTCONN
 * if there is no peer.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_address(int fd, char *text,
						    size_t room);
SENNIT_API SENNIT_MUST_USE int sennit_peer_address(int fd, char *text,
						   size_t room);

SENNIT_END

#endif
