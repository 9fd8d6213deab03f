/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join_observed.c - a call of fork_join.h is a task for traces and metrics
 * if a worker's loop has started it, and part of its caller if not. */
#include "sennit/fork_join.h"
#include "sennit/metrics.h"

#include "find_metric.h"

#include <stdatomic.h>

enum { CALLS = 100 };

static atomic_uint      started;
static atomic_uint      taken;  /* those that a loop has started */
static atomic_uintptr_t caller; /* the fiber that spawns them */

/* What the task of a spawned call runs. */
#define TASK_OF(name) ((uintptr_t)name##_alone_)

static size_t recorded(sennit_scheduler *s, uint32_t kind, uintptr_t task)
{
	struct trace_file f = trace_of(s);
	size_t            count = trace_file_count(&f, kind, task);

	trace_file_free(&f);
	return count;
}

SENNIT_FORK(unsigned, child, unsigned, n)
{
	if ((uintptr_t)sennit_fiber_current() != atomic_load(&caller))
		atomic_fetch_add(&taken, 1);
	atomic_fetch_add(&started, 1);
	return n;
}

/* Waits with sync until a thief has started the child. */
SENNIT_FORK(unsigned, wait_for_thief, unsigned, n)
{
	unsigned before = atomic_load(&started);

	SENNIT_FORK_SPAWN(child, other, n);
	while (atomic_load(&started) == before)
		;
	return SENNIT_FORK_SYNC(child, other);
}

SENNIT_FORK(unsigned, take_back, unsigned, n)
{
	SENNIT_FORK_SPAWN(child, other, n);
	return SENNIT_FORK_SYNC(child, other);
}

static void run_until_stolen(void *unused)
{
	atomic_store(&caller, (uintptr_t)sennit_fiber_current());
	EXPECT(SENNIT_FORK_RUN(wait_for_thief, 1) == 1);
}

static void run_alone(void *unused)
{
	atomic_store(&caller, (uintptr_t)sennit_fiber_current());
	for (int i = 0; i < CALLS; i++)
		EXPECT(SENNIT_FORK_RUN(take_back, 1) == 1);
}

/* Run the task, with traces and metrics on. The calls that a loop starts are
 * tasks. Its own worker's loop does that where they have waited for long. */
static void run_observed(struct world *w, sennit_task_fn *run)
{
	unsigned calls;

	atomic_store(&started, 0);
	atomic_store(&taken, 0);
	sennit_metrics_record(w->s, 1);
	start(w->s);
	in_a_task(run, NULL);
	calls = atomic_load(&taken);
	assert_soon(value_of(w->s, "sennit_tasks") == calls + 1);
	assert_soon(tasks_timed(w->s) == calls + 1);
	assert_soon(recorded(w->s, SENNIT_TRACED_TASK_END,
			     (uintptr_t)run_errand) == 1);
	assert_int_equal(
		recorded(w->s, SENNIT_TRACED_TASK_BEGIN, TASK_OF(child)),
		calls);
	assert_int_equal(recorded(w->s, SENNIT_TRACED_TASK_END, TASK_OF(child)),
			 calls);
}

TEST_WITH_SEVERAL(a_stolen_call_is_a_task)
{
	run_observed(w, run_until_stolen);
	assert_int_equal(atomic_load(&started), 1);
	assert_int_equal(atomic_load(&taken), 1);
}

TEST_WITH_ONE(a_call_that_nobody_took_is_part_of_its_caller)
{
	run_observed(w, run_alone);
	assert_int_equal(atomic_load(&started), CALLS);
	assert_true(atomic_load(&taken) < CALLS);
}
