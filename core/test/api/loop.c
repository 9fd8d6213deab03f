/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - what a worker runs next: ready fibers first, few stacks, and no CPU
 * time when there is nothing to do. */
#include "testing/with_workers.h"

#include <time.h>

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

/* --- ready fibers first ------------------------------------------------- */

struct order {
	sennit_event      go;
	sennit_wait_group done;
	char              text[8];
	atomic_uint       length;
};

static void put(struct order *o, char c)
{
	o->text[o->length++] = c;
}

static void wait_between(void *argument)
{
	struct order *o = argument;

	put(o, '1');
	EXPECT(!sennit_event_wait(&o->go));
	put(o, 'R');
	sennit_wait_group_done(&o->done);
}

static void set_it(void *argument)
{
	struct order *o = argument;

	put(o, '2');
	sennit_event_set(&o->go);
	put(o, 's');
	sennit_wait_group_done(&o->done);
}

static void be_third(void *argument)
{
	struct order *o = argument;

	put(o, '3');
	sennit_wait_group_done(&o->done);
}

TEST_WITHOUT(a_ready_fiber_runs_before_a_new_task)
{
	struct order o = { .go = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };

	sennit_wait_group_init(&o.done, 3);
	must_schedule(wait_between, &o);
	must_schedule(set_it, &o);
	must_schedule(be_third, &o);
	sennit_wait_group_wait(&o.done);
	assert_memory_equal(o.text, "12sR3", 5);
}

/* --- stacks ------------------------------------------------------------- */

TEST_WITH_WORKERS(a_task_that_never_blocks_needs_no_stack)
{
	atomic_uint ran = 0;

	for (unsigned i = 0; i < 10000; i++)
		must_schedule(count_one, &ran);
	/* Without workers this makes 610,000 yields; none of them may go to
	 * other processes. */
	while (atomic_load(&ran) < 10000)
		sennit_yield();
	assert_true(stats_of(w->s).stacks <= 2 * (w->threads + 1));
}

struct gate {
	sennit_event      open;
	sennit_wait_group inside;
	sennit_wait_group done;
};

static void pass_gate(void *argument)
{
	struct gate *g = argument;

	sennit_wait_group_done(&g->inside);
	EXPECT(!sennit_event_wait(&g->open));
	sennit_wait_group_done(&g->done);
}

static void block_many(unsigned count)
{
	struct gate g;

	sennit_event_init(&g.open, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&g.inside, count);
	sennit_wait_group_init(&g.done, count);
	for (unsigned i = 0; i < count; i++)
		must_schedule(pass_gate, &g);
	sennit_wait_group_wait(&g.inside);
	sennit_event_set(&g.open);
	sennit_wait_group_wait(&g.done);
}

TEST_WITH_WORKERS(stacks_are_used_again)
{
	for (unsigned i = 0; i < 100; i++)
		block_many(10);
	/* In the worst case each worker had all ten blocked once. */
	assert_true(stats_of(w->s).stacks <= 12 * (w->threads + 1));
}

/* As many as have guards on any kernel. */
TEST_WITH_WORKERS(eight_thousand_tasks_may_be_blocked)
{
	block_many(LOAD(8000));
	assert_soon(stats_of(w->s).fibers == 0);
}

struct branch {
	unsigned    depth;
	atomic_uint leaves;
};

struct twig {
	struct branch    *tree;
	unsigned          depth;
	sennit_wait_group done;
};

static void grow_and_wait(struct twig *me);

static void grow_twig(void *argument)
{
	struct twig *parent = argument;
	struct twig  me = { .tree = parent->tree, .depth = parent->depth + 1 };

	if (me.depth == me.tree->depth)
		atomic_fetch_add(&me.tree->leaves, 1);
	else
		grow_and_wait(&me);
	sennit_wait_group_done(&parent->done);
}

static void grow_and_wait(struct twig *me)
{
	sennit_wait_group_init(&me->done, 3);
	for (unsigned i = 0; i < 3; i++)
		must_schedule(grow_twig, me);
	sennit_wait_group_wait(&me->done);
}

TEST_WITH_WORKERS(tasks_may_wait_for_tasks_to_any_depth)
{
	struct branch tree = { .depth = LOAD(1000) == 1000 ? 8 : 5 };
	struct twig   root = { .tree = &tree };
	unsigned      expected = 1, i;

	for (i = 0; i < tree.depth; i++)
		expected *= 3;
	grow_and_wait(&root);
	assert_int_equal(atomic_load(&tree.leaves), expected);
}

/* --- idle --------------------------------------------------------------- */

static uint64_t cpu_used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

/* All workers have parked after their last work, so none has a reason to run.
 * The bound is half of one CPU; a worker that spins uses a whole one. */
TEST_WITH_THREADS(an_idle_scheduler_uses_no_cpu)
{
	const struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };
	uint64_t              used;

	assert_soon(stats_of(w->s).parks >= w->threads);
	used = cpu_used();
	nanosleep(&nap, NULL);
	assert_true(cpu_used() - used < 50 * SENNIT_MILLISECOND);
}
