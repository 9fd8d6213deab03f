/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - listening, connecting and naming addresses by text.
 *
 *	"example.org:443", "192.0.2.1:80"   a host and a port
 *	"[2001:db8::1]:80"                  an IPv6 address and a port
 *	"localhost:http"                    a service name
 *	":8080"                             no host: see the calls
 *	"127.0.0.1:0"                       port 0: listen at a free port
 *	"unix:/run/socket"                  a unix socket, by its path
 *	"unix:@name"                        a unix socket, by an abstract name
 *
 * In libsennit-io. Names are looked up by sennit_resolve(). Calls return
 * -EINVAL if a text is malformed: it has no port, its port is a number above
 * 65535, or an IPv6 address is not in brackets. They return -ENAMETOOLONG if a
 * path or a host is too long.
 */
#ifndef SENNIT_ADDRESS_H
#define SENNIT_ADDRESS_H

#include "sennit/base.h"

#include <sys/socket.h>

SENNIT_BEGIN

/* Listen at an address. ":port" is the wildcard address, for IPv6 and IPv4, or
 * for IPv4 alone if the system has no IPv6. If a host has several addresses,
 * the first one on which the socket can listen is used. A unix socket's path
 * must not exist: remove the one that an earlier process left. flags:
 * SENNIT_LISTEN_SHARED of listen.h, or 0. The backlog is the longest that the
 * system allows. The deadline applies to the lookup of a name. An address in
 * numbers needs none, and the call then succeeds with a deadline of 0, too.
 * Returns the descriptor, which the caller must close, with FD_CLOEXEC and
 * O_NONBLOCK; -EINVAL, -ENAMETOOLONG; or a negative errno of sennit_resolve(),
 * such as -ENOENT for an unknown host, or of sennit_listen(), such as
 * -EADDRINUSE.
 *
 * From: fiber, thread.  Blocks: until a name is found.  */
SENNIT_API SENNIT_MUST_USE int sennit_listen_at(const char *text,
						uint32_t    flags,
						sennit_time deadline);

/* Connect to an address. If a host has several addresses, all are tried, as
 * sennit_connect_host() does. ":port" is this machine. The deadline applies to
 * the lookup and all attempts together.
 * Returns the descriptor, which the caller must close, with FD_CLOEXEC;
 * -EINVAL, -ENAMETOOLONG; or a negative errno of sennit_resolve(), such as
 * -ENOENT for an unknown host, or of the last attempt, such as -ECONNREFUSED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect_to(const char *text,
						 sennit_time deadline);

/* The size in bytes that is enough for the text of any address, including the
 * zero byte at its end. */
#define SENNIT_ADDRESS_TEXT 128

/* Write the text of *address to *text. *address has `size` bytes, and may come
 * from sennit_accept(); *text has room for `room` bytes. Host and port are
 * written as numbers. An IPv4-mapped IPv6 address (::ffff:192.0.2.1) is written
 * as an IPv4 address. A unix socket without a name is written as "unix:".
 * sennit_connect_to() accepts every other text.
 * Returns 0; -ENOSPC if the room is too small; -EAFNOSUPPORT for another
 * family, and -EINVAL if size is too small for the address.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_address_text(
	const struct sockaddr *address, socklen_t size, char *text,
	size_t room);

/* Write the text of a socket's own address, such as that of a listener at port
 * 0, or of its peer's address, to *text, which has `room` bytes.
 * Returns what sennit_address_text() returns, -ENOTSOCK, -EBADF, or -ENOTCONN
 * if the socket has no peer.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_local_address(int fd, char *text,
						    size_t room);
SENNIT_API SENNIT_MUST_USE int sennit_peer_address(int fd, char *text,
						   size_t room);

SENNIT_END

#endif
