/* SPDX-License-Identifier: Apache-2.0 */
#include "io/known_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>

a_u32 sn_io_known_uses[KNOWN_SOCKETS];

/* Others have their own ideas of what a short receive means. */
static bool is_tcp(int fd)
{
	int       protocol = 0;
	socklen_t size = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) &&
	       protocol == IPPROTO_TCP;
}

/* NULL: sockets with such numbers are not known. */
static a_u32 *use_of(int fd)
{
	return (uint32_t)fd < KNOWN_SOCKETS ? &sn_io_known_uses[fd] : NULL;
}

bool sn_io_known_begin(int fd)
{
	a_u32   *use = use_of(fd);
	uint32_t was, ended;

	if (!use)
		return false;
	was = a_load_rlx(use);
	ended = was + was % 2;
	a_store_rlx(use, is_tcp(fd) ? ended + 1 : ended);
	return was % 2;
}

void sn_io_known_end(int fd)
{
	a_u32 *use = use_of(fd);

	if (use && a_load_rlx(use) % 2)
		a_store_rlx(use, a_load_rlx(use) + 1);
}
