/* SPDX-License-Identifier: Apache-2.0 */
/* deque_grow.c - the slots grow while a thief reads them: what it takes are
 * tasks, each once.
 *
 * Shown in every order: new slots published before they are filled; only
 * private tasks copied; the room counted from bottom. To a checker alone: new
 * slots that are not released, or not acquired (deque.slots), and slots filled
 * again without having seen that they were left (deque.steal). */
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
