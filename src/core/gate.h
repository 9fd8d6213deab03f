/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - tells when a scheduler may end, without counting its work.
 *
 *	word   { references : 32 | active workers : 29 | DIRTY DONE SUSPENDED }
 *
 * Synchronises only where workers go idle or wake and where references come
 * and go; a task touches nothing here. The scheme is that of US 8276147 with
 * the reference count and a 'look again' flag in the same word, so that every
 * transition is one compare-and-swap.
 *
 * Invariants
 *   - SUSPENDED is set by whoever makes both counts zero, in the same step:
 *     that caller, and nobody else, is the sweeper until it settles.
 *   - While SUSPENDED nobody becomes active; who tries marks DIRTY and sleeps.
 *   - DONE is final and set only by the sweeper, with both counts zero and
 *     nothing having knocked since its last look.
 *   - A caller of leave or release that did not become sweeper touches neither
 *     the gate nor the scheduler again on that account.
 */
#ifndef SN_GATE_H
#define SN_GATE_H

#include "base/atomic.h"

struct gate {
	a_u64 word;  /* any */
	a_u32 epoch; /* any: counts the ends of suspensions; slept on */
};

enum gate_verdict {
	GATE_AGAIN,       /* somebody knocked: sweep again */
	GATE_ROLLED_BACK, /* life goes on */
	GATE_COMPLETED    /* the caller ends the scheduler */
};

/* Open, with the given counts. */
void sn_gate_init(struct gate *g, uint32_t references, uint32_t active);

/* One active worker less. True: the caller is the sweeper. */
bool sn_gate_leave(struct gate *g);

/* One active worker more; sleeps while a sweeper looks. False: DONE. */
bool sn_gate_enter(struct gate *g);

/* One reference more. False: DONE, no reference was taken. */
bool sn_gate_retain(struct gate *g);

/* One reference less. True: the caller is the sweeper. */
bool sn_gate_release(struct gate *g);

/* The sweeper's verdict after looking at everything. */
enum gate_verdict sn_gate_settle(struct gate *g, bool found_work);

/* End a scheduler that never began: DONE without a sweep. */
void sn_gate_abandon(struct gate *g);

/* How many workers are active; a hint. */
uint32_t sn_gate_active(struct gate *g);

bool     sn_gate_is_done(struct gate *g);
uint32_t sn_gate_references(struct gate *g);

#endif
