/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h - a simulated network that a seed determines: every run with the
 * same seed has the same delays, pieces, resets and orders.
 *
 * In libsennit-io. If libsennit was built with SENNIT_DETERMINISTIC
 * (deterministic.h), the calls of io.h and net.h use a network in memory. No
 * byte reaches the kernel. A program needs no change: it creates its sockets
 * with socket(), bind() and listen(), and sennit_connect() connects to the
 * socket of the same process that listens at the address. The network
 *
 *	- delays data in virtual time, each connection separately,
 *	- cuts data into pieces that arrive one after the other,
 *	- sends and receives fewer bytes than requested,
 *	- lets connections be accepted in another order than they were made,
 *	- resets or refuses connections, and ends or stalls one direction of
 *	  them, as often as sennit_simulation_begin() asks for.
 *
 * It keeps the guarantee of a stream: sent bytes arrive once, complete and in
 * order, unless the connection is reset. If all threads sleep while data is in
 * transit, the clock advances to its arrival. If no data is in transit, that is
 * a deadlock; it is reported with the descriptors that fibers wait for.
 * SENNIT_SIMULATION_TRACE=1 in the environment prints each step of the network.
 *
 * Descriptors of the network are stream sockets (IPv4, IPv6, unix) that are not
 * connected in the kernel. So socket options can be set, but the kernel's own
 * calls do not send on them, getpeername() fails, and a copy made by dup() is a
 * separate socket. Use sennit_simulation_pair() instead of socketpair(). Files
 * are accessed in place. Calls on all other descriptors return -EOPNOTSUPP,
 * because it cannot be known when the kernel completes them. So do sendmsg with
 * control data, MSG_OOB, MSG_ERRQUEUE, and splice. If a socket is closed by
 * close(), its peer sees the end late: use sennit_close().
 *
 * In an ordinary library the calls below return that they are not supported.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_SIMULATION_H
#define SENNIT_SIMULATION_H

#include "sennit/base.h"

SENNIT_BEGIN

/* What the network does. A field that is zero has its default value.
 * Probabilities are given per million: 0, the default, is never. */
typedef struct sennit_simulation_config {
	size_t   size;         /* sizeof(sennit_simulation_config) */
	uint64_t delay_min_ns; /* the shortest delay, in ns; 0: none */
	uint64_t delay_max_ns; /* the longest, in ns; 0: 100 microseconds */
	uint32_t buffer;       /* capacity of one direction of a connection, in
				* bytes, in transit or not yet received; 0:
				* 4096 */
	uint32_t whole;        /* not 0: data is not cut, and each call
				* transfers as much as there is room for */
	uint32_t resets;       /* of a million sends, how many are followed by a
				* reset of the connection */
	uint32_t refusals;     /* of a million connects, how many are refused */
	uint32_t ends;         /* of a million sends, how many are the last of
				* their direction: the peer receives the data,
				* then the end; the sender's next send returns
				* -EPIPE */
	uint32_t stalls;       /* of a million sends, how many arrive an hour
				* late, with everything that is sent after
				* them */
} sennit_simulation_config;

#define SENNIT_SIMULATION_CONFIG(...)                              \
	SENNIT_CONSTANT_(sennit_simulation_config,                 \
			 .size = sizeof(sennit_simulation_config), \
			 __VA_ARGS__)

/* Begin a new network with *config (NULL: all defaults), and discard the
 * connections of the previous one. Without this call the network has all
 * defaults. In a scenario of sennit_explore(), call it first. Returns 0,
 * -EINVAL (delay_max_ns is less than delay_min_ns, or the size is less than
 * that of the first version), -E2BIG if a newer caller set bytes that this
 * library does not know, -EBUSY while a call waits on the network, or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_begin(
	const sennit_simulation_config *config);

/* Create two sockets that are connected to each other, as socketpair() does.
 * The caller closes both. Returns 0, -ENOMEM, -EMFILE, -ENFILE or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_pair(int fds[2]);

/* Reset the connection of fd. Both ends get -ECONNRESET after a delay; data
 * that is still in transit then is lost. Returns 0, -ENOTCONN, -EBADF,
 * -EOPNOTSUPP or -ENOSYS.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_simulation_reset(int fd);

/* Return a hash of everything that the network has done since it began, and of
 * the times. Two runs of a program with the same seed have the same hash.
 * Returns 0 in an ordinary library.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint64_t sennit_simulation_digest(void);

SENNIT_END

#endif
