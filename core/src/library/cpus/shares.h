/* SPDX-License-Identifier: Apache-2.0 */
/* shares.h - which claims hold the slots of a CPU budget, and which one gets
 * the next slot: weighted fair queueing.
 *
 *	claim   NONE --take--> HELD                  a slot is free
 *	          ^ \--take--> WAITING --> GRANTED --begin--> HELD
 *	          |               |          when another gives its own
 *	          +-----drop------+          HELD, GRANTED --give--> NONE
 *	                                     HELD --yield--> WAITING
 *
 * A sharer is a scheduler. It has a minimum, a maximum and a weight, and one
 * claim per worker. Its virtual time is the time for which it held slots,
 * divided by its weight. The time between the grant of a slot and the moment
 * when the claim's thread runs does not count: nothing is done in it, and it
 * can be longer than a slice. A free slot goes to a sharer that holds fewer
 * slots than its minimum. Otherwise it goes to the sharer with the lowest
 * virtual time among those below their maximum. Within a sharer, it goes to the
 * claim that has waited longest. A holder asks from time to time whether it
 * must yield.
 *
 * Invariants
 *   - The number of held slots never exceeds the number of slots, and a
 *     sharer never holds more than its maximum, except after a change of
 *     these: then slots are in excess until their holders give or yield them.
 *   - A slot is free only if every waiting claim belongs to a sharer at
 *     its maximum.
 *   - The sum of all minimums does not exceed the number of slots. So if
 *     a sharer below its minimum waits, another one holds more than its
 *     minimum.
 *   - When slots are handed out, two contending sharers are at most
 *     SHARES_LAG apart in virtual time. A sharer that held many slots
 *     while no other sharer wanted them does not pay for that; a sharer
 *     that held none has saved nothing.
 *
 * This module has neither clock nor lock: the caller provides the time and the
 * lock.
 */
#ifndef SN_SHARES_H
#define SN_SHARES_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/base.h"
#include "sennit/resources.h"

#define SHARES_LAG (100 * SENNIT_MILLISECOND)

struct shares {
	a_u32        slots;     /* also read without the lock, as a hint */
	uint32_t     held;      /* at most `slots` */
	uint32_t     held_most; /* maximum of `held` so far */
	uint32_t     promised;  /* sum of the minimums */
	uint32_t     count;     /* number of sharers */
	uint64_t     moves;     /* slots that were yielded to another claim */
	struct link *sharers;
	uint32_t     waiting; /* number of waiting claims */
	uint32_t excessive; /* number of sharers with more than their maximum */
	a_u32    wanted;    /* not 0: claims wait, or slots are in excess; also
			     * read without the lock, as a hint */
	a_u32 urgent; /* number of sharers with waiting claims and fewer slots
		        * than their minimum; also read without the lock, as a
		        * hint */
};

struct sharer {
	uint32_t min, max, weight;
	uint32_t held, waiting; /* claims */
	uint32_t running;       /* of those held: they have begun */
	a_u32    lends;   /* 1: holds more than its minimum; read without the
			   * lock, as a hint */
	bool     urgent;  /* counted in shares.urgent */
	bool     excess;  /* counted in shares.excessive */
	uint64_t virtual; /* running time / weight in ns, up to `counted` */
	sennit_time  counted;
	struct link  link;
	struct link *queue; /* waiting claims, the longest first */
};

enum claim_state { CLAIM_NONE, CLAIM_WAITING, CLAIM_GRANTED, CLAIM_HELD };

struct claim {
	struct sharer   *sharer; /* fixed; NULL: needs no slot */
	enum claim_state state;
	struct link      link; /* while it waits */

	/* The fields of the worker: see cpus/slots.h. */
	bool        has;    /* owner */
	sennit_time slice;  /* owner: the worker may be asked to yield from this
			    * time on */
	a_u32       answer; /* any: slept on */
};

void sn_shares_init(struct shares *s, uint32_t slots);

/* Add a sharer with its minimum, maximum and weight. Returns false if the sum
 * of the minimums would exceed the number of slots. */
SENNIT_MUST_USE bool sn_shares_join(struct shares *s, struct sharer *p);

/* Change the number of slots, or what p may have. Returns false, and changes
 * nothing, if the sum of the minimums would exceed the number of slots. The
 * caller then calls sn_shares_grant. */
SENNIT_MUST_USE bool sn_shares_resize(struct shares *s, uint32_t slots);
SENNIT_MUST_USE bool sn_shares_change(struct shares *s, struct sharer *p,
				      uint32_t min, uint32_t max,
				      uint32_t weight, sennit_time now);

/* Grant a free slot to a waiting claim. Returns that claim. NULL: no slot is
 * free, or no claim may have it. */
SENNIT_MUST_USE struct claim *sn_shares_grant(struct shares *s,
					      sennit_time    now);

/* Remove a sharer. It must have no claims. */
void sn_shares_leave(struct shares *s, struct sharer *p);

/* Take a slot, or wait for one. Returns whether it has one. */
SENNIT_MUST_USE bool sn_shares_take(struct shares *s, struct claim *c,
				    sennit_time now);

/* The thread of c, which was granted a slot, runs: its time counts. */
void sn_shares_begin(struct shares *s, struct claim *c, sennit_time now);

/* Give a slot back. Returns the waiting claim that gets it, or NULL if none
 * does. */
SENNIT_MUST_USE struct claim *sn_shares_give(struct shares *s, struct claim *c,
					     sennit_time now);

/* Give the slot to a claim that should have it instead, and wait for another
 * slot. Before the end of the slice (`over` is false) only sharers below their
 * minimum should. A slot in excess is not handed on. Returns whether c
 * has no slot any more; *next is then the claim that has it, or NULL. */
SENNIT_MUST_USE bool sn_shares_yield(struct shares *s, struct claim *c,
				     bool over, sennit_time now,
				     struct claim **next);

/* End the wait of one waiting claim of p, and return it. NULL: none waits. */
SENNIT_MUST_USE struct claim *sn_shares_drop(struct shares *s,
					     struct sharer *p);

/* A scheduler's part in a CPU budget: see slots.h. */
struct slots_state {
	sennit_resources *resources; /* fixed; NULL: none */
	struct sharer     sharer;    /* under resources->lock */
	bool closed; /* under resources->lock: the scheduler has ended, nobody
		      * waits for a slot */
};

#endif
