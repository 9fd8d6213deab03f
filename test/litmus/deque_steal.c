/* SPDX-License-Identifier: Apache-2.0 */
/* deque_steal.c - the owner publishes, pops and takes back, a thief steals:
 * each of three tasks is taken once, with what its pusher wrote.
 *
 * Shown in every order: take_back() that stores pub where it must compare and
 * set. To a checker alone: publish or steal without their orders
 * (deque.publish). */
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
