/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_waits.h - the calls that wait on the simulated network, each in its
 * caller's frame.
 *
 * A fiber's wait belongs to its worker's poller, which completes it. A thread's
 * wait is its own. Whoever changes what a descriptor is waited for touches it:
 * then each waiter's word is set, and who sleeps on it looks again. What
 * changes as time passes needs no touch: who sleeps knows when it is.
 */
#ifndef SN_IO_SIMULATED_WAITS_H
#define SN_IO_SIMULATED_WAITS_H

#include "base/atomic.h"
#include "sennit/poller.h"

#include <poll.h>
#include <stdbool.h>

#ifdef SENNIT_DETERMINISTIC

struct simulated_wait {
	sennit_poller_op       op; /* of a fiber */
	struct simulated_wait *next, **pprev;
	const struct pollfd   *fds;
	size_t                 count;
	sennit_poller         *poller; /* NULL: a thread waits */
	a_u32                 *word;   /* what the waiter sleeps on */
	bool                   linked;
	bool                   several; /* does not notice a plain close() */
	bool                   closed;  /* what it is on: it has ended */
};

/* All of them, the oldest last. Under the network's lock, as is all here. */
struct simulated_wait *sn_simulated_waits(void);

void sn_simulated_wait_link(struct simulated_wait *w);
void sn_simulated_wait_unlink(struct simulated_wait *w);

bool sn_simulated_wait_has(const struct simulated_wait *w, int fd);

/* What fd is waited for has changed. */
void sn_simulated_touch(int fd);

/* fd is about to be closed: its waits end. */
void sn_simulated_end_waits(int fd);

#endif
#endif
