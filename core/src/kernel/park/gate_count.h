/* SPDX-License-Identifier: Apache-2.0 */
/* gate_count.h - decides when a scheduler may end, by counting: the references
 * to it, and its tasks from before they can be found until they have ended. For
 * builds with SENNIT_END=count: gate.h includes it then, and nothing else.
 *
 *	word   { references : 32 | tasks : 32 }
 *
 * A fiber that waits is a task that has not ended. So zero means that nobody
 * can use the scheduler and that nothing is left to do. Nobody has to look for
 * work, and nothing is undone. Whether workers are idle plays no part.
 *
 * Invariants
 *   - Zero is final. A caller that counts something up has counted
 *     something before that is not over, or takes a reference with
 *     sn_gate_retain(), which fails at zero.
 *   - The thread that makes the word zero, and only that one, ends the
 *     scheduler.
 *   - A caller that did not make it zero must not touch the gate or the
 *     scheduler again through what it has counted down.
 *
 * Checked by core/test/model/end_count.pml.
 */
#ifndef SN_GATE_COUNT_H
#define SN_GATE_COUNT_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/torture.h"

struct gate {
	a_u64 word; /* any */
};

#define GATE_TASK      UINT64_C(1)
#define GATE_REFERENCE (UINT64_C(1) << 32)
#define GATE_TASKS     (GATE_REFERENCE - GATE_TASK) /* mask */

/* Count down. Returns true if nothing is left. */
static inline bool sn_gate_step_down(struct gate *g, uint64_t units)
{
	TORTURE_POINT(); /* over, but still counted */
	/* -> gate.zero: all this caller did <- gate.zero: all that the others
	 * did */
	return a_sub_acqrel(&g->word, units) == units;
}

/* An open gate with this number of references and no task. */
void sn_gate_init(struct gate *g, uint32_t references, uint32_t active);

/* A worker goes idle, or ceases to be idle. Not counted. sn_gate_enter returns
 * false if the end is reached; it may be reached right after that, too. */
static inline bool sn_gate_leave(struct gate *g)
{
	(void)g;
	return false;
}
bool sn_gate_enter(struct gate *g);

/* One reference more. Returns false if the end is reached; no reference was
 * then taken. */
bool sn_gate_retain(struct gate *g);

/* One reference less. Returns true if the caller ends the scheduler. */
bool sn_gate_release(struct gate *g);

/* Count n tasks. The caller has a reference, or is one of the tasks. */
static inline void sn_gate_add_tasks(struct gate *g, uint32_t n)
{
	/* Relaxed: what the caller has counted keeps the word above zero, and
	 * queueing the task publishes it. */
	uint64_t old = a_add_rlx(&g->word, n * GATE_TASK);

	CHECK((old & GATE_TASKS) <= GATE_TASKS - n,
	      "too many tasks of a scheduler at a time");
	TORTURE_POINT(); /* counted, but in no queue yet */
}

/* Undo sn_gate_add_tasks for tasks that could not be queued. */
void sn_gate_drop_tasks(struct gate *g, uint32_t n);

/* A task has ended. Returns true if the caller ends the scheduler. */
static inline bool sn_gate_end_task(struct gate *g)
{
	ASSERT(a_load_rlx(&g->word) & GATE_TASKS);
	return sn_gate_step_down(g, GATE_TASK);
}

/* End a scheduler that never began. Its creator has the only reference. */
void sn_gate_abandon(struct gate *g);

bool     sn_gate_is_done(struct gate *g);
uint32_t sn_gate_references(struct gate *g);

/* Whether the end is reached although workers are active: they search, or
 * finish what they did after their last task. */
static inline bool sn_gate_ends_beside_workers(struct gate *g)
{
	return sn_gate_is_done(g);
}

#endif
