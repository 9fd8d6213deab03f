/* SPDX-License-Identifier: Apache-2.0 */
/* deque_force.c - the owner pops a task that it has not published, a thief
 * takes it by force: it is taken once. Both sides have their fence, as on
 * kernels without membarrier.
 *
 * Shown in every order: a forced take that does not look at bottom again. By
 * store buffers, on x86, in some runs: either side without its fence. To a
 * checker alone: a pushed bottom that is not released, or not acquired
 * (deque.push). */
#include "tasks.h"

static void before(void)
{
	begin(2);
}

static void *owner(void *unused)
{
	push(0);
	pop();
	return unused;
}

static void *thief(void *unused)
{
	if (sn_deque_force(&deque))
		steal();
	return unused;
}

static void after(void)
{
	end(1);
}

LITMUS_MAIN_2(before, owner, thief, after)
