/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - a worker goes idle while the last holder releases its reference, and
 * may come back for work that the holder left. The scheduler must end once. The
 * sweeper that ends it must see everything that both did, and no work may be
 * left.
 *
 * Detected in every order: a count and SUSPENDED that are set in two steps; a
 * sweep that settles although DIRTY was set. Detected only by a checker: a step
 * down that does not release or does not acquire (gate.out). */
#include "litmus.h"

#include "park/gate.c"

static struct gate gate;
static a_u32       work; /* work that the holder leaves for the worker */
static uint32_t    did;  /* plain; written by the worker */
static uint32_t    gave; /* plain; written by the holder */
static a_u32       ends;

/* The same as in life/end.c. */
static void sweep(void)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&gate, a_load_rlx(&work));
	while (verdict == GATE_AGAIN);
	if (verdict == GATE_ROLLED_BACK)
		return;
	assert(!a_load_rlx(&work));
	assert(did && gave == 1);
	a_add_rlx(&ends, 1);
}

static void before(void)
{
	sn_gate_init(&gate, 1, 1);
	a_init(&work, 0);
	a_init(&ends, 0);
	did = 0;
	gave = 0;
}

/* Leave, check whether it was woken, and if so return to work. */
static void *worker(void *unused)
{
	did = 1;
	if (sn_gate_leave(&gate))
		sweep();
	LITMUS_AWAIT(a_load_acq(&work));
	if (!sn_gate_enter(&gate))
		assert(false && "it ended with work left");
	a_store_rlx(&work, 0);
	did = 2;
	if (sn_gate_leave(&gate))
		sweep();
	return unused;
}

static void *holder(void *unused)
{
	gave = 1;
	a_store_rel(&work, 1);
	if (sn_gate_release(&gate))
		sweep();
	return unused;
}

static void after(void)
{
	assert(sn_gate_is_done(&gate));
	assert(a_load_rlx(&ends) == 1);
}

LITMUS_MAIN_2(before, worker, holder, after)
