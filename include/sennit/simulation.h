/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h - a network that a seed determines: the same delays, pieces,
 * resets and orders in every run with the same seed.
 *
 * In libsennit-io. If libsennit was built with SENNIT_DETERMINISTIC
 * (deterministic.h), the calls of io.h and net.h go to a network in memory. No
 * byte reaches the kernel. A program needs no change: it makes its sockets with
 * socket(), bind() and listen(), and a connection leads from sennit_connect()
 * to the socket of the same process that listens on that address. The network
 *
 *	- delays what is sent, in virtual time, each connection for itself,
 *	- cuts what is sent into pieces that arrive one after the other,
 *	- sends and receives less than it was asked for,
 *	- lets connections be accepted in another order than they were made,
 *	- resets connections, refuses them, ends and stalls one direction of
 *	  them, as often as sennit_simulation_begin() was told.
 *
 * It keeps the promise of a stream: sent bytes arrive once, complete and in
 * order, unless the connection is reset. If all threads sleep while bytes are
 * on their way, the clock jumps to their arrival. If nothing is on its way,
 * that is a deadlock, and is reported with the descriptors that fibers wait
 * for. SENNIT_SIMULATION_TRACE=1 in the environment prints what the network
 * does.
 *
 * Descriptors of the network are stream sockets (IPv4, IPv6, unix) that are not
 * connected in the kernel. So options can be set, but the kernel's own calls do
 * not send on them, getpeername() fails, and a copy by dup() is a socket of its
 * own. For a socketpair() there is sennit_simulation_pair(). Files are used in
 * place. Calls on all other descriptors return -EOPNOTSUPP, since nobody knows
 * when the kernel completes them; so do sendmsg with control data, MSG_OOB,
 * MSG_ERRQUEUE, and splice. If a socket is closed by close(), its peer sees the
 * end late: use sennit_close().
 *
 * In an ordinary library the calls below return that they are not supported.
 */
#ifndef SENNIT_SIMULATION_H
#define SENNIT_SIMULATION_H

#include "sennit/base.h"

SENNIT_BEGIN

/* What the network does. A field that is zero has its default value. Chances
 * are counted in a million: 0, the default, is never. */
typedef struct sennit_simulation_config {
	size_t      size;      /* sizeof(sennit_simulation_config) */
	sennit_time delay_min; /* the shortest delay, in ns; 0: none */
	sennit_time delay_max; /* the longest, in ns; 0: 100 microseconds */
	uint32_t    buffer;    /* bytes that one direction of a connection
				* holds, on their way or not yet received; 0:
				* 4096 */
	uint32_t    whole;     /* not 0: nothing is cut, each call transfers all
				* that there is room for */
	uint32_t    resets;    /* of a million sends, how many are followed by a
				* reset of the connection */
	uint32_t    refusals;  /* of a million connects, how many are refused */
	uint32_t    ends;      /* of a million sends, how many are the last of
				* their direction: the peer receives them, then
				* the end; the sender's next says -EPIPE */
	uint32_t    stalls;    /* of a million sends, how many arrive an hour
				* late, as does what is sent after them */
} sennit_simulation_config;

#define SENNIT_SIMULATION_CONFIG(...)       \
	(&(const sennit_simulation_config){ \
		.size = sizeof(sennit_simulation_config), __VA_ARGS__ })

/* Begin a new network, with *config (NULL: all defaults), and forget the
 * connections of the one before. Without this call the network has all
 * defaults. Call it first in a scenario of sennit_explore(). Returns 0, -EINVAL
 * (delay_max below delay_min, a size that is not known), -EBUSY while a call
 * waits on the network, or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_begin(
	const sennit_simulation_config *config);

/* Make two sockets that are connected to each other, as socketpair() does; the
 * caller closes them. Returns 0, -ENOMEM, -EMFILE, -ENFILE or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_pair(int fds[2]);

/* Reset the connection of fd: both ends get -ECONNRESET after a delay, and what
 * is still on its way then is lost. Returns 0, -ENOTCONN, -EBADF, -EOPNOTSUPP
 * or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_reset(int fd);

/* Return a hash of all that the network has done since it began, and when. Two
 * runs of a program with the same seed have the same. 0 in an ordinary library.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint64_t sennit_simulation_digest(void);

SENNIT_END

#endif
