/* SPDX-License-Identifier: Apache-2.0 */
/* fiber_parking.h - where a worker sleeps that waits only for its own fibers.
 * Wakers that look for help do not count it, and only a wake of this worker
 * ends its sleep.
 */
#ifndef SN_FIBER_PARKING_H
#define SN_FIBER_PARKING_H

#include "core/parking.h"

struct fiber_parking {
	struct parking  parking; /* with this worker alone */
	struct sleeper  sleeper; /* any */
	struct sleeper *only[1]; /* fixed: the sleeper, as parking's array */
};

static inline void sn_fiber_parking_init(struct fiber_parking *p)
{
	p->only[0] = &p->sleeper;
	sn_parking_init(&p->parking, p->only, 1);
	sn_sleeper_init(&p->sleeper, &p->parking, 0);
}

static inline struct sleeper *sn_fiber_parking_sleeper(struct fiber_parking *p)
{
	return &p->sleeper;
}

/* The owner is about to sleep, and will look once more. */
static inline void sn_fiber_parking_announce(struct fiber_parking *p)
{
	sn_parking_announce(&p->sleeper, false);
}

/* The owner is awake again. */
static inline void sn_fiber_parking_withdraw(struct fiber_parking *p)
{
	sn_parking_withdraw(&p->sleeper);
	sn_parking_found(&p->parking);
}

/* Whether the owner may be asleep here. The owner counts itself before it
 * announces. So false after the caller's fence means that the owner will look
 * at its mailbox afterwards. */
static inline bool sn_fiber_parking_is_used(struct fiber_parking *p)
{
	return a_load_rlx(&p->parking.counts);
}

/* Whether the owner sleeps here. May be stale. */
static inline bool sn_fiber_parking_is_asleep(const struct fiber_parking *p)
{
	return sn_parking_is_asleep(&p->sleeper);
}

static inline void sn_fiber_parking_wake(struct fiber_parking *p)
{
	sn_parking_wake(&p->sleeper);
}

/* By the owner, which is awake: it sleeps in this poller from now on. */
static inline void sn_fiber_parking_set_poller(struct fiber_parking *p,
					       sennit_poller        *poller)
{
	p->sleeper.poller = poller;
}

#endif
