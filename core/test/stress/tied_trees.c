/* SPDX-License-Identifier: Apache-2.0 */
/* tied_trees.c - random trees of tasks tied to wait groups, mixed with tasks
 * that call done. Each wait group is overwritten and freed as soon as its wait
 * returns: by then all of its tasks have ended, on whatever stack and worker
 * they ran, and none of them accesses it any more. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum { DEPTH = 7, PATTERN = 0xa5 };

static atomic_ulong started, ended;
static atomic_uint  streams;

/* In memory of its own. */
struct brood {
	sennit_wait_group left;
	atomic_uint       alive;
	unsigned          depth;
};

static void live(struct brood *b);

static void live_tied(void *argument)
{
	struct brood *b = argument;

	live(b);
	atomic_fetch_sub(&b->alive, 1);
}

static void live_plainly(void *argument)
{
	struct brood *b = argument;

	live(b);
	atomic_fetch_sub(&b->alive, 1);
	sennit_wait_group_done(&b->left);
}

static void wait_too(void *argument)
{
	struct brood *b = argument;

	sennit_wait_group_wait(&b->left);
	EXPECT(atomic_load(&b->alive) == 0);
}

static void bear(struct brood *b, bool tied)
{
	atomic_fetch_add(&b->alive, 1);
	atomic_fetch_add(&started, 1);
	if (tied) {
		EXPECT(!sennit_wait_group_spawn(&b->left, live_tied, b));
	} else {
		sennit_wait_group_add(&b->left, 1);
		EXPECT(!sennit_schedule(live_plainly, b));
	}
}

/* A second waiter, of which the first one knows; with `alone` the first one
 * waits for nothing else. */
static void wait_beside(struct brood *b, bool alone)
{
	sennit_wait_group second = SENNIT_WAIT_GROUP_INIT;
	struct errand     e = { .run = wait_too, .argument = b };

	sennit_wait_group_init(&e.done, 1);
	EXPECT(!sennit_wait_group_spawn(&second, run_errand, &e));
	if (!alone)
		sennit_wait_group_wait(&b->left);
	sennit_wait_group_wait(&e.done);
	sennit_wait_group_wait(&second);
}

/* On the spawner's stack, or not. */
static void raise_brood(unsigned depth, uint64_t *random)
{
	const bool     here = random_below(random, 2);
	struct brood   own;
	struct brood  *b = here ? &own : malloc(sizeof(*b));
	const unsigned size = random_below(random, 4);

	memset(b, 0, sizeof(*b));
	b->depth = depth;
	for (unsigned i = 0; i < size; i++)
		bear(b, random_below(random, 4));
	if (random_below(random, 8) == 0)
		wait_beside(b, random_below(random, 2));
	else
		sennit_wait_group_wait(&b->left);
	EXPECT(atomic_load(&b->alive) == 0);
	memset(b, PATTERN, sizeof(*b));
	if (!here)
		free(b);
}

static void live(struct brood *b)
{
	uint64_t random = random_stream(atomic_fetch_add(&streams, 1));

	if (b->depth < DEPTH)
		raise_brood(b->depth + 1, &random);
	switch (random_below(&random, 16)) {
	case 0:
		sennit_yield();
		break;
	case 1:
		sennit_sleep(random_below(&random, 50) * SENNIT_MICROSECOND);
		break;
	default:
		break;
	}
	atomic_fetch_add(&ended, 1);
}

static void grow(void *argument)
{
	uint64_t *random = argument;

	raise_brood(0, random);
}

TEST_WITH_WORKERS(a_wait_ends_after_all_its_tasks)
{
	uint64_t random = random_stream(atomic_fetch_add(&streams, 1));
	uint64_t trees = scaled(LOAD(TORTURED(50, 500)));

	while (trees--) {
		grow(&random);
		in_a_task(grow, &random);
		assert_int_equal(atomic_load(&started), atomic_load(&ended));
	}
}
