/* SPDX-License-Identifier: Apache-2.0 */
/* known_sockets.h - the TCP sockets that this library has accepted or
 * connected, by their numbers.
 *
 *	number --> its use, odd while the socket is known; each accept, connect
 *	           and sennit_close() changes it
 *
 * A program may close() a known socket, and get the number again for something
 * else, without the library's knowledge. So a use is a hint: who relies on it
 * checks it with the kernel after some time (watches.h).
 */
#ifndef SN_IO_KNOWN_SOCKETS_H
#define SN_IO_KNOWN_SOCKETS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* Sockets with higher numbers are not known. */
#ifdef SENNIT_TORTURE
#define KNOWN_SOCKETS 64u
#else
#define KNOWN_SOCKETS 65536u
#endif

extern a_u32 sn_io_known_uses[KNOWN_SOCKETS]; /* any: whose hint it is */

/* The use of fd; 0: it is not known. */
static inline uint32_t sn_io_known_use(int fd)
{
	uint32_t use;

	if ((uint32_t)fd >= KNOWN_SOCKETS)
		return 0;
	use = a_load_rlx(&sn_io_known_uses[fd]);
	return use % 2 ? use : 0;
}

/* fd is a new connection. Whether it was a known one before, of which nobody
 * has told the end. */
bool sn_io_known_begin(int fd);

/* fd is about to be closed. */
void sn_io_known_end(int fd);

#endif
