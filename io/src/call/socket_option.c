/* SPDX-License-Identifier: Apache-2.0 */
/* socket_option.c - the calls of sennit/socket_option.h. */
#include "sennit/socket_option.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

static const struct socket_option {
	int level, name;
} socket_options[] = {
	[SENNIT_SOCKET_NO_DELAY] = { IPPROTO_TCP, TCP_NODELAY },
	[SENNIT_SOCKET_CORK] = { IPPROTO_TCP, TCP_CORK },
	[SENNIT_SOCKET_KEEP_ALIVE] = { SOL_SOCKET, SO_KEEPALIVE },
	[SENNIT_SOCKET_KEEP_ALIVE_IDLE] = { IPPROTO_TCP, TCP_KEEPIDLE },
	[SENNIT_SOCKET_KEEP_ALIVE_INTERVAL] = { IPPROTO_TCP, TCP_KEEPINTVL },
	[SENNIT_SOCKET_KEEP_ALIVE_COUNT] = { IPPROTO_TCP, TCP_KEEPCNT },
	[SENNIT_SOCKET_USER_TIMEOUT] = { IPPROTO_TCP, TCP_USER_TIMEOUT },
	[SENNIT_SOCKET_DEFER_ACCEPT] = { IPPROTO_TCP, TCP_DEFER_ACCEPT },
	[SENNIT_SOCKET_FAST_OPEN] = { IPPROTO_TCP, TCP_FASTOPEN },
	[SENNIT_SOCKET_SEND_BUFFER] = { SOL_SOCKET, SO_SNDBUF },
	[SENNIT_SOCKET_RECEIVE_BUFFER] = { SOL_SOCKET, SO_RCVBUF },
	[SENNIT_SOCKET_LINGER] = { SOL_SOCKET, SO_LINGER },
	[SENNIT_SOCKET_REUSE_ADDRESS] = { SOL_SOCKET, SO_REUSEADDR },
	[SENNIT_SOCKET_REUSE_PORT] = { SOL_SOCKET, SO_REUSEPORT },
	[SENNIT_SOCKET_BROADCAST] = { SOL_SOCKET, SO_BROADCAST },
	[SENNIT_SOCKET_V6_ONLY] = { IPPROTO_IPV6, IPV6_V6ONLY },
};

/* NULL: there is no such option. */
static const struct socket_option *option_of(sennit_socket_option option)
{
	const size_t at = (size_t)option;

	return at > 0 && at < sizeof(socket_options) / sizeof(socket_options[0])
		       ? &socket_options[at]
		       : NULL;
}

int sennit_socket_set(int fd, sennit_socket_option option, int value)
{
	const struct socket_option *o = option_of(option);
	const bool                  is_linger = option == SENNIT_SOCKET_LINGER;
	const bool                  lingers = value >= 0;
	const struct linger         linger = { lingers, lingers ? value : 0 };

	if (!o || (is_linger && value < -1))
		return -EINVAL;
	return setsockopt(fd, o->level, o->name,
			  is_linger ? (const void *)&linger : &value,
			  is_linger ? sizeof(linger) : sizeof(value))
		       ? -errno
		       : 0;
}

int sennit_socket_get(int fd, sennit_socket_option option, int *value)
{
	const struct socket_option *o = option_of(option);
	struct linger               linger;
	int                         number;
	const bool                  is_linger = option == SENNIT_SOCKET_LINGER;
	socklen_t size = is_linger ? sizeof(linger) : sizeof(number);

	if (!o)
		return -EINVAL;
	if (getsockopt(fd, o->level, o->name,
		       is_linger ? (void *)&linger : &number, &size))
		return -errno;
	if (is_linger)
		number = linger.l_onoff ? linger.l_linger : -1;
	*value = number;
	return 0;
}
