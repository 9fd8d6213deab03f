/* SPDX-License-Identifier: Apache-2.0 */
/* poller_state.h - what a worker polls: fibers that wait on its poller, and its
 * hooks. See poller.h. */
#ifndef SN_POLLER_STATE_H
#define SN_POLLER_STATE_H

#include "base/compiler.h"
#include "sennit/poller.h"

struct poller_state {
	uint32_t            waiting; /* owner: fibers that wait on the poller */
	uint32_t            ready;   /* owner: of those, the complete ones
				     * that have not run since */
	uint32_t            active;  /* owner: hooks that must be asked */
	uint32_t            allowed; /* owner: dispatches that one period may
				     * have, by the last one; 0: none was */
	uint32_t            counted; /* owner: dispatches of this period */
	uint32_t            later;   /* owner: those that it may have beside; 0:
				     * it is measured already */
	sennit_time         since;   /* owner: when it began */
	sennit_poller_hook *hooks;   /* owner: all of them */
	sennit_poller_hook *asking;  /* owner: the one whose `ask` runs */
};

/* Whether there is anything to poll: one test for the worker without. */
static inline bool sn_poller_state_is_busy(const struct poller_state *p)
{
	return p->waiting | p->active;
}

/* Ask all hooks that have something to wait for. */
NOINLINE void sn_poller_state_ask(struct poller_state *p);

/* The earliest time at which a hook must be asked again. */
NOINLINE sennit_time sn_poller_state_due(const struct poller_state *p);

/* The worker is gone, and its hooks with it. */
void sn_poller_state_free(struct poller_state *p);

#endif
