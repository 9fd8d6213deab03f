/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - the one place where anything blocks: fibers, bound threads' own
 * stacks and unbound threads alike.
 *
 * A waiter fills in a record on its stack, links it to what it waits for under
 * that object's lock, unlocks, and sleeps. A signaller takes the record off
 * under the lock, claims it, unlocks, and wakes it; after the unlock it touches
 * only what it has claimed, and nothing of that once it has woken it.
 *
 *	waiter        lock, test, link, unlock, sleep ............. return
 *	signaller                         lock, unlink, claim, unlock, wake
 *	timer (home worker)                        claim, make ready
 *	timed-out waiter                           lock, unlink if linked, unlock
 *
 * Fibers are pinned, so a wake that comes before the fiber has finished leaving
 * its stack lies in its worker's inbox until it has. (This, and a timer that
 * only the home worker fires, would be wrong with fibers that migrate.)
 *
 * Checked by test/model/wait.pml.
 */
#ifndef SN_WAIT_H
#define SN_WAIT_H

#include "sched/queue.h"

/* Fill in *n for the caller, who will wait until the deadline. */
void sn_waiter_init(struct waiter *n, sennit_time deadline);

/* Sleep until woken or the deadline. Returns 0 or -ETIMEDOUT; in the latter
 * case n may still be linked to its object: sn_wait_in unlinks it. */
int sn_wait(struct waiter *n, sennit_time deadline);

/* Sleep as sn_wait does, linked to the queue of *word and *list; afterwards n is
 * linked to nothing. */
int sn_wait_in(sennit_word *word, void **list, struct waiter *n,
	       sennit_time deadline);

/* Take the first waiter that still waits off the queue and claim it; NULL when
 * there is none. *bits are to be cleared in the word on unlock. Lock held. */
struct waiter *sn_wait_take_one(void **list, uint32_t *bits);

/* Take all off and claim them; returns their chain for sn_wait_wake_all, NULL
 * for none. The list is empty afterwards. word: its value. Lock held. */
struct link *sn_wait_take_all(void **list, uint32_t word);

/* Make a claimed waiter run. Not under its object's lock. */
void sn_wait_wake(struct waiter *n);
void sn_wait_wake_all(struct link *chain);

/* Claim n for a wake; false: its deadline was first. */
static inline bool sn_waiter_claim(struct waiter *n)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim: what it is woken for <- wait.claim */
	return a_cas_acqrel(&n->claim, &waiting, WAITER_SIGNALLED);
}

/* Who the caller is, as owner of a lock: its fiber, or its thread. Never the
 * same for two that exist at once. */
void *sn_wait_identity(void);

/* Where an unbound thread sleeps. */
extern _Thread_local struct parker sn_parker
	__attribute__((tls_model("initial-exec")));

#endif
