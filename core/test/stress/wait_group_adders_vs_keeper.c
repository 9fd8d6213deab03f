/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_adders_vs_keeper.c - tasks add to a wait group, by calls and by
 * spawns of their own, while the fiber on whose stack it lies ties tasks to it
 * and looks whether it is over. No such program is misuse, whatever they find:
 * the count is never near its bound. */
#include "testing/with_workers.h"
#include "testing/random.h"

#include <errno.h>

enum { ADDERS = 3, TIED = 4 };

struct contest {
	sennit_wait_group *left;
	atomic_bool        stop;
	atomic_ulong       spawned, ran;
};

static void run_one(void *argument)
{
	struct contest *c = argument;

	atomic_fetch_add(&c->ran, 1);
}

static void spawn_one(struct contest *c, sennit_task_fn *run)
{
	atomic_fetch_add(&c->spawned, 1);
	EXPECT(!sennit_wait_group_spawn(c->left, run, c));
}

static void run_and_spawn(void *argument)
{
	struct contest *c = argument;

	spawn_one(c, run_one);
	atomic_fetch_add(&c->ran, 1);
}

/* Tied, so that the count is not zero meanwhile. Now and then the worker runs
 * what it can steal: its end makes the word fall below zero. */
static void add_and_spawn(void *argument)
{
	struct contest *c = argument;

	while (!atomic_load(&c->stop)) {
		for (unsigned i = 0; i < 20; i++) {
			sennit_wait_group_add(c->left, 1);
			EXPECT(!sennit_wait_group_done(c->left));
		}
		if (atomic_load(&c->spawned) % 8 == 0)
			spawn_one(c, run_and_spawn);
		sennit_yield();
	}
	atomic_fetch_add(&c->ran, 1);
}

/* Tie a few tasks, give others the time to end one, and move the rest to where
 * all count, as each look does. */
static void keep_a_few(struct contest *c, unsigned pauses)
{
	const unsigned long ran = atomic_load(&c->ran);

	for (unsigned i = 0; i < TIED; i++)
		spawn_one(c, i % 2 ? run_and_spawn : run_one);
	while (pauses-- && atomic_load(&c->ran) == ran)
		sched_yield();
	EXPECT(sennit_wait_group_wait_until(c->left, 0) == -ETIMEDOUT);
	sennit_yield();
}

static void keep(void *unused)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	struct contest    c = { .left = &left };
	const sennit_time end =
		sennit_after(scaled(TORTURED(1000, 300)) * SENNIT_MILLISECOND);

	for (unsigned i = 0; i < ADDERS; i++)
		spawn_one(&c, add_and_spawn);
	for (unsigned i = 0; sennit_now() < end; i++)
		keep_a_few(&c, i % 16);
	atomic_store(&c.stop, true);
	sennit_wait_group_wait(&left);
	EXPECT(atomic_load(&c.ran) == atomic_load(&c.spawned));
	memset(&left, 0xa5, sizeof(left));
}

TEST_WITH_WORKERS(adding_beside_the_keeper_is_no_misuse)
{
	in_a_task(keep, NULL);
}
