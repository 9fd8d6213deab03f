/* SPDX-License-Identifier: Apache-2.0 */
/* deque_grow.c - the slots grow while a thief reads them. The thief must take
 * valid tasks, each once.
 *
 * Detected in every order: new slots that are published before they are filled;
 * only private tasks copied; room computed from bottom. Detected only by a
 * checker: new slots that are not released, or not acquired (deque.slots);
 * slots that are refilled before the owner has seen that they were left
 * (deque.steal). */
#include "tasks.h"

static void before(void)
{
	begin(1);
}

static void *owner(void *unused)
{
	push(0);
	sn_deque_publish(&deque);
	push(1);
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

LITMUS_MAIN_3(before, owner, thief, thief, after)
