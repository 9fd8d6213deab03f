/* SPDX-License-Identifier: Apache-2.0 */
/* tied.c - tasks tied to a wait group in many orders: others add to it, by
 * calls and by spawns of their own, while the fiber on whose stack it lies
 * moves what it has counted apart. */
#include "explore.h"

struct tree {
	sennit_wait_group *left;
	unsigned           spawned, ran;
};

static void add_one(unsigned *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void run_one(void *argument)
{
	add_one(&((struct tree *)argument)->ran);
}

static void tie(struct tree *t, sennit_task_fn *run)
{
	add_one(&t->spawned);
	REQUIRE(!sennit_wait_group_spawn(t->left, run, t));
}

static void run_and_spawn(void *argument)
{
	struct tree *t = argument;

	tie(t, run_one);
	add_one(&t->ran);
}

/* Tied, so that the count is not zero meanwhile. */
static void run_and_add(void *argument)
{
	struct tree *t = argument;

	for (unsigned i = 0; i < 3; i++) {
		sennit_wait_group_add(t->left, 1);
		REQUIRE(!sennit_wait_group_done(t->left));
	}
	add_one(&t->ran);
}

static void wait_beside(void *argument)
{
	struct tree *t = argument;

	sennit_wait_group_wait(t->left);
}

struct errand {
	sennit_task_fn *run;
	sennit_event    over;
};

static void run_errand(void *argument)
{
	struct errand *e = argument;

	e->run(NULL);
	sennit_event_set(&e->over);
}

/* In a task, whose stack's bounds are known. */
static void in_a_task(void *argument)
{
	struct errand     e = { .run = *(sennit_task_fn **)argument };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 3));

	sennit_event_init(&e.over, SENNIT_EVENT_MANUAL);
	spawn(run_errand, &e);
	REQUIRE(!sennit_event_wait(&e.over));
	end(s);
}

static void grow(void *unused)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	struct tree       t = { .left = &left };

	tie(&t, run_and_add);
	for (unsigned i = 0; i < 3; i++)
		tie(&t, i % 2 ? run_one : run_and_spawn);
	(void)!sennit_wait_group_wait_until(&left, 0);
	tie(&t, run_and_add);
	sennit_wait_group_wait(&left);
	REQUIRE(t.ran == t.spawned && t.ran >= 7);
	memset(&left, 0xa5, sizeof(left));
}

TEST(whoever_adds_finds_the_whole_count)
{
	sennit_task_fn *run = grow;

	explore(in_a_task, &run);
}

/* The second waiter is tied to another wait group, which ends later. */
static void grow_beside(void *unused)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	sennit_wait_group waiters = SENNIT_WAIT_GROUP_INIT;
	struct tree       t = { .left = &left };

	tie(&t, run_and_add);
	tie(&t, run_and_spawn);
	REQUIRE(!sennit_wait_group_spawn(&waiters, wait_beside, &t));
	tie(&t, run_and_add);
	sennit_wait_group_wait(&left);
	REQUIRE(t.ran == t.spawned && t.ran == 4);
	sennit_wait_group_wait(&waiters);
}

TEST(adders_and_a_second_waiter)
{
	sennit_task_fn *run = grow_beside;

	explore(in_a_task, &run);
}
