/* SPDX-License-Identifier: Apache-2.0 */
/* tied.h - spawns tasks tied to a wait group, which must succeed. */
#ifndef SN_TEST_TIED_H
#define SN_TEST_TIED_H

#include "with_workers.h"

static inline void tie(sennit_wait_group *g, sennit_task_fn *run,
		       void *argument)
{
	EXPECT(sennit_wait_group_spawn(g, run, argument) == 0);
}

static inline void count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
}

/* Run run(argument) on the bound thread's own stack, and as a task. */
static inline void in_both_places(sennit_task_fn *run, void *argument)
{
	run(argument);
	in_a_task(run, argument);
}
#define TEST_IN_BOTH_PLACES(f) TEST_IN_PLACES(f, in_both_places)

#endif
