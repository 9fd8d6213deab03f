/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use.c - with measure_stacks, the stack use of each function's tasks is
 * known; without it, nothing is recorded.
 */
#include "testing/words.h"
#include "testing/with_workers.h"
#include "sennit/dag.h"
#include "sennit/stack_use.h"

#include <errno.h>

enum { TASKS = 20, STACK = 256 * 1024 };

/* Bytes that the library may add to a task's own use. */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define LIBRARY 8192
#else
#define LIBRARY 3072
#endif

static sennit_scheduler *measuring(const struct world *w)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = w->workers,
						       .stack_size = STACK,
						       .measure_stacks = 1));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void end(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

struct search {
	sennit_task_fn  *task;
	sennit_stack_use found;
	unsigned         visits;
};

static void compare(void *search, const sennit_stack_use *use)
{
	struct search *s = search;

	s->visits++;
	if (use->task == s->task)
		s->found = *use;
}

/* All zeros if no task of the function was measured. */
static sennit_stack_use use_of(sennit_scheduler *s, sennit_task_fn *task)
{
	struct search search = { .task = task };

	sennit_stack_use_visit(s, compare, &search);
	return search.found;
}

static void assert_used(sennit_scheduler *s, sennit_task_fn *task,
			uint64_t tasks, size_t bytes)
{
	const sennit_stack_use use = use_of(s, task);

	if (use.tasks != tasks || use.deepest < bytes ||
	    use.deepest >= bytes + LIBRARY)
		fail_msg("%zu bytes of %u tasks, not %zu of %u", use.deepest,
			 (unsigned)use.tasks, bytes, (unsigned)tasks);
}

/* Writes only the lowest byte, with the value of fresh memory. */
NO_SANITIZE static NOINLINE void use_bytes(size_t bytes)
{
	volatile char *low = __builtin_alloca(bytes);

	*low = 0;
}

/* --- tasks of a known depth ---------------------------------------------- */

static void use_5000(void *done)
{
	use_bytes(5000);
	sennit_wait_group_done(done);
}

static void use_100000(void *done)
{
	use_bytes(100000);
	sennit_wait_group_done(done);
}

static void use_little(void *done)
{
	sennit_wait_group_done(done);
}

static void use_then_wait(void *done)
{
	use_bytes(30000);
	sennit_yield();
	use_bytes(10000);
	sennit_wait_group_done(done);
}

static void run_some(sennit_task_fn *task, unsigned count)
{
	sennit_wait_group done;

	sennit_wait_group_init(&done, count);
	for (unsigned i = 0; i < count; i++)
		must_schedule(task, &done);
	sennit_wait_group_wait(&done);
}

/* A task is counted after it has ended, which is after it reported so. */
static void assert_counted(sennit_scheduler *s, sennit_task_fn *task,
			   uint64_t tasks)
{
	assert_soon(use_of(s, task).tasks == tasks);
}

TEST_WITH_COUNTS(known_depths_are_found)
{
	sennit_scheduler *s = measuring(w);

	run_some(use_5000, TASKS);
	run_some(use_100000, TASKS);
	assert_counted(s, use_5000, TASKS);
	assert_counted(s, use_100000, TASKS);
	assert_used(s, use_5000, TASKS, 5000);
	assert_used(s, use_100000, TASKS, 100000);
	end(s);
}

TEST_WITH_COUNTS(what_went_before_on_a_stack_does_not_count)
{
	sennit_scheduler *s = measuring(w);

	run_some(use_100000, TASKS);
	assert_counted(s, use_100000, TASKS);
	run_some(use_5000, TASKS);
	run_some(use_little, TASKS);
	assert_counted(s, use_5000, TASKS);
	assert_counted(s, use_little, TASKS);
	assert_used(s, use_5000, TASKS, 5000);
	assert_used(s, use_little, TASKS, 0);
	end(s);
}

TEST_WITH_COUNTS(the_deepest_counts_wherever_a_task_waits)
{
	sennit_scheduler *s = measuring(w);

	run_some(use_then_wait, TASKS);
	assert_counted(s, use_then_wait, TASKS);
	assert_used(s, use_then_wait, TASKS, 30000);
	end(s);
}

/* --- tasks that may run on another's stack ------------------------------- */

static int be_a_member(void *unused)
{
	use_bytes(20000);
	return 0;
}

static void open_a_group(void *done)
{
	sennit_group g;

	use_bytes(3000);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < TASKS; i++)
		EXPECT(!sennit_group_spawn(&g, be_a_member, NULL));
	EXPECT(!sennit_group_wait(&g));
	sennit_wait_group_done(done);
}

static sennit_task_fn *cast(int (*member)(void *))
{
	return (sennit_task_fn *)(void (*)(void))member;
}

TEST_WITH_COUNTS(members_are_measured_apart_from_their_opener)
{
	sennit_scheduler *s = measuring(w);

	run_some(open_a_group, 1);
	assert_counted(s, open_a_group, 1);
	assert_used(s, cast(be_a_member), TASKS, 20000);
	assert_used(s, open_a_group, 1, 3000);
	end(s);
}

static int be_a_node(void *unused, void *argument)
{
	use_bytes(20000);
	return 0;
}

static void run_a_dag(void *dag)
{
	use_bytes(3000);
	EXPECT(!sennit_dag_run(dag, NULL, NULL, SENNIT_NEVER));
}

TEST_WITH_COUNTS(nodes_of_a_dag_count_once)
{
	sennit_scheduler  *s = measuring(w);
	sennit_dag_builder b;
	sennit_dag        *dag = NULL;
	uint32_t           node;

	EXPECT(!sennit_dag_builder_init(&b, NULL));
	for (unsigned i = 0; i < TASKS; i++) {
		assert_int_equal(sennit_dag_builder_add(&b, be_a_node, NULL,
							NULL, &node),
				 0);
		assert_int_equal(
			i ? sennit_dag_builder_order(&b, node - 1, node) : 0,
			0);
	}
	assert_int_equal(sennit_dag_build(&dag, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	in_a_task(run_a_dag, dag);
	assert_int_equal(
		use_of(s, (sennit_task_fn *)(void (*)(void))be_a_node).tasks,
		TASKS);
	sennit_dag_destroy(dag);
	end(s);
}

/* --- the suggested stack sizes ------------------------------------------- */

TEST_WITH_COUNTS(the_least_stack_is_enough)
{
	sennit_scheduler *s = measuring(w);
	size_t            least;

	run_some(use_100000, TASKS);
	assert_counted(s, use_100000, TASKS);
	least = use_of(s, use_100000).least;
	end(s);
	assert_in_range(least, 200000, 200000 + 3 * LIBRARY + 3 * 4096);
	s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .stack_size = least));
	assert_int_equal(sennit_thread_bind(s), 0);
	run_some(use_100000, TASKS);
	end(s);
}

TEST_WITH_COUNTS(it_is_printed_by_name)
{
	sennit_scheduler *s = measuring(w);
	char              text[4096];

	assert_int_equal(sennit_function_set_name(use_5000, "fiver"), 0);
	run_some(use_5000, TASKS);
	assert_counted(s, use_5000, TASKS);
	printed(sennit_stack_use_print, s, text, sizeof(text));
	assert_int_equal(sennit_stack_use_print(s, -1), -EBADF);
	if (!strstr(text, " bytes at most in 20 tasks of fiver: "))
		fail_msg("%s", text);
	assert_int_equal(sennit_function_set_name(use_5000, NULL), 0);
	end(s);
}

TEST_WITH_WORKERS(nothing_is_measured_unless_asked)
{
	struct search search = { .visits = 0 };

	run_some(use_5000, TASKS);
	sennit_stack_use_visit(w->s, compare, &search);
	assert_int_equal(search.visits, 0);
}
