/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - decides when a scheduler may end, without counting its tasks:
 * termination detection with low synchronisation.
 *
 *	word   { references : 32 | active workers : 29 | DIRTY DONE SUSPENDED }
 *
 * Only these events synchronise: a worker goes idle or wakes, a reference is
 * taken or released. Tasks do not touch the gate. The scheme is that of US
 * 8276147, with the reference count and a flag 'look again' (DIRTY) in the same
 * word, so that every transition is one compare-and-swap.
 *
 * Invariants
 *   - The thread that makes both counts zero sets SUSPENDED in the same
 *     step. That thread alone is the sweeper until it settles.
 *   - While SUSPENDED is set no worker becomes active. A worker that
 *     tries sets DIRTY and sleeps.
 *   - DONE is final. Only the sweeper sets it, while both counts are zero
 *     and nobody has set DIRTY since its last look.
 *   - A caller of leave or release that did not become the sweeper must
 *     not touch the gate or the scheduler again through that reference.
 */
#ifndef SN_GATE_H
#define SN_GATE_H

#ifdef SENNIT_END_COUNT
#include "park/gate_count.h"
#else

#include "base/atomic.h"

struct gate {
	a_u64 word;  /* any */
	a_u32 epoch; /* any: counts the ends of suspensions; slept on */
};

enum gate_verdict {
	GATE_AGAIN,       /* a worker or thread set DIRTY: sweep again */
	GATE_ROLLED_BACK, /* the scheduler goes on */
	GATE_COMPLETED    /* the caller ends the scheduler */
};

/* An open gate with the given counts. */
void sn_gate_init(struct gate *g, uint32_t references, uint32_t active);

/* One active worker less. Returns true if the caller becomes the sweeper. */
bool sn_gate_leave(struct gate *g);

/* One active worker more. Sleeps while a sweep runs. Returns false if DONE. */
bool sn_gate_enter(struct gate *g);

/* One reference more. Returns false if DONE; no reference was then taken. */
bool sn_gate_retain(struct gate *g);

/* One reference less. Returns true if the caller becomes the sweeper. */
bool sn_gate_release(struct gate *g);

/* End the sweep with a verdict. Only the sweeper calls this, after it has
 * looked at all workers. */
enum gate_verdict sn_gate_settle(struct gate *g, bool found_work);

/* End a scheduler that never began: set DONE without a sweep. */
void sn_gate_abandon(struct gate *g);

/* The number of active workers; a hint. */
uint32_t sn_gate_active(struct gate *g);

bool     sn_gate_is_done(struct gate *g);
uint32_t sn_gate_references(struct gate *g);

/* Whether the end is reached although workers are active. Never here. */
static inline bool sn_gate_ends_beside_workers(struct gate *g)
{
	(void)g;
	return false;
}

#endif

#endif
