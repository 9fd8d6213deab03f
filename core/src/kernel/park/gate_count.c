/* SPDX-License-Identifier: Apache-2.0 */
#include "park/gate.h"

#ifdef SENNIT_END_COUNT

#define REFERENCE_MASK (~GATE_TASKS)

void sn_gate_init(struct gate *g, uint32_t references, uint32_t active)
{
	(void)active;
	a_init(&g->word, references * GATE_REFERENCE);
}

bool sn_gate_release(struct gate *g)
{
	MISUSE(!(a_load_rlx(&g->word) & REFERENCE_MASK),
	       "sennit_scheduler_release",
	       "the caller has no reference to release");
	return sn_gate_step_down(g, GATE_REFERENCE);
}

bool sn_gate_retain(struct gate *g)
{
	uint64_t old = a_load_rlx(&g->word);

	do {
		if (!old)
			return false;
		CHECK((old & REFERENCE_MASK) != REFERENCE_MASK,
		      "too many references to a scheduler");
		/* <- gate.zero: what earlier holders did */
	} while (!a_cas_weak_acq(&g->word, &old, old + GATE_REFERENCE));
	return true;
}

void sn_gate_drop_tasks(struct gate *g, uint32_t n)
{
	CHECK(!sn_gate_step_down(g, n * GATE_TASK),
	      "a task was queued without a reference to its scheduler");
}

bool sn_gate_enter(struct gate *g)
{
	return !sn_gate_is_done(g);
}

void sn_gate_abandon(struct gate *g)
{
	CHECK(sn_gate_step_down(g, GATE_REFERENCE),
	      "a scheduler was used before it began");
}

bool sn_gate_is_done(struct gate *g)
{
	return !a_load_acq(&g->word); /* <- gate.zero */
}

uint32_t sn_gate_references(struct gate *g)
{
	/* Relaxed: the result is stale anyway, and only a hint. */
	return (uint32_t)(a_load_rlx(&g->word) / GATE_REFERENCE);
}

#endif
