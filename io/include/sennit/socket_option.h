/* SPDX-License-Identifier: Apache-2.0 */
/* socket_option.h - the options of sockets that servers and clients set.
 *
 * In libsennit-io. Each option is one of setsockopt(2), by a name that does not
 * need its level and its header. A value is an int. Options that are not here
 * are for setsockopt() itself.
 */
#ifndef SENNIT_SOCKET_OPTION_H
#define SENNIT_SOCKET_OPTION_H

#include "sennit/base.h"

SENNIT_BEGIN

/* An option of a socket. "On" is 1 and "off" is 0. The number of an option
 * never changes. */
typedef enum sennit_socket_option {
	/* TCP: send at once, also if it is a small packet: TCP_NODELAY. On by
	 * default on the sockets that the library makes (net.h). */
	SENNIT_SOCKET_NO_DELAY = 1,
	/* TCP: send full packets only, until this is off again or 200 ms have
	 * passed: TCP_CORK. */
	SENNIT_SOCKET_CORK = 2,
	/* Ask a silent peer whether it is there: SO_KEEPALIVE. By default the
	 * first probe comes after two hours. */
	SENNIT_SOCKET_KEEP_ALIVE = 3,
	/* TCP: seconds of silence before the first probe: TCP_KEEPIDLE. */
	SENNIT_SOCKET_KEEP_ALIVE_IDLE = 4,
	/* TCP: seconds between two probes: TCP_KEEPINTVL. */
	SENNIT_SOCKET_KEEP_ALIVE_INTERVAL = 5,
	/* TCP: probes without an answer that end the connection:
	 * TCP_KEEPCNT. */
	SENNIT_SOCKET_KEEP_ALIVE_COUNT = 6,
	/* TCP: milliseconds for which sent data may stay without
	 * acknowledgement before the connection ends with ETIMEDOUT; 0: the
	 * system's default: TCP_USER_TIMEOUT. */
	SENNIT_SOCKET_USER_TIMEOUT = 7,
	/* TCP, a listener: seconds for which an accept waits for the first
	 * bytes of a connection; 0: it does not wait: TCP_DEFER_ACCEPT. The
	 * system rounds to its times of retransmission. */
	SENNIT_SOCKET_DEFER_ACCEPT = 8,
	/* TCP, a listener: connections that may send data in their first packet
	 * and that have not been accepted; 0: none may: TCP_FASTOPEN. */
	SENNIT_SOCKET_FAST_OPEN = 9,
	/* Bytes of the buffer for sending and for receiving: SO_SNDBUF,
	 * SO_RCVBUF. Linux doubles what is set, for its own needs, so the value
	 * read back is larger. */
	SENNIT_SOCKET_SEND_BUFFER = 10,
	SENNIT_SOCKET_RECEIVE_BUFFER = 11,
	/* What close() does with data that is not yet sent: seconds for which
	 * it waits; 0: it resets the connection; -1, the default: it returns at
	 * once, and the system sends the data: SO_LINGER. */
	SENNIT_SOCKET_LINGER = 12,
	/* Bind to an address at which connections of an earlier socket are in
	 * TIME_WAIT: SO_REUSEADDR. On by default on listeners of the
	 * library. */
	SENNIT_SOCKET_REUSE_ADDRESS = 13,
	/* Several sockets may bind to the same address, and the system
	 * distributes what arrives: SO_REUSEPORT. */
	SENNIT_SOCKET_REUSE_PORT = 14,
	/* UDP: send to broadcast addresses: SO_BROADCAST. */
	SENNIT_SOCKET_BROADCAST = 15,
	/* IPv6: only IPv6, not IPv4 by mapped addresses: IPV6_V6ONLY. Set it
	 * before the socket is bound. */
	SENNIT_SOCKET_V6_ONLY = 16
} sennit_socket_option;

/* Set an option of the socket. Returns 0; -EINVAL for an unknown option; or the
 * error of setsockopt() as a negative errno: -EBADF, -ENOTSOCK, -ENOPROTOOPT or
 * -EOPNOTSUPP for an option that this kind of socket does not have, -EINVAL for
 * a value out of range.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_socket_set(int                  fd,
						 sennit_socket_option option,
						 int                  value);

/* Read an option of the socket and store it in *value. Returns 0; -EINVAL for
 * an unknown option; or the error of getsockopt() as a negative errno. On error
 * *value is unchanged.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_socket_get(int                  fd,
						 sennit_socket_option option,
						 int                 *value);

SENNIT_END

#endif
