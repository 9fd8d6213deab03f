/* SPDX-License-Identifier: Apache-2.0 */
/* few_guards.c - a worker that is refused a stack gets an idle one of another
 * worker, although there is no max_fibers. */
#include "testing/with_workers.h"
#include "os/os.h"

#include "stack/stack.h"
#include "sched/state.h"

enum { STACKS = 40, DEPTH = STACKS - 4 };

/* A scheduler with one worker, to which the caller is bound. Beyond the first
 * stack of the worker, STACKS can have a guard. */
static sennit_scheduler *start_with_few(void)
{
	sennit_scheduler *s;

	sn_kept_slab_drop(); /* its stacks have guards */
	s = start_with(SENNIT_CONFIG(.workers = 1, .trim_ms = SENNIT_TRIM_NEVER,
				     .spare_stacks = 2 * STACKS));
	s->stacks.slabs.guards.kind = OS_GUARD_MAPPING;
	s->stacks.slabs.guards.limit = 0;
	s->stacks.slabs.guards.assured = STACKS;
	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

/* --- the worker's stacks ------------------------------------------------- */

static struct {
	sennit_event      gate;
	sennit_wait_group arriving, leaving;
} crowd;

static void wait_at_the_gate(void *unused)
{
	sennit_wait_group_done(&crowd.arriving);
	EXPECT(!sennit_event_wait(&crowd.gate));
	sennit_wait_group_done(&crowd.leaving);
}

/* Afterwards the worker sleeps, with DEPTH idle stacks. */
static void fill_worker(sennit_scheduler *s)
{
	uint64_t parks;

	sennit_event_init(&crowd.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&crowd.arriving, DEPTH);
	sennit_wait_group_init(&crowd.leaving, DEPTH);
	for (int i = 0; i < DEPTH; i++)
		must_schedule(wait_at_the_gate, NULL);
	while (sennit_wait_group_wait_until(&crowd.arriving, sennit_now()))
		sched_yield(); /* this thread takes no stack */
	parks = stats_of(s).parks;
	sennit_event_set(&crowd.gate);
	while (stats_of(s).parks == parks || stats_of(s).fibers > 1)
		sched_yield();
}

/* --- this thread's tasks ------------------------------------------------- */

static sennit_event ended[DEPTH + 1];

static void link_up(void *argument)
{
	sennit_event *mine = argument;

	if (mine + 1 < ended + DEPTH) {
		must_schedule_here(link_up, mine + 1);
		EXPECT(!sennit_event_wait(mine + 1));
	}
	sennit_event_set(mine);
}

TEST_ALONE(a_sleeping_worker_gives_its_idle_stacks)
{
	sennit_scheduler *s = start_with_few();

	fill_worker(s);
	assert_in_range(stats_of(s).stacks, DEPTH, STACKS + 1);
	for (int i = 0; i < DEPTH; i++)
		sennit_event_init(&ended[i], SENNIT_EVENT_MANUAL);
	must_schedule_here(link_up, ended);
	EXPECT(!sennit_event_wait(&ended[0]));
	assert_in_range(stats_of(s).stacks, DEPTH, STACKS + 1);
	assert_int_equal(stats_of(s).stacks_unguarded, 0);
	sennit_thread_unbind();
	end_scheduler(s);
}
