/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_connect.h - how connections of the simulated network are made.
 *
 *	connect  finds who listens on the address in this process, and queues
 *	         the other end there; both ends learn of it after delays of
 *	         their own
 *	accept   takes any of the queued ends that have come
 *
 * All under the network's lock, except sn_simulated_pair.
 */
#ifndef SN_IO_SIMULATED_CONNECT_H
#define SN_IO_SIMULATED_CONNECT_H

#include "io/simulated_ends.h"

#ifdef SENNIT_DETERMINISTIC

/* 0, -EAGAIN while it lasts, or another negative errno. */
int sn_simulated_connect(struct simulated_end *e, const struct sockaddr *to,
			 socklen_t size);

/* Whether e is connected by now: 0, -EAGAIN while that is not known,
 * -ECONNREFUSED once, -ENOTCONN. */
int sn_simulated_is_connected(struct simulated_end *e);

/* A new descriptor, -EAGAIN, or another negative errno. */
int sn_simulated_accept(struct simulated_end *e, struct sockaddr *peer,
			socklen_t *size, int flags);

int sn_simulated_pair(int fds[2]);

#endif
#endif
