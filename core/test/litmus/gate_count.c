/* SPDX-License-Identifier: Apache-2.0 */
/* gate_count.c - a worker ends the last task while the last holder releases its
 * reference, after it has queued that task. The scheduler must end once, and
 * the thread that ends it must see everything that both did. Only in builds
 * with SENNIT_END=count.
 *
 * Detected in every order: a step down in two steps. Detected only by a
 * checker: a step down that does not release or does not acquire
 * (gate.zero). */
#include "litmus.h"

#include "park/gate_count.c"

static struct gate gate;
static a_u32       queued; /* the task */
static uint32_t    did;    /* plain; written by the worker */
static uint32_t    gave;   /* plain; written by the holder */
static a_u32       ends;

static void end(void)
{
	assert(sn_gate_is_done(&gate));
	assert(did == 1 && gave == 1);
	a_add_rlx(&ends, 1);
}

static void before(void)
{
	sn_gate_init(&gate, 1, 0);
	a_init(&queued, 0);
	a_init(&ends, 0);
	did = 0;
	gave = 0;
}

static void *worker(void *unused)
{
	LITMUS_AWAIT(a_load_acq(&queued));
	did = 1;
	if (sn_gate_end_task(&gate))
		end();
	return unused;
}

static void *holder(void *unused)
{
	sn_gate_add_tasks(&gate, 1);
	a_store_rel(&queued, 1);
	gave = 1;
	if (sn_gate_release(&gate))
		end();
	return unused;
}

static void after(void)
{
	assert(sn_gate_is_done(&gate));
	assert(!sn_gate_retain(&gate));
	assert(a_load_rlx(&ends) == 1);
}

LITMUS_MAIN_2(before, worker, holder, after)
