/* SPDX-License-Identifier: Apache-2.0 */
/* ring_wait.h - a request of a worker's ring, by its descriptor: a lone one in
 * the frame of the fiber that waits for its completion, or the receiving one of
 * a stream. */
#ifndef SN_IO_RING_WAIT_H
#define SN_IO_RING_WAIT_H

#include "sennit/poller.h"

struct ring_wait {
	sennit_poller_op   op; /* first; a lone one's */
	struct ring_wait  *next;
	struct ring_wait **pprev;
	uint64_t           data; /* what its completions carry */
	int                fd;
	int                end; /* what it ends with if it is cancelled; 0:
				 * nobody has ended it */
	bool               withdrawn; /* the kernel has not seen it */
	uint64_t           closings;  /* when it began: for closing.h */
};

#endif
