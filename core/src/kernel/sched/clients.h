/* SPDX-License-Identifier: Apache-2.0 */
/* clients.h - the modules that take part in a worker's upkeep and sleeps.
 *
 *	             upkeep     announce   sleep   until    awake
 *	observers    learn      learn      learn            learn
 *	poller       flushes                       due
 *	slots        (yield)               given            (taken)
 *	stacks       shared     shared
 *	trim         a little                      all
 *
 * A worker has two sleeps, in idle.c: both pass all of these, in this order.
 * The two in brackets are elsewhere. A slot is yielded before an upkeep begins,
 * and in idle.c by a worker that searches or finds work at its last look before
 * a sleep. A worker that left the gate for its sleep takes a slot before it
 * enters again.
 */
#ifndef SN_CLIENTS_H
#define SN_CLIENTS_H

#include "base/torture.h"
#include "cpus/slots.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sched/poller.h"
#include "sched/worker_stacks.h"
#include "trim/trim.h"

/* w is busy, at `now`. Before its deadlines fire: data beats them. */
static inline void sn_clients_upkeep(struct worker *w, sennit_time now)
{
	sn_hook_update(w);
	sn_poller_flush(w);
	sn_upkeep_note_peak(w);
	if (unlikely(sn_trim_is_due(w, now)))
		sn_trim_attend(w, now);
	sn_worker_stacks_share(w);
}

/* w is about to announce a sleep. */
static inline void sn_clients_announce(struct worker *w)
{
	sn_worker_stacks_share(w);
	sn_hook_announce(w);
}

/* w has announced it, and has found no work since. It is out of the gate, if it
 * leaves it for this sleep. */
static inline void sn_clients_sleep(struct worker *w)
{
	sn_slots_give(w);
	TORTURE_POINT(); /* without a slot, not asleep yet */
	sn_hook_park(w);
}

/* It would sleep until `wake`. Returns the time at which a hook of its poller
 * must be asked, if that is earlier. */
static inline sennit_time sn_clients_until(const struct worker *w,
					   sennit_time          wake)
{
	return sn_poller_asleep(w, wake);
}

/* It is about to sleep until `wake`, perhaps for long, and has announced that
 * on *as. Returns the time at which there will be something to trim, if that is
 * earlier. */
static inline sennit_time sn_clients_until_long(struct worker  *w,
						struct sleeper *as,
						sennit_time     wake)
{
	return sn_trim_asleep(w, as, wake);
}

/* w is awake. */
static inline void sn_clients_awake(struct worker *w)
{
	sn_hook_unpark(w);
}

#endif
