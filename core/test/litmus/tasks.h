/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h - numbered tasks for the tests of the deque, and a record of which
 * thread took each. */
#ifndef LITMUS_TASKS_H
#define LITMUS_TASKS_H

#include "litmus.h"

#include "queue/deque.c"

enum { TASKS_MAX = 4 };

static struct deque deque;
static uint32_t     payload[TASKS_MAX]; /* plain: published by the deque */
static a_u32        taken[TASKS_MAX];

static void begin(uint32_t capacity)
{
	for (uint32_t i = 0; i < TASKS_MAX; i++) {
		payload[i] = 0;
		a_init(&taken[i], 0);
	}
	assert(!sn_deque_init(&deque, NULL, capacity, false));
}

static void push(uint32_t i)
{
	payload[i] = i + 1;
	assert(!sn_deque_push(&deque, (struct task){ .meta = i + 1 }));
}

static void take(const struct task *t)
{
	uint32_t i = (uint32_t)t->meta - 1;

	assert(i < TASKS_MAX);
	assert(payload[i] == i + 1);
	assert(a_add_rlx(&taken[i], 1) == 0);
}

/* As the owner. */
static void pop(void)
{
	struct task t;

	if (sn_deque_pop(&deque, &t))
		take(&t);
}

/* As a thief. */
static void steal(void)
{
	struct task t[TASKS_MAX];
	uint32_t    count = sn_deque_steal(&deque, t, TASKS_MAX);

	for (uint32_t i = 0; i < count; i++)
		take(&t[i]);
}

/* After the round: the remaining tasks must be there, and none may have been
 * taken twice. */
static void end(uint32_t tasks)
{
	for (uint32_t i = 0; i < tasks; i++)
		pop();
	for (uint32_t i = 0; i < tasks; i++)
		assert(a_load_rlx(&taken[i]) == 1);
}

#endif
