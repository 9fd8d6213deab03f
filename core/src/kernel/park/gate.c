/* SPDX-License-Identifier: Apache-2.0 */
#include "park/gate.h"

#include "base/compiler.h"
#include "base/torture.h"
#include "os/os.h"

#ifndef SENNIT_END_COUNT

/* How long to spin for the end of a sweep before sleeping: about 2 us. */
#define SWEEP_PAUSES TORTURED(0, 64)

#define GATE_SUSPENDED UINT64_C(1)
#define GATE_DONE      UINT64_C(2)
#define GATE_DIRTY     UINT64_C(4)
#define ACTIVE         UINT64_C(8)
#define REFERENCE      (UINT64_C(1) << 32)

#define ACTIVE_MASK    (REFERENCE - ACTIVE)
#define REFERENCE_MASK (~(REFERENCE - 1))
#define COUNTS         (ACTIVE_MASK | REFERENCE_MASK)

void sn_gate_init(struct gate *g, uint32_t references, uint32_t active)
{
	a_init(&g->word, references * REFERENCE + active * ACTIVE);
	a_init(&g->epoch, 0);
}

/* Subtract `unit`. If both counts become zero, the caller becomes the sweeper
 * in the same step. */
static bool step_down(struct gate *g, uint64_t unit)
{
	uint64_t old = a_load_rlx(&g->word);
	uint64_t new;

	TORTURE_POINT();
	do {
		new = old - unit;
		if (!(new &(COUNTS | GATE_DONE)))
			new |= new &GATE_SUSPENDED ? GATE_DIRTY
						   : GATE_SUSPENDED;
		/* -> gate.out: all this caller did <- gate.out: all that the
		 * others did */
	} while (!a_cas_weak_acqrel(&g->word, &old, new));
	return new &GATE_SUSPENDED && !(old & GATE_SUSPENDED);
}

bool sn_gate_leave(struct gate *g)
{
	ASSERT(a_load_rlx(&g->word) & ACTIVE_MASK);
	return step_down(g, ACTIVE);
}

bool sn_gate_release(struct gate *g)
{
	MISUSE(!(a_load_rlx(&g->word) & REFERENCE_MASK),
	       "sennit_scheduler_release",
	       "the caller has no reference to release");
	return step_down(g, REFERENCE);
}

/* Spin first, because a sweep is short compared with a sleep. */
static void await_epoch(struct gate *g, uint32_t epoch)
{
	for (int i = 0; i < SWEEP_PAUSES; i++) {
		/* A late view is harmless: after it the caller reads the word
		 * with acquire. */
		if (a_load_rlx(&g->epoch) != epoch)
			return;
		a_pause();
	}
	os_word_wait(&g->epoch, epoch, SENNIT_NEVER);
}

bool sn_gate_enter(struct gate *g)
{
	for (;;) {
		uint32_t epoch = a_load_acq(&g->epoch); /* <- gate.epoch */
		uint64_t old = a_load_acq(&g->word);    /* <- gate.out */
		uint64_t new = old &GATE_SUSPENDED ? old | GATE_DIRTY
						   : old + ACTIVE;

		if (old & GATE_DONE)
			return false;
		TORTURE_POINT();
		/* -> gate.in: what woke this worker <- gate.out */
		if (!a_cas_weak_acqrel(&g->word, &old, new))
			continue;
		if (!(new &GATE_SUSPENDED))
			return true;
		TORTURE_POINT(); /* has set GATE_DIRTY, not asleep yet */
		await_epoch(g, epoch);
	}
}

bool sn_gate_retain(struct gate *g)
{
	uint64_t old = a_load_rlx(&g->word);

	do {
		if (old & GATE_DONE)
			return false;
		CHECK((old & REFERENCE_MASK) != REFERENCE_MASK,
		      "too many references to a scheduler");
		/* -> gate.in: what the holder did before <- gate.out */
	} while (!a_cas_weak_acqrel(&g->word, &old, old + REFERENCE));
	return true;
}

/* Wake the workers that sleep at the gate. */
static void end_suspension(struct gate *g)
{
	TORTURE_POINT(); /* open or done, sleepers not woken yet */
	/* -> gate.epoch: the word is not suspended, or done */
	a_add_acqrel(&g->epoch, 1); /* <- gate.epoch */
	os_word_wake_all(&g->epoch);
}

enum gate_verdict sn_gate_settle(struct gate *g, bool found_work)
{
	uint64_t old = a_load_acq(&g->word); /* <- gate.in */
	uint64_t new;

	TORTURE_POINT(); /* looked, but verdict not stored yet */
	do {
		ASSERT(old & GATE_SUSPENDED);
		if (old & GATE_DIRTY)
			new = old & ~GATE_DIRTY;
		else if (found_work || old & COUNTS)
			new = old & ~GATE_SUSPENDED;
		else
			new = (old | GATE_DONE) & ~GATE_SUSPENDED;
		/* -> gate.out: the sweep <- gate.in: the threads that set
		 * GATE_DIRTY meanwhile */
	} while (!a_cas_weak_acqrel(&g->word, &old, new));
	if (old & GATE_DIRTY)
		return GATE_AGAIN;
	end_suspension(g);
	return new &GATE_DONE ? GATE_COMPLETED : GATE_ROLLED_BACK;
}

void sn_gate_abandon(struct gate *g)
{
	/* -> gate.out: the scheduler never began <- gate.in */
	a_or_acqrel(&g->word, GATE_DONE);
	end_suspension(g);
}

bool sn_gate_is_done(struct gate *g)
{
	return a_load_acq(&g->word) & GATE_DONE; /* <- gate.out */
}

uint32_t sn_gate_active(struct gate *g)
{
	/* Relaxed: the result is stale anyway, and only for messages. */
	return (uint32_t)((a_load_rlx(&g->word) & ACTIVE_MASK) / ACTIVE);
}

uint32_t sn_gate_references(struct gate *g)
{
	/* Relaxed: the result is stale anyway, and only for messages. */
	return (uint32_t)(a_load_rlx(&g->word) / REFERENCE);
}

#endif
