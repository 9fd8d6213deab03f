/* SPDX-License-Identifier: Apache-2.0 */
/* deque_force.c - the owner pops a private task while a thief forces it. The
 * task must be taken once. Both sides use fences, as on kernels without
 * membarrier.
 *
 * Detected in every order: a forced take that does not read bottom again.
 * Detected in some runs by store buffers, on x86: either side without its
 * fence. Detected only by a checker: a push of bottom that is not released, or
 * not acquired (deque.push). */
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
