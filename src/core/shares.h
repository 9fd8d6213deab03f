/* SPDX-License-Identifier: Apache-2.0 */
/* shares.h - who holds the slots of a budget, and who gets the next one.
 *
 *	claim   NONE --take--> HELD             a slot is free
 *	          ^ \--take--> WAITING --> HELD  when another gives its own
 *	          |               |         |
 *	          +-----drop------+  give --+-- yield --> WAITING
 *
 * A sharer (a scheduler) has a minimum, a maximum and a weight; its claims are
 * those of its workers. The time for which a sharer holds slots, divided by its
 * weight, is its virtual time. A free slot goes to the sharer that holds fewer
 * than its minimum, else to the one with the lowest virtual time of those below
 * their maximum; within a sharer, to the claim that has waited longest. Whoever
 * holds a slot asks from time to time whether it has to yield.
 *
 * Invariants
 *   - Never more slots are held than there are, nor by a sharer more than its
 *     maximum.
 *   - A slot is free only if every claim that waits belongs to a sharer at its
 *     maximum.
 *   - The minimums of all sharers together do not exceed the slots. So if one
 *     that is entitled waits, another sharer holds more than its minimum.
 *   - Two sharers that contend are at most SHARES_LAG apart in virtual time
 *     when slots are handed out: who held many while nobody wanted them does
 *     not pay for that, who held none has not saved.
 *
 * No clock and no lock in here: the caller has both.
 */
#ifndef SN_SHARES_H
#define SN_SHARES_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/base.h"

#define SHARES_LAG (100 * SENNIT_MILLISECOND)

struct shares {
	uint32_t     slots;     /* fixed */
	uint32_t     held;      /* at most `slots` */
	uint32_t     held_most; /* the most there ever were */
	uint32_t     promised;  /* sum of the minimums */
	uint32_t     count;     /* sharers */
	uint64_t     moves;     /* slots that were yielded to another claim */
	struct link *sharers;
	a_u32 waiting; /* claims; also read without the lock, as a hint */
	a_u32 urgent;  /* sharers with claims that wait and fewer slots
			       * than their minimum; the same */
};

struct sharer {
	uint32_t min, max, weight; /* fixed */
	uint32_t held, waiting;    /* claims */
	a_u32    lends;   /* holds more than its minimum; read without the
			       * lock, as a hint */
	bool     urgent;  /* counted as such */
	uint64_t virtual; /* ns of held time / weight, as of: */
	sennit_time  counted;
	struct link  link;
	struct link *queue; /* claims that wait, the longest first */
};

enum claim_state { CLAIM_NONE, CLAIM_WAITING, CLAIM_HELD };

struct claim {
	struct sharer   *sharer; /* fixed; NULL: needs no slot */
	enum claim_state state;
	struct link      link; /* while it waits */

	/* The worker's: see worker/slots.h. */
	bool        has;   /* owner */
	sennit_time slice; /* owner: may be asked to yield from then on */
	a_u32       told;  /* any: slept on */
};

void sn_shares_init(struct shares *s, uint32_t slots);

/* One sharer more, with its three numbers. False: the minimums would exceed the
 * slots. */
SENNIT_MUST_USE bool sn_shares_join(struct shares *s, struct sharer *p);

/* One less; it has no claims. */
void sn_shares_leave(struct shares *s, struct sharer *p);

/* Get a slot, or wait for one. Returns whether there was one. */
SENNIT_MUST_USE bool sn_shares_take(struct shares *s, struct claim *c,
				    sennit_time now);

/* Give a slot. Returns the claim that waited and has it now; NULL: none. */
SENNIT_MUST_USE struct claim *sn_shares_give(struct shares *s, struct claim *c,
					     sennit_time now);

/* Give a slot to who should have it rather, and wait for another. Before the
 * end of a slice (`over`) only sharers below their minimum should. Returns that
 * claim; NULL: nobody, and c keeps its slot. */
SENNIT_MUST_USE struct claim *sn_shares_yield(struct shares *s, struct claim *c,
					      bool over, sennit_time now);

/* A claim of p that waits waits no longer. NULL: none does. */
SENNIT_MUST_USE struct claim *sn_shares_drop(struct shares *s,
					     struct sharer *p);

#endif
