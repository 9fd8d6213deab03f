/* SPDX-License-Identifier: Apache-2.0 */
/* deque_steal.c - the owner publishes, pops and takes back, and a thief steals.
 * Each of three tasks must be taken once, with the data that its pusher wrote.
 *
 * Detected in every order: a take_back_tasks() that stores pub instead of
 * compare-and-set. Detected only by a checker: publish or steal without their
 * memory orders (deque.publish). */
#include "tasks.h"

static void before(void)
{
	begin(4);
}

static void *owner(void *unused)
{
	push(0);
	push(1);
	sn_deque_publish(&deque);
	pop();
	pop();
	push(2);
	return unused;
}

static void *thief(void *unused)
{
	steal();
	return unused;
}

static void after(void)
{
	end(3);
}

LITMUS_MAIN_2(before, owner, thief, after)
