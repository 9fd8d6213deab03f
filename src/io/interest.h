/* SPDX-License-Identifier: Apache-2.0 */
/* interest.h - what a worker's epoll descriptor is told to report: its interest
 * list.
 *
 *	known sockets  watched for good, edge-triggered: see watches.h
 *	others         armed for one event at a time (EPOLLONESHOT), for all
 *	               that their waiters want together
 *
 * The data of an event is the descriptor's number, and above it the use of the
 * known socket, or 0.
 */
#ifndef SN_IO_INTEREST_H
#define SN_IO_INTEREST_H

#include "io/ready_waits.h"
#include "io/watches.h"

struct interest {
	int                 epoll;
	struct ready_waits *waits;
	struct watches     *watches;
	sennit_time         now; /* of the last look at the kernel */
};

/* Arm fd for all that its waiters want, unless it is watched; 0 or a negative
 * errno. */
int sn_interest_arm(struct interest *e, int fd);

/* The wait n, which is among the others, begins; tried: see backend.h. 0 or a
 * negative errno. */
int sn_interest_begin(struct interest *e, struct ready_wait *n, bool tried);

/* Check the watches of waits that began at `latest` or earlier, up to one where
 * that fails. Returns its descriptor; -1: there is none. */
int sn_interest_check(struct interest *e, sennit_time latest);

#endif
